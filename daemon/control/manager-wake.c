/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Waking: by IO, with its pool, because its cache must be drained, or asked for. In turn, as many
 * at once as the spin-up power allows. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define STUCK_FACTOR 3 /* times its recovery without serving the IO that waits */
#define STUCK_US     (10 * USEC_PER_SEC)

static const ConditionPower *sleeping_condition(const ManagedDevice *md)
{
	return &md->device->profile->conditions[md->actual.condition];
}

/* What it was found in no longer matters: it is to be active. */
static void forget_found_condition(ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++) {
		ManagedKnob *mk = &md->knobs[i];

		if (mk->knob->mechanism == MECHANISM_CONDITION && mk->offered)
			snprintf(mk->original.text, sizeof(mk->original.text), "%s",
				 condition_name(CONDITION_ACTIVE));
	}
}

static bool goes_deeper(const ManagedDevice *md)
{
	return md->busy && !md->testing && !md->waits && md->stepping == MECHANISM_CONDITION &&
	       !md->step_raises;
}

void managed_want_awake(Manager *m, ManagedDevice *md, const char *why)
{
	if (goes_deeper(md)) {
		md->wake_next = why;
		return;
	}
	if (md->wake_why || !managed_asleep(md))
		return;
	md->wake_why = why;
	md->has_waker = false;
	forget_found_condition(md);
	m->woken = true;
}

void managed_wake_next(Manager *m, ManagedDevice *md)
{
	const char *why = md->wake_next;

	md->wake_next = NULL;
	if (why)
		managed_want_awake(m, md, why);
}

/* An IO to one is an IO to all: they are not left to be tripped over one by one. */
static void wake_pool(Manager *m, const ManagedDevice *md)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i] != md && managed_in_one_pool(md, m->devices[i]))
			managed_want_awake(m, m->devices[i], "its pool wakes");
}

void managed_fell_asleep(Manager *m, ManagedDevice *md)
{
	md->has_counters = false; /* IO before the sleep does not wake */
	md->has_waker = md->io_wakes = false;
	md->wake_why = NULL;
	managed_watch_sleep(m, md);
}

void managed_watch_sleep(Manager *m, ManagedDevice *md)
{
	md->watched = meter_watch_wake(m->meter, md->device, true) >= 0;
}

/* By then it is awake, or will not wake. */
static uint64_t patience_ends_us(const ManagedDevice *md)
{
	double recovery_s = md->device->profile->conditions[CONDITION_STANDBY_Z].recovery_s;

	return md->woke_us + STUCK_US + STUCK_FACTOR * (uint64_t)(recovery_s * USEC_PER_SEC);
}

/* A profile's time is a guess about the disk at hand: the next one begins when this one is up. */
bool managed_waking(const Manager *m, const ManagedDevice *md)
{
	uint64_t now;

	if (!md->transition_end_us)
		return false;
	now = manager_now_us(m);
	return now < md->transition_end_us || (md->unanswered && now < patience_ends_us(md));
}

uint64_t managed_waking_ends_us(const Manager *m, const ManagedDevice *md)
{
	uint64_t end_us = md->transition_end_us ?: USEC_NEVER;

	return md->unanswered && managed_waking(m, md) ? MAX(end_us, patience_ends_us(md)) : end_us;
}

void managed_begin_waking(Manager *m, ManagedDevice *md)
{
	const ConditionPower *c = sleeping_condition(md);
	uint64_t now = manager_now_us(m);

	md->transition_w = c->wake_w;
	md->transition_end_us = now + (uint64_t)(c->wake_s * 1e6);
	md->unanswered = true;
	md->woke_us = now;
	if (!md->charged) /* it had stopped by itself, or somebody else stopped it */
		managed_charge(md, md->actual.condition);
	md->charged = false;
	if (md->watched)
		(void)meter_watch_wake(m->meter, md->device, false);
	md->watched = false;
	manager_note_wakeup(m, md, md->wake_why ?: md->io_wakes ? "IO" : "no longer kept asleep");
	md->wake_why = NULL;
	wake_pool(m, md);
}

