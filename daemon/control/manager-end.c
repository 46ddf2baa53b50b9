/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The end: everything that was set is given back. */

#include <errno.h>
#include <math.h>

#include "base/log.h"
#include "control/manager-internal.h"

/* A shelf of disks spins up in turn; the unit allows a little more. */
#define STOP_TIMEOUT_US (240 * USEC_PER_SEC)
#define TRIES_AT_STOP   2

static bool is_settled(const ManagedDevice *md)
{
	for (size_t k = 0; k < knob_count(); k++)
		if (md->knobs[k].pending && md->knobs[k].failures < TRIES_AT_STOP)
			return false;
	return !md->busy;
}

static bool all_settled(const Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (!is_settled(m->devices[i]))
			return false;
	return m->n_leaving == 0;
}

static void begin_release(Manager *m, ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		md->knobs[i].failures = md->knobs[i].retry_at_us = 0;
	managed_give_back(m, md);
}

void manager_give_all_back(Manager *m)
{
	uint64_t end = manager_now_us(m) + STOP_TIMEOUT_US;

	m->stopping = true;
	m->budget_w = INFINITY;
	snprintf(m->why, sizeof(m->why), "the daemon ends");
	for (size_t i = 0; i < m->n_devices; i++)
		begin_release(m, m->devices[i]);
	manager_pump(m);
	while (!all_settled(m) && manager_now_us(m) < end) {
		m->loop->drain(m->loop, 100 * USEC_PER_MSEC, true);
		if (!all_settled(m))
			clock_sleep_us(&m->loop->clock, 20 * USEC_PER_MSEC);
		(void)manager_clear_due(m, manager_now_us(m)); /* what failed is tried again */
		manager_pump(m);
	}
	/* the devices are the workers' until they have let go; a service manager's patience ends
	 * this if a device's driver does not */
	while (m->loop->drain(m->loop, USEC_PER_SEC, true) == -ETIMEDOUT)
		log_warning("Waiting for devices that do not answer");
}

int manager_restore(const ManagerConfig *config, Loop *loop, Inventory *inventory)
{
	_cleanup_(manager_freep) Manager *m = NULL;
	ManagerConfig c = *config;
	size_t n, left, absent;
	int r;

	c.policy = c.claims_path = NULL;
	c.bpf = false;
	c.wear_path = NULL;
	r = manager_new(&c, loop, inventory, &m);
	if (!m)
		return r;
	n = journal_size(m->journal);
	if (n == 0)
		return 0;
	r = inventory_start(inventory, manager_on_device, m);
	if (r < 0)
		return r;
	manager_give_all_back(m);
	left = journal_size(m->journal);
	absent = left;
	for (size_t i = 0; i < m->n_devices; i++)
		absent -= journal_size_of(m->journal, m->devices[i]->device->id);
	log_notice("%zu settings were put back, %zu are left in the journal, %zu of them of "
		   "devices that are not there",
		   n - left, left, absent);
	return left > absent ? -EIO : 0;
}
