/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/workload.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/knob-set.h"
#include "control/pools.h"
#include "control/waking.h"

#define RATES_LEAST_US (100 * USEC_PER_MSEC)
#define MIX_BLEND      0.5  /* weight of the newest second */
#define BUSY_DEPTH     0.85 /* of the depth it may have: waiting for the device, not for work */
#define SOME_DEPTH     0.25 /* of that: it may be either */
#define WAITS_LONG     4  /* times what it takes in the device, or took; known to a factor of two */
#define FULL_DEPTH     16 /* so many are outstanding at a device that is seldom without work */
#define ALL_DEPTH      32 /* so many are outstanding where all that a device can give is asked for */
#define LOOKS          3  /* in a row that show depth to spare */
#define DEMAND_CHANGE  0.1 /* relative: worth a new plan */
#define MIX_CHANGE     0.15
#define GROWTH         1.25 /* a step more than what it gets, where that is more than it asked for */
#define FORGETS        0.3  /* weight of a look that asks for less than those before */
#define REMEMBERED_US  (900 * USEC_PER_SEC) /* then it may ask for more by now */

void workload_init(Managed *md, uint64_t now_us)
{
	md->workload =
		(Workload){ .mix = MIX_UNKNOWN,
			    .rates = { .latency_us = NAN, .wait_p50_us = NAN, .wait_p99_us = NAN },
			    .demand_mb_s = INFINITY,
			    .unheld = { INFINITY, 0, NAN, NAN, true },
			    .last_io_us = now_us,
			    .last_read_us = now_us,
			    .last_write_us = now_us };
}

/* Rates over less than that are chance. */
static bool is_too_soon(const Workload *w, const DeviceCounters *c)
{
	return w->has_counters && c->time_us >= w->counters.time_us &&
	       c->time_us - w->counters.time_us < RATES_LEAST_US;
}

static void note_io(Workload *w, uint64_t now_us)
{
	if (workload_mb_s(w) > 0) /* a flush alone is none */
		w->last_io_us = now_us;
	if (w->rates.iops[READ_IO] > 0)
		w->last_read_us = now_us;
	/* what a knob makes its array write there is nobody's wish to have the disk awake */
	if (w->rates.iops[WRITE_IO] > 0 && now_us >= w->own_io_until_us)
		w->last_write_us = now_us;
}

/* A second without IO tells nothing of the wait. */
static void note_wait(Workload *w, bool limited)
{
	if (limited || isnan(w->rates.wait_p50_us))
		return;
	w->unheld.wait_p50_us = w->rates.wait_p50_us;
	w->unheld.wait_p99_us = w->rates.wait_p99_us;
}

bool workload_take_counters(Managed *md, const DeviceCounters *c, Tools *t)
{
	Workload *w = &md->workload;
	int r;

	if (is_too_soon(w, c))
		return false;
	r = w->has_counters ? meter_rates(&w->counters, c, &w->rates) : -ESTALE;
	if (r == -EAGAIN)
		return false;
	w->counters = *c;
	w->has_counters = true;
	if (r < 0)
		return false;
	note_io(w, t->now_us);
	note_wait(w, knob_set_touched(md));
	return true;
}

void workload_take_waiting(Managed *md, double waiting, const Tools *t)
{
	md->workload.waiting = waiting;
	md->workload.waiting_us = t->now_us;
}

/* The first sight counts in full, later ones half. */
static double blend(const Workload *w, double old, double new)
{
	if (isnan(new))
		return old;
	return w->has_mix ? old + MIX_BLEND * (new - old) : new;
}

/* IOs as large as the chunk are parts of larger ones: what was seen before the chunk was set is the
 * better knowledge. */
static bool is_split(const Setting *s, double kib)
{
	return s->chunk_kib && kib >= 0.9 * s->chunk_kib;
}

/* What is outstanding shows the workload's depth only while nothing holds it back: what waits for
 * its pace is not outstanding. */
static void judge_depth(Workload *w, const Setting *s, uint64_t now_us)
{
	double depth = w->rates.depth;

	if (!s->depth && !(s->pace_w > 0)) {
		w->offered_depth = MAX(depth, 0.9 * w->offered_depth);
		w->unheld.until_us = now_us + REMEMBERED_US;
	} else if (s->depth || w->offered_depth > 0) {
		w->offered_depth = MAX(depth, w->offered_depth);
	}
}

/* Where nobody has seen it, who is paced is taken to keep the device busy. */
static double depth_of(const Workload *w, const Setting *s)
{
	if (w->offered_depth > 0)
		return MAX(w->offered_depth, 1.0);
	return s->pace_w > 0 ? MAX(w->rates.depth, ALL_DEPTH) : 1;
}

