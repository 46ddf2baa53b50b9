/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/wear-account.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/set-aside.h"

int wear_accounts_open(Tools *t)
{
	const char *path = t->config->sleep.wear_path;
	int r = wear_book_load(path, &t->wear);

	if (r == -EPROTONOSUPPORT) {
		r = set_aside(path, "every disk begins with a day's cycles");
		if (r >= 0)
			r = wear_book_load(path, &t->wear);
	}
	return r < 0 ? log_error_errno(r, "Wear accounts in %s cannot be read", path ?: "memory")
		     : 0;
}

int wear_accounts_save(Tools *t)
{
	const char *path = t->config->sleep.wear_path;
	int r = path ? wear_book_save(t->wear, path) : 0;

	if (r < 0 && !t->wear_unsaved) /* it is tried again and again */
		log_error_errno(r,
				"Wear accounts cannot be saved in %s, so no disk is stopped: make "
				"room on the disk of the state directory",
				path);
	t->wear_unsaved = r < 0;
	return MIN(r, 0);
}

WearTerms wear_account_terms(const Managed *md, const ControlConfig *c)
{
	return wear_terms(md->device->profile->rated_cycles_start, c->sleep.service_years,
			  c->sleep.cycles_a_day);
}

static uint64_t wall_clock_us(const Tools *t)
{
	return t->now_us + t->realtime_offset_us;
}

void wear_account_open(Managed *md, const Tools *t)
{
	WearTerms terms = wear_account_terms(md, t->config);

	if (md->device->kind != KIND_HDD)
		return;
	md->wear.account = wear_book_get(t->wear, md->device->id, &terms, wall_clock_us(t));
	if (!md->wear.account)
		log_oom();
}

void wear_account_refill(Managed *md, const Tools *t)
{
	WearTerms terms = wear_account_terms(md, t->config);

	if (md->wear.account)
		wear_refill(md->wear.account, &terms, wall_clock_us(t));
}

bool wear_account_charge(Managed *md, Condition c)
{
	bool was_charged = md->wear.charged;

	if (md->wear.account)
		wear_charge(md->wear.account, c);
	md->wear.charged = true;
	return was_charged;
}

void wear_account_undo(Managed *md, Condition c, bool was_charged)
{
	if (md->wear.account)
		wear_refund(md->wear.account, c);
	md->wear.charged = was_charged;
}

void wear_account_end_cycle(Managed *md, Condition c)
{
	if (!md->wear.charged && md->wear.account)
		wear_charge(md->wear.account, c);
	md->wear.charged = false;
}

void wear_account_stay_charged(Managed *md)
{
	md->wear.charged = true;
}

void wear_account_forget_cycle(Managed *md)
{
	md->wear.charged = false;
}
