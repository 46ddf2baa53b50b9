/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sleeping pays once a disk has been idle for as long as it takes to earn back the energy of
 * stopping and starting it: whoever waits for that never spends more than twice what a prophet
 * would. */

#include "control/rest.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "control/cache-watch.h"
#include "control/obedience.h"
#include "control/waking.h"
#include "control/wear-account.h"

/* Where the budget cannot be held otherwise: shorter than any policy's patience need be. */
#define NEEDED_IDLE_US (20 * USEC_PER_SEC)
#define NEEDED_UP_US   (5 * 60 * USEC_PER_SEC)
#define REFUSED_US     (5 * 60 * USEC_PER_SEC)
#define MIN_IDLE_US    (3 * USEC_PER_SEC) /* who has had IO since then is busy */
/* After a cache has begun to hold writes back, those on their way to the disk are let through. */
#define SETTLE_US   (2 * USEC_PER_SEC)
#define UNSETTLE_US (60 * USEC_PER_SEC) /* IO that goes on for longer is not held back */

static const SleepLimits awake = { CONDITION_IDLE_B, CONDITION_IDLE_B, CONDITION_ACTIVE };

void rest_init(Managed *md)
{
	md->rest = (Rest){ .limits = awake, .needed_us = USEC_NEVER, .paid_us = USEC_NEVER };
}

void rest_done(Managed *md)
{
	free(md->rest.refused_why);
}

/* A disk that is judged, and what is said of it. */
typedef struct Case {
	const Managed *md;
	const Policy *policy;
	const Tools *tools;
	char *why; /* of REST_WHY_SIZE */
} Case;

/* Returns false, so that it can end a test. */
static _printf_(2, 3) bool stays_up(const Case *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->why, REST_WHY_SIZE, format, ap);
	va_end(ap);
	return false;
}

static bool pool_stuck(const Managed *md, const Tools *t)
{
	for_each_device(const Managed, other,
			t->fleet) if (other->waking.stuck &&
				      managed_in_one_pool(md, other)) return true;
	return false;
}

/* A disk that a refusal keeps up serves nothing of its pool alone: its first IO would wake the
 * others. */
static const Managed *refused_in_pool(const Managed *md, const Tools *t)
{
	for_each_device(const Managed, other,
			t->fleet) if (t->now_us < other->rest.refused_until_us &&
				      managed_in_one_pool(md, other)) return other;
	return NULL;
}

static bool hardware_allows(const Case *c)
{
	const Managed *md = c->md;
	const Device *d = md->device;

	if (d->protected_why)
		return stays_up(c, "it is protected: it %s", d->protected_why);
	if (!md->knobs.probed)
		return stays_up(c, "it has not said yet what it offers");
	if (!(md->knobs.offer.mechanisms & MECHANISM_CONDITION))
		return stays_up(c, "it has no power condition that can be set");
	if (obedience_withheld(md) & MECHANISM_CONDITION)
		return stays_up(c, "it did not obey when it was last to change its condition");
	if (d->keep_awake_why)
		return stays_up(c, "%s", d->keep_awake_why);
	if (waking_hba_stuck(d, c->tools))
		return stays_up(c, "a disk on %s did not wake", *d->hba ? d->hba : "its HBA");
	if (pool_stuck(md, c->tools))
		return stays_up(c, "a disk of %s did not wake", d->pool);
	return true;
}

/* Whatever the budget needs. */
static bool may_stop_at_all(const Case *c)
{
	const Managed *md = c->md;
	uint64_t now_us = c->tools->now_us;
	const Managed *other;

	if (!hardware_allows(c))
		return false;
	if (now_us < md->rest.refused_until_us)
		return stays_up(c, "%s", md->rest.refused_why ?: "it was needed");
	other = refused_in_pool(md, c->tools);
	if (other)
		return stays_up(c, "%s of its pool is kept up: %s", other->device->name,
				other->rest.refused_why ?: "it was needed");
	if (waking_is_wanted(md))
		return stays_up(c, "it is to be woken: %s", wake_reason_text(md->waking.reason));
	if (md->cache.draining)
		return stays_up(c, "what the cache above holds for it is being written back");
	/* nobody looks while nothing is to be enforced: what was idle then may be busy now */
	if (!md->workload.has_counters || now_us >= md->workload.counters.time_us + 2 * LOOK_US)
		return stays_up(c, "its IO has not been looked at lately");
	return true;
}

uint64_t rest_idle_for_us(const Managed *md, uint64_t now_us)
{
	const Workload *w = &md->workload;
	bool writes = md->knobs.offer.redirects_writes, reads = md->knobs.offer.redirects_reads;

	if (writes && reads)
		return USEC_NEVER;
	return now_us - (writes ? w->last_read_us : reads ? w->last_write_us : w->last_io_us);
}