static void judge_mix(Workload *w, const Setting *s, uint64_t now_us)
{
	const MeterRates *r = &w->rates;
	bool read_split = is_split(s, r->read_kib), write_split = is_split(s, r->write_kib);

	if (!read_split && !write_split) {
		w->mix.read_share = CLAMP(blend(w, w->mix.read_share, r->read_share), 0.0, 1.0);
		w->mix.random_share =
			CLAMP(blend(w, w->mix.random_share, r->random_share), 0.0, 1.0);
	}
	if (!read_split)
		w->mix.read_kib = blend(w, w->mix.read_kib, r->read_kib);
	if (!write_split)
		w->mix.write_kib = blend(w, w->mix.write_kib, r->write_kib);
	if (!s->chunk_kib)
		judge_depth(w, s, now_us);
	w->mix.depth = depth_of(w, s);
	w->has_mix = true;
}

/* Above idle, by what eBPF counted; else by the mean IO. */
static double spent_w(const Workload *w, double price_j)
{
	return isnan(w->rates.joules_per_s) ? workload_iops(w) * price_j : w->rates.joules_per_s;
}

/* Small parts come and go so fast that their places are seldom all taken at once: what waits for
 * one before the device tells more. */
static bool fills_depth(const Managed *md)
{
	const Workload *w = &md->workload;
	double depth = md->knobs.actual.depth;

	if (workload_iops(w) <= 0 || depth <= 0)
		return false;
	return w->rates.depth >= BUSY_DEPTH * MIN(depth, w->mix.depth) ||
	       w->rates.wait_p50_us > WAITS_LONG * w->rates.latency_us;
}

/* Who splits large IOs into many parts cannot always fill the depth with them. Where the host was
 * busy before, it takes so long to make the parts that hardly any are outstanding. */
static bool fills_some_depth(const Managed *md)
{
	const Workload *w = &md->workload;
	const Setting *s = &md->knobs.actual;

	if (md->served.outpaced)
		return s->depth && workload_iops(w) > 0;
	return s->depth && s->chunk_kib && w->rates.depth >= BUSY_DEPTH &&
	       w->rates.depth >= SOME_DEPTH * MIN((double)s->depth, w->mix.depth);
}

bool workload_held_by_depth(const Managed *md)
{
	return fills_depth(md) ||
	       (fills_some_depth(md) &&
		md->workload.demand_mb_s * (1 - DEMAND_CHANGE) > workload_mb_s(&md->workload));
}

bool workload_fills_device(const Managed *md)
{
	const Workload *w = &md->workload;

	return !knob_set_touched(md) && w->rates.depth >= FULL_DEPTH &&
	       w->rates.depth >= BUSY_DEPTH * w->mix.depth;
}

/* Of a look that began under another pace, the lower of the two. */
static double paced_w(const Managed *md)
{
	double pace_w = md->knobs.actual.pace_w, before_w = md->workload.judged.at.pace_w;

	return pace_w > 0 && before_w > 0 ? MIN(pace_w, before_w) : pace_w;
}

/* The mix of the newest look alone, as far as that tells: what it spent has that one's price. */
static Mix newest_mix(const Workload *w)
{
	const MeterRates *r = &w->rates;
	Mix mix = w->mix;

	mix.read_share = isnan(r->read_share) ? mix.read_share : r->read_share;
	mix.random_share = isnan(r->random_share) ? mix.random_share : r->random_share;
	mix.read_kib = isnan(r->read_kib) ? mix.read_kib : r->read_kib;
	mix.write_kib = isnan(r->write_kib) ? mix.write_kib : r->write_kib;
	return mix;
}

/* A slow pace is a few IOs a second: one more or less is chance. */
bool workload_spends_pace(const Managed *md, double near)
{
	const Workload *w = &md->workload;
	Mix mix = newest_mix(w);
	double pace_w = paced_w(md), price_j = mix_price_joules(md->device->profile, &mix);

	return pace_w > 0 && spent_w(w, price_j) + price_j / w->rates.seconds >= near * pace_w;
}

/* Who has few IOs out at a time, now to this and now to that member of a stripe, waits for its pace
 * and still does not spend it. Of what came under a limit it is not known how long it waited
 * before: then it must be long beside what the device itself takes. */
static bool waits_for_pace(const Managed *md)
{
	const Workload *w = &md->workload;

	if (!(md->knobs.actual.pace_w > 0))
		return false;
	if (isnan(w->unheld.wait_p99_us))
		return w->rates.wait_p50_us > WAITS_LONG * w->rates.latency_us;
	return w->rates.wait_p99_us > WAITS_LONG * w->unheld.wait_p99_us;
}

/* Does the workload want more than it gets? It keeps all the depth outstanding that it may have; or
 * spends the joules that it is paced to (what pacing holds back is not seen as outstanding), or
 * waits for them; or reaches what the setting is predicted or was found to give. */
static bool is_saturated(const Managed *md, double near)
{
	const Workload *w = &md->workload;
	Mix mix = newest_mix(w);
	Prediction p;

	if (workload_iops(w) <= 0)
		return false;
	if (fills_depth(md) || workload_spends_pace(md, near) || waits_for_pace(md))
		return true;
	if (md->knobs.actual.depth && md->served.learned.n)
		mix.learned = &md->served.learned;
	predict(md->device->profile, &mix, &md->knobs.actual, &p);
	return workload_mb_s(w) >= near * p.mb_s;
}