/* What its knob would read now. True: that is news. */
static bool say_active(ManagedDevice *md)
{
	const char *active = condition_name(CONDITION_ACTIVE);
	bool news = false;

	for (size_t i = 0; i < knob_count(); i++) {
		ManagedKnob *mk = &md->knobs[i];

		if (mk->knob->mechanism != MECHANISM_CONDITION || !mk->offered)
			continue;
		news |= !streq(mk->current.text, active);
		snprintf(mk->current.text, sizeof(mk->current.text), "%s", active);
	}
	return news;
}

/* IO has reached a sleeping disk: it is waking now, whatever was planned, and the others must make
 * room for its spin-up at once. */
void managed_notice_waking(Manager *m, ManagedDevice *md)
{
	md->io_wakes = true;
	md->wake_why = NULL;
	managed_begin_waking(m, md);
	md->actual.condition = CONDITION_ACTIVE;
	md->target.condition = CONDITION_ACTIVE;
	/* a command to ask would wait until it is awake */
	say_active(md);
	managed_update_cap(m, md);
	m->woken = true;
}

/* A disk at rest serves at once and is active then, without a word. */
static void leave_rest(Manager *m, ManagedDevice *md)
{
	md->actual.condition = md->target.condition = CONDITION_ACTIVE;
	say_active(md);
	managed_set_target(m, md, &md->target);
}

void managed_notice_serving(Manager *m, ManagedDevice *md)
{
	if (md->busy)
		return;
	if (managed_asleep(md))
		managed_notice_waking(m, md);
	else if (md->actual.condition != CONDITION_ACTIVE)
		leave_rest(m, md);
	else if (say_active(md))
		managed_set_target(m, md, &md->target);
	/* IO that was done may have ended in an error: what did not wake once is believed again
	 * only after a test, or when a command has woken it */
	md->io_wakes = md->unanswered = false;
}

void managed_take_waking(Manager *m, ManagedDevice *md)
{
	if (managed_asleep(md))
		managed_notice_waking(m, md);
	else
		managed_notice_serving(m, md);
	managed_set_target(m, md, &md->target);
}

bool manager_hba_stuck(const Manager *m, const Device *d)
{
	if (m->config.wakes && *d->hba && wake_record_get(m->config.wakes, d->hba) == WAKE_FAILED)
		return true;
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->will_not_wake && *d->hba &&
		    streq(m->devices[i]->device->hba, d->hba))
			return true;
	return false;
}

/* Its pool is kept up, and nothing else is stopped on its HBA, until a wake test has passed. */
void managed_mark_stuck(Manager *m, ManagedDevice *md)
{
	const Device *d = md->device;
	int r = 0;

	if (md->will_not_wake)
		return;
	md->will_not_wake = true;
	free(md->problem);
	md->problem = text_printf("it does not wake; no disk on %s is stopped until storpowerctl "
				  "wake-test has passed there",
				  *d->hba ? d->hba : "its HBA");
	manager_decide(m, d->name, "it does not wake",
		       "kept up, with its pool; nothing is stopped on %s",
		       *d->hba ? d->hba : "its HBA");
	log_error("%s: %s", d->name, md->problem ?: "it does not wake");
	if (m->config.wakes && *d->hba)
		r = wake_record_set(m->config.wakes, d->hba, WAKE_FAILED);
	if (r < 0)
		log_error_errno(r, "That cannot be recorded: it is forgotten at the next start");
	wake_pool(m, md);
	m->woken = true;
}

void managed_watch_waking(Manager *m, ManagedDevice *md)
{
	uint64_t now = manager_now_us(m);
	DeviceCounters c;

	if (!md->io_wakes || md->will_not_wake || now < md->transition_end_us)
		return;
	if (!md->device->ops->counters || md->device->ops->counters(md->device, &c) < 0 ||
	    c.outstanding < 1)
		md->io_wakes = md->unanswered = false;
	else if (now >= patience_ends_us(md))
		managed_mark_stuck(m, md);
}

void manager_peek(Manager *m)
{
	DeviceCounters c;

	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		/* no IO completes before the disk is awake: one that waits is the first sign */
		if (managed_asleep(md) && !md->watched && !md->busy && md->device->ops->counters &&
		    md->device->ops->counters(md->device, &c) >= 0 && c.outstanding >= 1)
			managed_notice_waking(m, md);
	}
}

