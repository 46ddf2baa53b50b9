/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The disks' wear accounts: charged before a disk is stopped, and on disk by then. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

int manager_open_wear(Manager *m)
{
	const char *path = m->config.wear_path;
	int r;

	m->realtime_offset_us = realtime_us() - manager_now_us(m);
	r = wear_book_load(path, &m->wear);
	if (r == -EBADMSG) {
		r = manager_set_aside(path, "every disk begins with a day's cycles");
		if (r >= 0)
			r = wear_book_load(path, &m->wear);
	}
	return r < 0 ? log_error_errno(r, "Wear accounts in %s cannot be read", path ?: "memory")
		     : 0;
}

int manager_save_wear(Manager *m)
{
	int r = m->config.wear_path ? wear_book_save(m->wear, m->config.wear_path) : 0;

	if (r < 0 && !m->wear_unsaved) /* it is tried again and again */
		log_error_errno(r,
				"Wear accounts cannot be saved in %s, so no disk is stopped: make "
				"room on the disk of the state directory",
				m->config.wear_path);
	m->wear_unsaved = r < 0;
	return MIN(r, 0);
}

WearTerms managed_wear_terms(const Manager *m, const ManagedDevice *md)
{
	return wear_terms(md->device->profile->rated_cycles_start, m->config.service_years,
			  m->config.cycles_a_day);
}

static uint64_t wall_clock_us(const Manager *m)
{
	return manager_now_us(m) + m->realtime_offset_us;
}

void managed_open_wear(Manager *m, ManagedDevice *md)
{
	WearTerms terms = managed_wear_terms(m, md);

	if (md->device->kind != KIND_HDD)
		return;
	md->wear = wear_book_get(m->wear, md->device->id, &terms, wall_clock_us(m));
	if (!md->wear)
		log_oom();
}

void managed_refill_wear(const Manager *m, ManagedDevice *md)
{
	WearTerms terms = managed_wear_terms(m, md);

	if (md->wear)
		wear_refill(md->wear, &terms, wall_clock_us(m));
}

void managed_charge(ManagedDevice *md, Condition c)
{
	if (md->wear)
		wear_charge(md->wear, c);
}

void managed_refund(ManagedDevice *md, Condition c)
{
	if (md->wear)
		wear_refund(md->wear, c);
}