/* A step more than what is believed; from all that the device could give on, it is all. */
static double step_more_mb_s(const Managed *md)
{
	const Workload *w = &md->workload;
	double mb_s = GROWTH * MAX(w->unheld.mb_s, workload_mb_s(w));
	Prediction p;

	predict(md->device->profile, &w->mix, &SETTING_AS_FOUND, &p);
	return mb_s < p.mb_s ? mb_s : INFINITY;
}

/* Who is held back asks for what it asked for before; else it would be given all, found not to use
 * it, and be held back again. Who gets more than that asks for a step more: for all that the device
 * could give it would be taken to draw all that the device can. So it does at each look until
 * nothing holds it back, because a share of the step may be less than the step. */
static double held_back_mb_s(Managed *md, uint64_t now_us)
{
	Workload *w = &md->workload;

	w->unheld.outgrown |= workload_mb_s(w) > w->unheld.mb_s;
	if (now_us >= w->unheld.until_us) {
		w->unheld.mb_s = INFINITY;
		w->offered_depth = 0;
	} else if (w->unheld.outgrown) {
		w->unheld.mb_s = step_more_mb_s(md);
	}
	return w->unheld.mb_s;
}

/* One look may be chance: what was asked for before is forgotten slowly. */
static void note_unheld(Workload *w, uint64_t now_us)
{
	double mb_s = workload_mb_s(w), was = w->unheld.mb_s;

	w->demand_mb_s = mb_s;
	w->unheld.outgrown = false;
	w->unheld.mb_s = isfinite(was) && mb_s < was ? was + FORGETS * (mb_s - was) : mb_s;
	w->unheld.until_us = now_us + REMEMBERED_US;
}

/* A look that began before the disk was awake has seen it serve for a part of its time alone. */
static bool saw_it_wake(const Managed *md, const Tools *t)
{
	const Waking *w = &md->waking;
	double since_s = (double)(t->now_us - w->woke_us) / USEC_PER_SEC;

	return waking_under_way(md) || md->workload.judged.waking ||
	       (w->woke_us && since_s < md->workload.rates.seconds);
}

/* What it asked for asleep tells nothing of what is asked of it by the IO that has woken it. */
static void judge_woken(Managed *md)
{
	Workload *w = &md->workload;

	w->unheld.now = false;
	w->unheld.looks = 0;
	if (md->waking.reason == WAKE_BY_IO) {
		w->demand_mb_s = w->unheld.mb_s = INFINITY;
		w->offered_depth = 0;
	}
}

/* A device planned for its demand and the policy's headroom is busy for 1/headroom of the time:
 * more than half-way from there to all of it wants more. */
void workload_judge(Managed *md, const Policy *policy, const Tools *t)
{
	double near = (1 + 1 / policy->demand_headroom) / 2;
	Workload *w = &md->workload;
	bool changed = !setting_equal(&w->judged.at, &md->knobs.actual);
	bool reshaped = w->judged.at.depth != md->knobs.actual.depth ||
			w->judged.at.chunk_kib != md->knobs.actual.chunk_kib;

	if (w->last_io_us == t->now_us && !(reshaped && w->has_mix))
		judge_mix(w, &md->knobs.actual, t->now_us);
	if (saw_it_wake(md, t)) {
		w->judged.at = md->knobs.actual;
		w->judged.waking = waking_under_way(md);
		judge_woken(md);
		pools_note_held(t->fleet, md, workload_iops(w) > 0);
		return;
	}
	w->unheld.now = !is_saturated(md, near);
	w->unheld.looks = w->unheld.now ? w->unheld.looks + 1 : 0;
	pools_note_held(t->fleet, md, !w->unheld.now && workload_iops(w) > 0);
	w->judged.at = md->knobs.actual;
	if (!w->unheld.now) {
		w->demand_mb_s = held_back_mb_s(md, t->now_us);
		return;
	}
	/* a look that began under another setting shows neither what that nor what this one gives,
	 * and one look with depth to spare may be chance */
	if (md->knobs.actual.depth && (changed || w->unheld.looks < LOOKS))
		return;
	/* who works for a stripe waits for the slowest of its members */
	if (fills_some_depth(md) || pools_hold_back(t->fleet, md))
		return;
	note_unheld(w, t->now_us);
}

void workload_forget_counters(Managed *md)
{
	md->workload.has_counters = false;
}

void workload_note_own_io(Managed *md, uint64_t until_us)
{
	md->workload.own_io_until_us = until_us;
}

static bool differs(double a, double b, double relative)
{
	if (isinf(a) || isinf(b))
		return isinf(a) != isinf(b);
	return fabs(a - b) > relative * MAX(MAX(fabs(a), fabs(b)), 1.0);
}

bool workload_demand_differs(double a, double b)
{
	return differs(a, b, DEMAND_CHANGE);
}

bool workload_mix_differs(const Mix *a, const Mix *b)
{
	return fabs(a->read_share - b->read_share) > MIX_CHANGE ||
	       fabs(a->random_share - b->random_share) > MIX_CHANGE ||
	       differs(mix_mean_kib(a), mix_mean_kib(b), 2 * MIX_CHANGE) ||
	       differs(a->depth, b->depth, 0.5);
}
