/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The power-condition state machine, and the energy it takes. */

#include "hddsim.h"

#include <errno.h>

#include "base/text.h"

static const char *const names[CONDITIONS] = {
	[CONDITION_ACTIVE] = "active",       [CONDITION_IDLE_A] = "idle_a",
	[CONDITION_IDLE_B] = "idle_b",       [CONDITION_IDLE_C] = "idle_c",
	[CONDITION_STANDBY_Y] = "standby_y", [CONDITION_STANDBY_Z] = "standby_z",
	[CONDITION_SLEEP] = "sleep",         [CONDITION_STOPPED] = "stopped",
};

const char *condition_name(Condition c)
{
	return names[c];
}

int condition_parse(const char *name, Condition *ret)
{
	for (Condition c = 0; c < CONDITIONS; c++)
		if (streq(name, names[c])) {
			*ret = c;
			return 0;
		}
	return -EINVAL;
}

/* What the maker ships: each condition has a time, none is used until somebody enables it, so that
 * a test sees only the changes that it makes. */
static const uint32_t default_timers[CONDITION_TIMED_END] = {
	[CONDITION_IDLE_A] = 20,      [CONDITION_IDLE_B] = 1200,     [CONDITION_IDLE_C] = 6000,
	[CONDITION_STANDBY_Y] = 9000, [CONDITION_STANDBY_Z] = 18000,
};

void state_init(State *s, const Options *o, uint64_t now_us)
{
	*s = (State){ .options = o };
	s->started_us = s->accounted_us = s->idle_since_us = now_us;
	for (Condition c = CONDITION_IDLE_A; c < CONDITION_TIMED_END; c++)
		for (TimerSet set = 0; set < TIMER_SETS; set++)
			s->timers[set][c].value = default_timers[c];
}

/* standby_y only slows the spindle down (drives that have it say the same time back as from
 * idle_c). */
static bool spun_down(Condition c)
{
	return c >= CONDITION_STANDBY_Z;
}

bool state_spun_down(const State *s)
{
	return spun_down(s->condition);
}

double state_watts(const State *s)
{
	const Options *o = s->options;

	if (!s->moving)
		return s->serving_w > 0 ? s->serving_w : o->conditions[s->condition].watts;
	if (s->target > s->condition)
		return o->conditions[s->condition].watts;
	return spun_down(s->condition) ? o->spin_up_w : o->conditions[CONDITION_ACTIVE].watts;
}

/* Everything that changes the watts calls this first, at the moment of the change: the sum is
 * exact. */
void state_account(State *s, uint64_t now_us)
{
	uint64_t passed_us = now_us - s->accounted_us;

	s->joules += state_watts(s) * (double)passed_us / USEC_PER_SEC;
	if (!s->moving && s->condition >= CONDITION_STANDBY_Y)
		s->asleep_us += passed_us;
	s->accounted_us = now_us;
}

void state_serve(State *s, double watts, uint64_t now_us)
{
	state_account(s, now_us);
	s->serving_w = watts;
}

static uint64_t moving_time_us(const State *s, Condition target)
{
	const ConditionSpec *specs = s->options->conditions;

	if (target < s->condition)
		return specs[s->condition].recovery_us + s->faults.slow_wake_us;
	return spun_down(s->condition) ? 0 : specs[target].enter_us;
}

void state_move(State *s, Condition target, bool by_timer, uint64_t now_us)
{
	s->by_timer = by_timer;
	if (target == s->condition)
		return;
	state_account(s, now_us);
	if (spun_down(s->condition) && target < s->condition && !spun_down(target)) {
		s->spin_ups++;
		s->spin_up_us = now_us;
	}
	if (!spun_down(s->condition) && spun_down(target))
		s->stops++;
	if (s->condition < CONDITION_IDLE_B && target >= CONDITION_IDLE_B)
		s->unloads++;
	s->moving_until_us = now_us + moving_time_us(s, target);
	s->target = target;
	s->moving = true;
}

void state_settle(State *s, uint64_t now_us)
{
	state_account(s, now_us);
	if (spun_down(s->condition) && !spun_down(s->target))
		s->spun_up_us = now_us;
	s->moving = false;
	s->condition = s->target;
}

uint64_t state_timer_us(const State *s, Condition *ret_target)
{
	uint64_t first_us = USEC_NEVER;

	if (s->timers_held)
		return USEC_NEVER;
	/* of several that are due together the deepest wins (ACS-3, 4.9.3) */
	for (Condition c = s->condition + 1; c < CONDITION_TIMED_END; c++) {
		const Timer *t = &s->timers[TIMERS_CURRENT][c];
		uint64_t due_us = s->idle_since_us + t->value * 100 * USEC_PER_MSEC;

		if (!t->enabled || !t->value || due_us > MAX(first_us, s->accounted_us))
			continue;
		first_us = first_us == USEC_NEVER ? due_us : MIN(first_us, due_us);
		*ret_target = c;
	}
	return first_us;
}

void state_reset(State *s)
{
	if (s->target != CONDITION_SLEEP)
		return;
	s->target = CONDITION_STANDBY_Z;
	if (!s->moving)
		s->condition = CONDITION_STANDBY_Z;
	s->resets++;
}
