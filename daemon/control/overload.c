/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/overload.h"

#include <math.h>

#include "base/log.h"

#define STRICT_US   (3 * USEC_PER_SEC) /* in that time it is seen what is asked of the devices */
#define BEFORE_US   USEC_PER_SEC /* what was drawn before the limit may be seen so long after */
#define REGAINED_S  600.0        /* in which all of it is regained */
#define GAP_US      (5 * USEC_PER_SEC) /* nobody looked meanwhile */
#define ALARM_S     0.6                /* eBPF's window, and the first knobs */
#define LOOK_S      1.1                /* without eBPF: until the next look, and the first knobs */
#define REACT_DECAY 0.9
#define EPISODE     0.1 /* of what is left of the tolerance, for one overrun */

void overload_init(Overload *o, bool alarmed)
{
	double least_s = alarmed ? ALARM_S : LOOK_S;

	*o = (Overload){ .seen_s = least_s, .react_s = least_s };
}

/* Regained is what the effective claim tolerates in ten minutes; without one nothing wears. */
static void account(Overload *o, const Claim *effective, double over, uint64_t now_us)
{
	uint64_t passed_us = now_us - o->counted_us;
	double most_s = effective ? effective->tolerance_s : CLAIM_TOLERANCE_MAX_S;
	double now_s = over * (double)MIN(passed_us, GAP_US) / USEC_PER_SEC;

	o->counted_us = now_us;
	o->episode_s = over > 0 ? o->episode_s + now_s : 0;
	if (over > 0)
		o->spent_s += now_s;
	else
		o->spent_s -= most_s * (double)passed_us / USEC_PER_SEC / REGAINED_S;
	o->spent_s = MAX(o->spent_s, 0.0);
}

/* A few watts too many are what the claim tolerates, and the next plans correct them. Caps, which
 * take most of what is served, are for what would spend much of the tolerance before the next look.
 */
static bool is_grave(const Overload *o, const Claim *c, double over)
{
	return o->episode_s + over * o->react_s > EPISODE * (c->tolerance_s - o->spent_s);
}

/* Who draws more than a limit that has only just begun does not exceed it: the plan for it is being
 * put in force. */
static bool just_begun(const Limits *l, uint64_t now_us)
{
	const Claim *c = limits_effective(l);

	return c && now_us < MAX(MAX(c->created_us, c->changed_us), c->start_us) + BEFORE_US;
}

static Need grow_strict(Overload *o, const Limits *l, double draw_w, const Tools *t)
{
	if (t->now_us < o->strict_until_us)
		return NOTHING_NEEDED;
	o->strict_from_us = t->now_us;
	o->strict_over_w = draw_w - l->budget_w;
	o->strict_until_us = o->strict_to_us = t->now_us + STRICT_US;
	diary_decide(t->diary, "", "more is drawn than the budget allows",
		     "for %.0f s what the devices can draw counts: %.1f W are drawn of %.1f W",
		     (double)STRICT_US / USEC_PER_SEC, draw_w, l->budget_w);
	return need(NEED_TOLD_PLAN, CAUSE_SPENT_TOO_MUCH);
}

static Need answer(Overload *o, const Limits *l, double draw_w, const Tools *t)
{
	const Claim *c = limits_effective(l);
	double over = draw_w / l->budget_w - 1;

	if (!c || !(over > 0) || just_begun(l, t->now_us) || !is_grave(o, c, over))
		return NOTHING_NEEDED;
	return grow_strict(o, l, draw_w, t);
}

Need overload_count(Overload *o, const Limits *l, double draw_w, bool counts_expected,
		    const Tools *t)
{
	double over = isfinite(l->budget_w) ? draw_w / l->budget_w - 1 : 0;

	account(o, limits_effective(l), over, t->now_us);
	return counts_expected ? answer(o, l, draw_w, t) : NOTHING_NEEDED;
}

Need overload_take_alarm(Overload *o, const Limits *l, double draw_w, const Tools *t)
{
	return answer(o, l, draw_w, t);
}

void overload_note_reaction(Overload *o, uint64_t us)
{
	double s = o->seen_s + (double)us / USEC_PER_SEC;

	o->react_s = MAX(s, o->seen_s + REACT_DECAY * (o->react_s - o->seen_s));
}

double overload_at_once(const Overload *o, double tolerance_s)
{
	return sqrt(1 + MAX(tolerance_s - o->spent_s, 0.0) / o->react_s);
}

double overload_at_once_w(const Overload *o, const Limits *l, const Tools *t)
{
	double least_w = INFINITY, operating_w = limits_operating_w(t->fleet, NULL);
	const Claim *c;

	if (t->now_us < o->strict_until_us || !limits_effective(l))
		return 0;
	for (size_t i = 0; (c = claims_get(l->claims, i)); i++) {
		double limit_w = limit_watts(c->limit, c->unit, operating_w);

		if (c->scope == SCOPE_NODE && claim_active(c, t->now_us))
			least_w = MIN(least_w, limit_w * overload_at_once(o, c->tolerance_s));
	}
	return least_w;
}

bool overload_was_strict(const Overload *o, uint64_t then_us)
{
	return o->strict_to_us && then_us >= o->strict_from_us && then_us <= o->strict_to_us;
}

bool overload_clear_due(Overload *o, uint64_t now_us)
{
	if (!o->strict_until_us || now_us < o->strict_until_us)
		return false;
	o->strict_until_us = 0;
	return true;
}
