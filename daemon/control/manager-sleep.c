/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How deep a disk may be put to sleep now, and why not deeper. Sleeping pays once a disk has been
 * idle for as long as it takes to earn back the energy of stopping and starting it: whoever waits
 * for that never spends more than twice what a prophet would. */

#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

/* Where the budget cannot be held otherwise: shorter than any policy's patience need be. */
#define NEEDED_IDLE_US (20 * USEC_PER_SEC)
#define NEEDED_UP_US   (5 * 60 * USEC_PER_SEC)
#define REFUSED_US     (5 * 60 * USEC_PER_SEC)
/* After a cache has begun to hold writes back, those on their way to the disk are let through. */
#define SETTLE_US   (2 * USEC_PER_SEC)
#define UNSETTLE_US (60 * USEC_PER_SEC) /* IO that goes on for longer is not held back */

/* False, so that it can end a test. */
static _printf_(2, 3) bool stays_up(ManagedDevice *md, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(md->awake_why, sizeof(md->awake_why), format, ap);
	va_end(ap);
	return false;
}

static bool pool_stuck(const Manager *m, const ManagedDevice *md)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->will_not_wake && managed_in_one_pool(md, m->devices[i]))
			return true;
	return false;
}

/* Whatever the budget needs. */
static bool may_stop_at_all(const Manager *m, ManagedDevice *md, uint64_t now)
{
	const Device *d = md->device;

	if (d->protected_why)
		return stays_up(md, "it is protected: it %s", d->protected_why);
	if (!(md->offer.mechanisms & MECHANISM_CONDITION))
		return stays_up(md, "it has no power condition that can be set");
	if (d->keep_awake_why)
		return stays_up(md, "%s", d->keep_awake_why);
	if (manager_hba_stuck(m, d))
		return stays_up(md, "a disk on %s did not wake", *d->hba ? d->hba : "its HBA");
	if (pool_stuck(m, md))
		return stays_up(md, "a disk of %s did not wake", d->pool);
	if (now < md->refused_until_us)
		return stays_up(md, "%s", md->refused_why ?: "it was needed");
	if (md->wake_why)
		return stays_up(md, "it is to be woken: %s", md->wake_why);
	if (md->draining)
		return stays_up(md, "what the cache above holds for it is being written back");
	/* nobody looks while nothing is to be enforced: what was idle then may be busy now */
	if (!md->has_counters || now >= md->counters.time_us + 2 * LOOK_US)
		return stays_up(md, "its IO has not been looked at lately");
	return true;
}

/* Idle as far as no cache above would have kept the IO off it. */
static uint64_t idle_us(const ManagedDevice *md, uint64_t now)
{
	bool writes = md->offer.redirects_writes, reads = md->offer.redirects_reads;

	if (writes && reads)
		return USEC_NEVER;
	return now - (writes ? md->last_read_us : reads ? md->last_write_us : md->last_io_us);
}

/* The deepest condition that the account affords, and that so long an idle time pays for. */
static Condition deepest_paid(const ManagedDevice *md, uint64_t idle, const Policy *p)
{
	for (Condition c = p->deepest; c > CONDITION_IDLE_B; c--) {
		double even_s = condition_break_even_s(md->device->profile, c);

		if (md->offer.conditions & 1u << c && (!md->wear || wear_affords(md->wear, c)) &&
		    (double)idle >= even_s * USEC_PER_SEC)
			return c;
	}
	return CONDITION_IDLE_B;
}

/* The same, however short it has been idle. */
static Condition deepest_afforded(const ManagedDevice *md, const Policy *p)
{
	return deepest_paid(md, USEC_NEVER, p);
}

static bool up_for(const ManagedDevice *md, uint64_t now, uint64_t span_us)
{
	return !md->woke_us || now - md->woke_us >= span_us;
}

static bool needed_would_do(ManagedDevice *md, const Policy *p, uint64_t now)
{
	uint64_t idle = MIN(p->sleep_idle_us, (uint64_t)NEEDED_IDLE_US);
	uint64_t up = MIN(p->sleep_min_us, (uint64_t)NEEDED_UP_US);

	if (idle_us(md, now) < idle)
		return stays_up(md, "it has had IO within the last %u s",
				(unsigned)(idle / USEC_PER_SEC));
	if (!up_for(md, now, up))
		return stays_up(md, "it has been up for less than %u s",
				(unsigned)(up / USEC_PER_SEC));
	if (!managed_has_room(md, p->sleep_min_us))
		return stays_up(md, "the cache above has no room for what is written meanwhile");
	if (deepest_afforded(md, p) <= CONDITION_IDLE_B)
		return stays_up(md, md->wear && !wear_affords(md->wear, CONDITION_STANDBY_Z)
					    ? "its start/stop cycles of the day are spent"
					    : "no condition that stops it is allowed and offered");
	return true;
}