/* IO wakes the disk for sure; a command of its own, or a flush with nothing to be written, may or
 * may not have. */
static bool wakes_for_sure(const MeterWake *w)
{
	return !w->passed_through && w->bytes > 0;
}

void manager_on_woken(const MeterWake *w, void *userdata)
{
	Manager *m = userdata;

	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		if (md->device->devnum != w->devnum || !w->devnum || !md->watched)
			continue;
		md->waker = *w;
		md->has_waker = true;
		if (!managed_asleep(md) || md->busy)
			continue; /* on its way: what comes of that tells */
		if (wakes_for_sure(w))
			managed_notice_waking(m, md);
		else if (manager_now_us(m) >= md->reread_us + LOOK_US)
			managed_reread(m, md, "a command was sent to it while it slept");
	}
}

bool managed_suspect(const ManagedDevice *md)
{
	return managed_asleep(md) && md->has_waker && !md->busy;
}

/* It has been asked, and sleeps on: the next is told again. */
void managed_clear_suspicion(Manager *m, ManagedDevice *md)
{
	if (!managed_suspect(md) || manager_now_us(m) < md->reread_us + LOOK_US)
		return;
	md->has_waker = false;
	managed_watch_sleep(m, md);
}

/* Whether one has to be asked, or to be seen serving. */
bool manager_any_suspect(const Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (managed_suspect(m->devices[i]) ||
		    (m->devices[i]->io_wakes && managed_waking(m, m->devices[i])))
			return true;
	return false;
}

/* Sleeping disks that eBPF does not watch. */
bool manager_any_to_peek_at(const Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (managed_asleep(m->devices[i]) && !m->devices[i]->watched)
			return true;
	return false;
}

static size_t count_spinups(const Manager *m, double *ret_w)
{
	size_t n = 0;

	*ret_w = 0;
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedDevice *md = m->devices[i];

		if (!managed_waking(m, md))
			continue;
		*ret_w += md->transition_w;
		n++;
	}
	return n;
}

/* A storm of spin-ups is load like any other: as many at once as the operator says that the power
 * supply bears, in watts or in number. */
static bool begins_soon(const Manager *m, size_t n, double sum_w)
{
	if (isfinite(m->config.spinup_w))
		return n == 0 || sum_w <= m->config.spinup_w;
	return n < MAX(m->config.spinups_at_once, 1U);
}

/* When the daemon must end soon, as many as the node's rated power bears. */
bool manager_may_spin_up(const Manager *m, double wake_w, double sum_w)
{
	double under_way_w;
	size_t n = count_spinups(m, &under_way_w);

	if (m->stopping && sum_w <= manager_rated_w(m))
		return true;
	return begins_soon(m, n, under_way_w + wake_w);
}

/* In an emergency they wait. */
double manager_wake_reserve_w(const Manager *m, const char *group)
{
	const Claim *c = m->effective_cookie ? claims_find(m->claims, m->effective_cookie) : NULL;
	double under_way_w, reserve_w = 0;
	size_t n = count_spinups(m, &under_way_w);

	if (c && c->class == CLASS_EMERGENCY)
		return 0;
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedDevice *md = m->devices[i];
		double wake_w = sleeping_condition(md)->wake_w;

		if (!md->wake_why || !managed_asleep(md))
			continue;
		under_way_w += wake_w;
		if (!begins_soon(m, n++, under_way_w))
			break;
		/* what it can draw awake is in the plan */
		if (!group || streq(group, md->device->group))
			reserve_w += MAX(wake_w - md->device->profile->idle_w, 0);
	}
	return reserve_w;
}

int manager_wake_device(Manager *m, const char *name, char **ret_error)
{
	bool known = !*name;

	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		if (*name && !streq(md->device->name, name))
			continue;
		known = true;
		managed_want_awake(m, md, "asked for");
	}
	if (!known) {
		*ret_error = text_printf("there is no device \"%s\": see storpowerctl list", name);
		return -ENODEV;
	}
	if (m->woken)
		manager_react(m, "disks are to wake");
	return 0;
}
