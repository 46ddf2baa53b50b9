/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/wake-test.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/caps.h"
#include "control/fleet.h"
#include "control/obedience.h"
#include "control/waking.h"
#include "control/wear-account.h"
#include "control/workload.h"
#include "device/wake-record.h"

#define LONGEST_US (180 * USEC_PER_SEC)

/* Only a disk that did not come back tells something of its HBA; one that could not be tested does
 * not. */
static void record(Control *c, const Job *j)
{
	const Device *d = j->md->device;
	bool failed = j->result == -EREMOTEIO;
	int r = 0;

	if (j->result < 0 && !failed)
		return;
	if (c->config.wakes && *d->hba)
		r = wake_record_set(c->config.wakes, d->hba, failed ? WAKE_FAILED : WAKE_TESTED);
	if (r < 0)
		log_error_errno(r, "The wake test of %s cannot be recorded", d->hba);
	if (failed) {
		(void)waking_mark_stuck(j->md, &c->tools);
	} else {
		waking_forgive(&c->fleet, d->hba, j->md);
		obedience_forget(j->md);
	}
}

/* It was not stopped for it. */
static void refund(Control *c, Managed *md)
{
	wear_account_undo(md, CONDITION_STANDBY_Z, md->wear.charged);
	if (wear_accounts_save(&c->tools) < 0)
		log_warning("%s: the cycle that it was spared stays on its account",
			    md->device->name);
}

Need wake_test_apply(Control *c, Managed *md)
{
	const Device *d = md->device;

	if (!d->wake_untested || md->errands.busy || !c->config.wakes || !*d->hba ||
	    wake_record_get(c->config.wakes, d->hba) != WAKE_TESTED ||
	    !job_apply_wake_test(md->device))
		return NOTHING_NEEDED;
	return fleet_reconsider(md, &c->tools);
}

static Need apply_to_all(Control *c)
{
	Need n = NOTHING_NEEDED;

	for_each_device(Managed, md, &c->fleet) n = need_more(n, wake_test_apply(c, md));
	return n;
}

Need wake_test_take(Control *c, Job *j)
{
	WakeTestJob *test = &j->wake_test;
	Managed *md = j->md;

	waking_end_test(md);
	diary_decide(&c->diary, md->device->name, "asked for", "wake test: %s", test->text ?: "");
	log_notice("%s: wake test on %s: %s", md->device->name,
		   *md->device->hba ? md->device->hba : "its HBA", test->text ?: "");
	workload_forget_counters(md); /* its own read is nobody's IO */
	if (j->result >= 0)
		(void)waking_notice_served(md, &c->tools);
	if (test->refused)
		refund(c, md);
	else
		record(c, j);
	(void)apply_to_all(c);
	test->done(j->result, test->seconds, test->text ?: strerror(-j->result), test->userdata);
	return need(NEED_TOLD_PLAN, CAUSE_TEST_ENDED);
}

void wake_test_abandon(Job *j)
{
	j->wake_test.done(-ENODEV, j->wake_test.seconds, "the disk is gone", j->wake_test.userdata);
}

static bool any_testing(const Fleet *f)
{
	for_each_device(const Managed, md, f) if (md->errands.testing) return true;
	return false;
}

static const char *why_not(const Control *c, const Managed *md)
{
	const Device *d = md->device;

	if (c->limits.claimed.advised)
		return "limits are only advised, and nothing is touched: see storpowerctl mode";
	if (d->protected_why || d->keep_awake_why)
		return d->protected_why ?: d->keep_awake_why;
	if (!job_can_wake_test(d))
		return "it is no disk with power conditions";
	if (any_testing(&c->fleet))
		return "another wake test is under way";
	if (md->errands.busy || !md->knobs.probed || waking_under_way(md))
		return "it is being set just now: try again in a minute";
	if (managed_asleep(md))
		return "it sleeps: wake it first, with storpowerctl wake";
	return NULL;
}

static int refuse(const Control *c, const char *name, const Managed *md, char **ret_error)
{
	const char *why;

	if (!md) {
		*ret_error = text_printf("there is no device \"%s\": see storpowerctl list", name);
		return -ENODEV;
	}
	why = why_not(c, md);
	if (!why)
		return 0;
	*ret_error = text_printf("%s is not tested: %s", name, why);
	return md->device->protected_why ? -EPERM : -EBUSY;
}

/* A crash must not lose the charge of the cycle. */
static int charge(Control *c, Managed *md)
{
	bool was_charged = wear_account_charge(md, CONDITION_STANDBY_Z);
	int r = wear_accounts_save(&c->tools);

	if (r < 0)
		wear_account_undo(md, CONDITION_STANDBY_Z, was_charged);
	else if (!was_charged)
		wear_account_forget_cycle(md); /* the cycle is over with the test */
	return r;
}

int wake_test_begin(Control *c, const char *name, WakeTestDone done, void *userdata,
		    char **ret_error)
{
	Managed *md = fleet_find_name(&c->fleet, name);
	_cleanup_(job_freep) Job *j = NULL;
	int r = refuse(c, name, md, ret_error);

	if (r < 0)
		return r;
	j = job_new_wake_test(md, done, userdata);
	r = j ? charge(c, md) : -ENOMEM;
	if (r < 0) {
		*ret_error = text_printf("%s cannot be tested: %s", name, strerror(-r));
		return r;
	}
	errands_send_test(md, TAKE_PTR(j), &c->tools);
	waking_begin_test(md, LONGEST_US, &c->tools);
	caps_update(md, c->tools.now_us);
	return 0;
}