static bool affords(const Managed *md, Condition c)
{
	return !md->wear.account || wear_affords(md->wear.account, c);
}

/* The deepest condition that the account affords, and that so long an idle time pays for. */
static Condition deepest_paid(const Managed *md, uint64_t idle, const Policy *p)
{
	for (Condition c = p->deepest; c > CONDITION_IDLE_B; c--) {
		double even_s = condition_break_even_s(md->device->profile, c);

		if (md->knobs.offer.conditions & 1u << c && affords(md, c) &&
		    (double)idle >= even_s * USEC_PER_SEC)
			return c;
	}
	return CONDITION_IDLE_B;
}

/* The same, however short it has been idle. */
static Condition deepest_afforded(const Managed *md, const Policy *p)
{
	return deepest_paid(md, USEC_NEVER, p);
}

static bool up_for(const Managed *md, uint64_t now_us, uint64_t span_us)
{
	return !md->waking.woke_us || now_us - md->waking.woke_us >= span_us;
}

static uint64_t needed_idle_us(const Policy *p)
{
	return MIN(p->sleep_idle_us, (uint64_t)NEEDED_IDLE_US);
}

static uint64_t needed_up_us(const Policy *p)
{
	return MIN(p->sleep_min_us, (uint64_t)NEEDED_UP_US);
}

static bool needed_would_do(const Case *c)
{
	const Managed *md = c->md;
	const Policy *p = c->policy;
	uint64_t idle = needed_idle_us(p), up = needed_up_us(p);

	if (rest_idle_for_us(md, c->tools->now_us) < idle)
		return stays_up(c, "it has had IO within the last %u s",
				(unsigned)(idle / USEC_PER_SEC));
	if (!up_for(md, c->tools->now_us, up))
		return stays_up(c, "it has been up for less than %u s",
				(unsigned)(up / USEC_PER_SEC));
	if (!cache_watch_has_room(md, p->sleep_min_us))
		return stays_up(c, "the cache above has no room for what is written meanwhile");
	if (deepest_afforded(md, p) <= CONDITION_IDLE_B)
		return stays_up(c, affords(md, CONDITION_STANDBY_Z)
					   ? "no condition that stops it is allowed and offered"
					   : "its start/stop cycles of the day are spent");
	return true;
}

static Condition rest_of(const Managed *md, const Policy *p, Condition paid, uint64_t now_us)
{
	bool idle = now_us - MAX(md->workload.last_io_us, md->waking.woke_us) >= p->rest_idle_us;

	if (p->rest > CONDITION_IDLE_B && paid > CONDITION_IDLE_B)
		return MIN(p->rest, paid);
	if (!idle || waking_is_wanted(md) || now_us < md->rest.refused_until_us ||
	    md->device->protected_why || md->waking.stuck)
		return CONDITION_ACTIVE;
	if (p->rest > CONDITION_IDLE_A && !affords(md, CONDITION_IDLE_B))
		return CONDITION_IDLE_A;
	return p->rest < CONDITION_IDLE_B ? p->rest : CONDITION_IDLE_B;
}

SleepLimits rest_limits(const Managed *md, const Policy *p, const Tools *t, char *why)
{
	const Case c = { md, p, t, why };
	uint64_t idle = rest_idle_for_us(md, t->now_us);
	SleepLimits s = awake;

	*why = '\0';
	if (!may_stop_at_all(&c)) {
		if (!md->device->protected_why)
			s.rest = rest_of(md, p, CONDITION_IDLE_B, t->now_us);
		return s;
	}
	if (needed_would_do(&c)) {
		s.needed = deepest_afforded(md, p);
		if (idle >= p->sleep_idle_us && up_for(md, t->now_us, p->sleep_min_us))
			s.deepest = deepest_paid(md, idle, p);
	}
	s.rest = rest_of(md, p, s.deepest, t->now_us);
	return s;
}

/* When it will have been idle and up for that long, if it stays idle. Who has just had IO is not
 * said to wait for anything. */
static uint64_t due_us(const Managed *md, uint64_t now_us, uint64_t idle_span, uint64_t up_span)
{
	uint64_t idle = rest_idle_for_us(md, now_us), due = now_us;

	if (idle < MIN_IDLE_US)
		return USEC_NEVER;
	if (idle < idle_span)
		due += idle_span - idle;
	if (md->waking.woke_us)
		due = MAX(due, md->waking.woke_us + up_span);
	return due > now_us ? due : USEC_NEVER;
}