static Condition rest_of(const ManagedDevice *md, const Policy *p, Condition paid, uint64_t now)
{
	bool idle = now - MAX(md->last_io_us, md->woke_us) >= p->rest_idle_us;

	if (p->rest > CONDITION_IDLE_B && paid > CONDITION_IDLE_B)
		return p->rest < paid ? p->rest : paid;
	if (!idle || md->wake_why || now < md->refused_until_us || md->device->protected_why ||
	    md->will_not_wake)
		return CONDITION_ACTIVE;
	if (p->rest > CONDITION_IDLE_A && md->wear && !wear_affords(md->wear, CONDITION_IDLE_B))
		return CONDITION_IDLE_A;
	return p->rest < CONDITION_IDLE_B ? p->rest : CONDITION_IDLE_B;
}

void managed_judge_sleep(const Manager *m, ManagedDevice *md, const Policy *p)
{
	uint64_t now = manager_now_us(m), idle = idle_us(md, now);
	SleepLimits *s = &md->sleep;

	*s = (SleepLimits){ CONDITION_IDLE_B, CONDITION_IDLE_B, CONDITION_ACTIVE };
	*md->awake_why = '\0';
	managed_refill_wear(m, md);
	if (!may_stop_at_all(m, md, now)) {
		if (!md->device->protected_why)
			s->rest = rest_of(md, p, CONDITION_IDLE_B, now);
		return;
	}
	if (needed_would_do(md, p, now)) {
		s->needed = deepest_afforded(md, p);
		if (idle >= p->sleep_idle_us && up_for(md, now, p->sleep_min_us))
			s->deepest = deepest_paid(md, idle, p);
	}
	s->rest = rest_of(md, p, s->deepest, now);
}

uint64_t managed_settles_us(const Manager *m, const ManagedDevice *md)
{
	uint64_t quiet_us = MAX(md->held_us, md->last_io_us) + SETTLE_US;

	if (!md->held_us || manager_now_us(m) >= quiet_us)
		return 0;
	return quiet_us;
}

static bool is_to_sleep(const ManagedDevice *md)
{
	return md->target.condition > CONDITION_IDLE_B &&
	       md->target.condition > md->actual.condition;
}

void manager_await_sleep(Manager *m)
{
	m->awaited_w = m->budget_w;
	for (size_t i = 0; i < m->n_devices; i++)
		m->devices[i]->awaits_sleep = is_to_sleep(m->devices[i]);
}

static bool may_sleep(const ManagedDevice *md)
{
	return MAX(md->sleep.deepest, md->sleep.needed) > CONDITION_IDLE_B;
}

void manager_await_no_more(Manager *m)
{
	bool same = manager_enforcing(m) && m->budget_w == m->awaited_w;

	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		if (!is_to_sleep(md)) {
			md->awaits_sleep = false;
			continue;
		}
		managed_judge_sleep(m, md, manager_policy_now(m));
		m->unsafe |= !may_sleep(md);
		md->awaits_sleep &= same && may_sleep(md);
	}
}

void managed_watch_settling(Manager *m, ManagedDevice *md)
{
	if (md->held_us && !managed_asleep(md) && md->target.condition > CONDITION_IDLE_B &&
	    manager_now_us(m) >= md->held_us + UNSETTLE_US && managed_settles_us(m, md))
		managed_refuse_sleep(m, md, "IO goes on although it is held back above it");
}

void managed_refuse_sleep(Manager *m, ManagedDevice *md, const char *why)
{
	char *copy = strdup(why);

	if (copy) {
		free(md->refused_why);
		md->refused_why = copy;
	}
	md->refused_until_us = manager_now_us(m) + REFUSED_US;
	manager_decide(m, md->device->name, why, "not put to sleep");
	log_info("%s: not put to sleep: %s", md->device->name, why);
}
