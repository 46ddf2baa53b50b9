/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/settled.h"

#include <math.h>

#include "control/enforce.h"
#include "control/observe.h"
#include "control/waking.h"

/* What has not come near its limit by then is told of as it is. */
#define PATIENCE_SETTLED_US (60 * USEC_PER_SEC)

/* What the limit is on. */
typedef struct Draw {
	double watts;
	bool changing; /* a step is on its way at a device */
	bool pending;  /* one is yet to be sent; a disk that sleeps on gets none before it wakes */
} Draw;

static bool has_pending(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->pending) return true;
	return false;
}

static void add(Draw *d, const Managed *md)
{
	double measured_w = md->trust.measured_w;

	d->watts += isnan(measured_w) ? md->trust.estimated_w : measured_w;
	d->changing |= (md->errands.busy && md->errands.mechanism) || waking_under_way(md);
	d->pending |= has_pending(md) && !managed_asleep(md);
}

/* The sensor of the whole node or group knows better than the sum of its devices. NAN: there is
 * none that is believed. */
static double measured_together_w(const Gauges *g, const Claim *of)
{
	if (of->scope == SCOPE_NODE)
		return g->measured_w;
	for (size_t i = 0; i < g->n && of->scope == SCOPE_GROUP; i++) {
		const Gauge *s = &g->gauges[i];

		if (s->config->scope == SENSOR_OF_GROUP && streq(s->config->target, of->target) &&
		    !isnan(s->watts))
			return s->watts;
	}
	return NAN;
}

static Draw draw_of(const Control *c, const Claim *of)
{
	double together_w = measured_together_w(&c->gauges, of);
	Draw d = {};

	for_each_device(const Managed, md, &c->fleet) if (limits_claim_covers(of, md)) add(&d, md);
	if (!isnan(together_w))
		d.watts = together_w;
	return d;
}

static double limit_w(const Control *c, const Claim *of)
{
	uint64_t by;

	if (!c->limits.enforcing)
		return INFINITY;
	return lowest_claims_limit_w(&c->limits.lowest, of->scope, of->target ?: "",
				     limits_claim_operating_w(&c->fleet, of), &by);
}

static bool is_short(const Control *c)
{
	const Plan *p = c->enforcement.plan;

	return p && MAX(p->shortfall_w, p->limit_shortfall_w) > 0;
}

/* A limit is seen to be held by a look at what is drawn under it, when sensors tell of nothing
 * before it any more; to end it nothing has to be seen. Steps may go out with each look, and what
 * it has seen holds until the next. */
static bool is_settled(const Control *c, const Unsettled *u, const Settled *s, const Draw *d)
{
	if (c->outbox.counted_out || d->changing)
		return false;
	if (isinf(s->limit_w))
		return !d->pending;
	return !enforce_is_settling(c) && c->attention.looked_us >= u->since_us + AVERAGED_US &&
	       (s->held || is_short(c));
}

/* True: it is over. */
static bool tell(const Control *c, const Unsettled *u)
{
	const Claim of = { .scope = u->scope, .target = u->target };
	uint64_t for_us = c->tools.now_us - u->since_us;
	Draw d = draw_of(c, &of);
	Settled s = { .cookies = u->cookies,
		      .n = u->n,
		      .limit_w = limit_w(c, &of),
		      .took_s = (double)for_us / USEC_PER_SEC,
		      .drawn_w = d.watts };

	s.held = s.drawn_w <= s.limit_w;
	if (!is_settled(c, u, &s, &d) && for_us < PATIENCE_SETTLED_US)
		return false;
	if (c->events.settled)
		c->events.settled(&s, c->events.userdata);
	return true;
}

void settled_tell(Control *c)
{
	Settling *s = &c->limits.settling;

	if (!c->attention.started || c->tools.stopping)
		return;
	for (size_t i = 0; i < s->n;) {
		Unsettled *u = &s->changes[i];

		if (!u->since_us)
			u->since_us = c->tools.now_us;
		if (!observe_holds_plan(c) && tell(c, u))
			settling_remove(s, i);
		else
			i++;
	}
}