/* The shortest idle time after which a condition that stops it pays. */
static uint64_t paying_idle_us(const Managed *md, const Policy *p)
{
	double least_s = INFINITY;

	for (Condition k = p->deepest; k > CONDITION_IDLE_B; k--)
		if (md->knobs.offer.conditions & 1u << k && affords(md, k))
			least_s = fmin(least_s, condition_break_even_s(md->device->profile, k));
	return isinf(least_s) ? USEC_NEVER
			      : MAX(p->sleep_idle_us, (uint64_t)(least_s * USEC_PER_SEC));
}

static void forecast(Managed *md, const Policy *p, const Tools *t)
{
	char why[REST_WHY_SIZE];
	const Case c = { md, p, t, why };
	Rest *r = &md->rest;

	r->needed_us = r->paid_us = USEC_NEVER;
	if (managed_asleep(md) || deepest_afforded(md, p) <= CONDITION_IDLE_B ||
	    !may_stop_at_all(&c))
		return;
	if (r->limits.needed <= CONDITION_IDLE_B)
		r->needed_us = due_us(md, t->now_us, needed_idle_us(p), needed_up_us(p));
	if (r->limits.deepest <= CONDITION_IDLE_B && paying_idle_us(md, p) != USEC_NEVER)
		r->paid_us = due_us(md, t->now_us, paying_idle_us(md, p), p->sleep_min_us);
}

void rest_judge(Managed *md, const Policy *p, Tools *t)
{
	wear_account_refill(md, t);
	md->rest.limits = rest_limits(md, p, t, md->rest.awake_why);
	forecast(md, p, t);
}

bool rest_limits_differ(const SleepLimits *a, const SleepLimits *b)
{
	return a->deepest != b->deepest || a->needed != b->needed || a->rest != b->rest;
}

ClaimMark rest_claim_mark(const Claim *claim)
{
	return claim ? (ClaimMark){ claim->cookie, claim->changed_us } : (ClaimMark){};
}

bool rest_is_marked(const ClaimMark *m, const Claim *claim)
{
	const ClaimMark now = rest_claim_mark(claim);

	return m->cookie == now.cookie && m->changed_us == now.changed_us;
}

static void refuse(Managed *md, const char *why, bool vetoed, Tools *t)
{
	char *copy = strdup(why);

	if (copy) {
		free(md->rest.refused_why);
		md->rest.refused_why = copy;
	}
	md->rest.refused_until_us = t->now_us + REFUSED_US;
	md->rest.vetoed = vetoed;
	diary_decide(t->diary, md->device->name, why, "not put to sleep");
}

void rest_refuse(Managed *md, const char *why, Tools *t)
{
	refuse(md, why, false, t);
	log_info("%s: not put to sleep: %s", md->device->name, why);
}

void rest_veto(Managed *md, const char *why, const Claim *claim, Tools *t)
{
	refuse(md, why, true, t);
	md->rest.vetoed_for = rest_claim_mark(claim);
	log_about(LOG_NOTICE, 0,
		  &(LogAbout){ .id = MESSAGE_HOOK_VETOED, .device = md->device->name },
		  "%s: not put to sleep: %s; it is asked again in %u min, or for another limit",
		  md->device->name, why, (unsigned)(REFUSED_US / (60 * USEC_PER_SEC)));
}

void rest_end_veto(Managed *md, const Claim *claim)
{
	if (!md->rest.vetoed || rest_is_marked(&md->rest.vetoed_for, claim))
		return;
	md->rest.vetoed = false;
	md->rest.refused_until_us = 0;
}

uint64_t rest_settled_us(const Managed *md, uint64_t now_us)
{
	uint64_t quiet_us = MAX(md->cache.held_us, md->workload.last_io_us) + SETTLE_US;

	return !md->cache.held_us || now_us >= quiet_us ? 0 : quiet_us;
}

static bool is_to_sleep(const Managed *md)
{
	Condition target = md->knobs.target.condition;

	return target > CONDITION_IDLE_B && target > md->knobs.actual.condition;
}

void rest_await(Managed *md)
{
	md->rest.awaits = is_to_sleep(md);
}

bool rest_await_on(Managed *md, bool same, const Policy *p, Tools *t)
{
	bool may;

	if (!is_to_sleep(md)) {
		md->rest.awaits = false;
		return false;
	}
	rest_judge(md, p, t);
	may = MAX(md->rest.limits.deepest, md->rest.limits.needed) > CONDITION_IDLE_B;
	md->rest.awaits &= same && may;
	return !may;
}

void rest_watch_settling(Managed *md, Tools *t)
{
	if (md->cache.held_us && !managed_asleep(md) &&
	    md->knobs.target.condition > CONDITION_IDLE_B &&
	    t->now_us >= md->cache.held_us + UNSETTLE_US && rest_settled_us(md, t->now_us))
		rest_refuse(md, "IO goes on although it is held back above it", t);
}
