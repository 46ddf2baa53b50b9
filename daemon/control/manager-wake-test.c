/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A wake test: does an IO alone bring a disk of this HBA back from standby? One at a time, in a
 * worker; what comes of it is recorded for the HBA. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define LONGEST_US (180 * USEC_PER_SEC)

typedef struct WakeTest {
	Job job; /* first */
	Manager *manager;
	ManagedDevice *md;
	WakeTestDone done;
	void *userdata;
	int result;
	bool refused; /* before anything was done */
	double seconds;
	char *text;
} WakeTest;

static WakeTest *wake_test_free(WakeTest *t)
{
	free(t->text);
	free(t);
	return NULL;
}
DEFINE_CLEANUP(WakeTest *, wake_test_free);

static void wake_test_run(Job *job)
{
	WakeTest *t = (WakeTest *)job;
	Device *d = t->md->device;

	t->result = d->ops->may_sleep ? d->ops->may_sleep(d, &t->text) : 0;
	t->refused = t->result < 0;
	if (!t->refused)
		t->result = d->ops->wake_test(d, &t->seconds, &t->text);
}

/* Only a disk that did not come back tells something of its HBA; one that could not be tested does
 * not. */
static void record(Manager *m, const WakeTest *t)
{
	const Device *d = t->md->device;
	bool failed = t->result == -EREMOTEIO;
	int r = 0;

	if (t->result < 0 && !failed)
		return;
	if (m->config.wakes && *d->hba)
		r = wake_record_set(m->config.wakes, d->hba, failed ? WAKE_FAILED : WAKE_TESTED);
	if (r < 0)
		log_error_errno(r, "The wake test of %s cannot be recorded", d->hba);
	if (failed) {
		managed_mark_stuck(m, t->md);
		return;
	}
	for (size_t i = 0; i < m->n_devices; i++)
		if (*d->hba ? streq(m->devices[i]->device->hba, d->hba) : m->devices[i] == t->md)
			m->devices[i]->will_not_wake = false;
}

void managed_take_wake_test(Manager *m, ManagedDevice *md)
{
	Device *d = md->device;

	if (d->wake_untested && !md->busy && d->ops->wake_tested && m->config.wakes && *d->hba &&
	    wake_record_get(m->config.wakes, d->hba) == WAKE_TESTED &&
	    d->ops->wake_tested(d) >= 0 && !d->wake_untested)
		manager_on_device(d, DEVICE_CHANGED, m);
}

static void take_wake_tests(Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		managed_take_wake_test(m, m->devices[i]);
}

/* It was not stopped for it. */
static void refund(Manager *m, ManagedDevice *md)
{
	managed_refund(md, CONDITION_STANDBY_Z);
	if (manager_save_wear(m) < 0)
		log_warning("%s: the cycle that it was spared stays on its account",
			    md->device->name);
}

static void wake_test_done(Job *job)
{
	_cleanup_(wake_test_freep) WakeTest *t = (WakeTest *)job;
	Manager *m = t->manager;
	ManagedDevice *md = t->md;

	md->busy = md->testing = false;
	md->transition_end_us = 0;
	if (md->gone) {
		t->done(-ENODEV, t->seconds, "the disk is gone", t->userdata);
		manager_forget_gone(m, md);
		return;
	}
	manager_decide(m, md->device->name, "asked for", "wake test: %s", t->text ?: "");
	log_notice("%s: wake test on %s: %s", md->device->name,
		   *md->device->hba ? md->device->hba : "its HBA", t->text ?: "");
	md->has_counters = false; /* its own read is nobody's IO */
	if (t->result >= 0)
		managed_notice_serving(m, md);
	if (t->refused) {
		refund(m, md);
	} else {
		record(m, t);
		take_wake_tests(m);
	}
	t->done(t->result, t->seconds, t->text ?: strerror(-t->result), t->userdata);
	manager_react(m, "a wake test has ended");
}

static const char *why_not(const Manager *m, const ManagedDevice *md)
{
	const Device *d = md->device;

	if (d->protected_why || d->keep_awake_why)
		return d->protected_why ?: d->keep_awake_why;
	if (!d->ops->wake_test)
		return "it is no disk with power conditions";
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->testing)
			return "another wake test is under way";
	if (md->busy || managed_waking(m, md))
		return "it is being set just now: try again in a minute";
	if (managed_asleep(md))
		return "it sleeps: wake it first, with storpowerctl wake";
	return NULL;
}

static ManagedDevice *find(const Manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (streq(m->devices[i]->device->name, name))
			return m->devices[i];
	return NULL;
}

static int begin(Manager *m, WakeTest *t)
{
	ManagedDevice *md = t->md;
	int r;

	managed_charge(md, CONDITION_STANDBY_Z);
	r = manager_save_wear(m);
	if (r < 0)
		return r;
	md->busy = md->testing = true;
	md->step_began_us = manager_now_us(m);
	md->transition_w = md->device->profile->conditions[CONDITION_STANDBY_Z].wake_w;
	md->transition_end_us = md->step_began_us + LONGEST_US;
	managed_update_cap(m, md);
	return m->loop->submit(m->loop, &t->job);
}

int manager_wake_test(Manager *m, const char *name, WakeTestDone done, void *userdata,
		      char **ret_error)
{
	_cleanup_(wake_test_freep) WakeTest *t = calloc(1, sizeof(*t));
	ManagedDevice *md = find(m, name);
	const char *why;
	int r;

	if (!t)
		return -ENOMEM;
	if (!md) {
		*ret_error = text_printf("there is no device \"%s\": see storpowerctl list", name);
		return -ENODEV;
	}
	why = why_not(m, md);
	if (why) {
		*ret_error = text_printf("%s is not tested: %s", name, why);
		return md->device->protected_why ? -EPERM : -EBUSY;
	}
	*t = (WakeTest){ .job = { .slow = true, .run = wake_test_run, .done = wake_test_done },
			 .manager = m,
			 .md = md,
			 .done = done,
			 .userdata = userdata };
	r = begin(m, t);
	if (r < 0) {
		refund(m, md);
		md->busy = md->testing = false;
		md->transition_end_us = 0;
		*ret_error = text_printf("%s cannot be tested: %s", name, strerror(-r));
		return r;
	}
	TAKE_PTR(t);
	manager_react(m, "a wake test begins");
	return 0;
}
