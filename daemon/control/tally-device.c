/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/tally-device.h"

#include <errno.h>
#include <math.h>

#include "control/caps.h"
#include "control/reading.h"
#include "control/served.h"
#include "control/trust.h"
#include "control/waking.h"
#include "control/workload.h"

/* A sensor of several devices that says more or less than this of what the model says is not
 * believed to be of these devices alone. */
#define SHARE_LEAST 0.3
#define SHARE_MOST  3.0

#define MICRO(x) ((int64_t)llround((x)*1e6))

static double energy_j(const Tallied *t)
{
	return (double)t->span.of[AMOUNT_ENERGY_UJ] * 1e-6;
}

static int64_t passed(uint64_t before, uint64_t after)
{
	return after > before ? (int64_t)(after - before) : 0;
}

void tally_count_io(const DeviceCounters *then, const DeviceCounters *now, Amounts *to)
{
	int64_t *of = to->of;

	of[AMOUNT_READS] = passed(then->ios[READ_IO], now->ios[READ_IO]);
	of[AMOUNT_WRITES] = passed(then->ios[WRITE_IO], now->ios[WRITE_IO]);
	of[AMOUNT_READ_BYTES] = passed(then->bytes[READ_IO], now->bytes[READ_IO]);
	of[AMOUNT_WRITTEN_BYTES] = passed(then->bytes[WRITE_IO], now->bytes[WRITE_IO]);
}

/* Moves what was counted of its IO into the span; joules above idle by its counters, NAN where they
 * have none. */
static double take_counters(Tallied *t, const DeviceCounters *now, double seconds)
{
	const DeviceCounters *then = &t->counters;
	int64_t *of = t->span.of;

	if (!t->known)
		return NAN;
	tally_count_io(then, now, &t->span);
	of[AMOUNT_BUSY_US] =
		llround(MIN(MAX(now->latency_us - then->latency_us, 0.0), seconds * USEC_PER_SEC));
	return now->has_joules && then->has_joules ? MAX(now->joules - then->joules, 0.0) : NAN;
}

/* Joules without IO. A disk that spins up draws that much whatever it serves. */
static double base_j(const Managed *md, double seconds)
{
	double watts = trust_base_w(md);

	return seconds * (waking_under_way(md) ? MAX(watts, md->waking.watts) : watts);
}

/* As what is shown of it is estimated: no more than its setting allows. */
static double above_base_j(const Managed *md, double counted_j, double seconds)
{
	double base_w = trust_base_w(md);
	double most_w = MAX(cap_watts(md->device->profile, &md->knobs.actual) - base_w, 0.0);

	if (isnan(counted_j))
		return seconds * MAX(md->trust.estimated_w - base_w, 0.0);
	return MIN(counted_j, most_w * seconds);
}

static void set_energy(Tallied *t, double joules, double idle_j, double error_j)
{
	int64_t *of = t->span.of;

	of[AMOUNT_ENERGY_UJ] = MICRO(joules);
	of[AMOUNT_IDLE_UJ] = MICRO(MIN(idle_j, joules));
	of[AMOUNT_ERROR_UJ] = MICRO(error_j);
}

/* By its own sensor, or by model and counters. */
static void begin(Tallied *t, double seconds)
{
	const Managed *md = t->md;
	double base = base_j(md, seconds), measured_w = md->trust.measured_w, counted_j = 0;

	t->span = (Amounts){ .of[AMOUNT_SPAN_US] = MICRO(seconds) };
	if (md->workload.has_counters)
		counted_j = take_counters(t, &md->workload.counters, seconds);
	t->dynamic_j = above_base_j(md, counted_j, seconds);
	if (isnan(measured_w)) {
		set_energy(t, base + t->dynamic_j, base, reading_model_error_w(md) * seconds);
		return;
	}
	set_energy(t, measured_w * seconds, base, SENSOR_ERROR * measured_w * seconds);
	t->span.of[AMOUNT_MEASURED_UJ] = t->span.of[AMOUNT_ENERGY_UJ];
}

/* Has it no sensor of its own, and has none of a part of the node told of it? */
static bool shares(const Gauge *s, const Tallied *t)
{
	return gauge_covers(s, t->md) && isnan(t->md->trust.measured_w) && !t->shared;
}

static void scale(Tallied *t, double factor)
{
	double idle_j = (double)t->span.of[AMOUNT_IDLE_UJ] * 1e-6 * factor;

	set_energy(t, energy_j(t) * factor, idle_j, (double)t->span.of[AMOUNT_ERROR_UJ] * 1e-6);
	t->shared = true;
}

static void share(const Gauge *s, TallyDevices *d, double seconds)
{
	double measured_j = s->watts * seconds, modelled_j = 0, factor;

	for_each_tallied(const Tallied, t, d)
	{
		if (shares(s, t))
			modelled_j += energy_j(t);
		else if (gauge_covers(s, t->md))
			measured_j -= energy_j(t);
	}
	factor = measured_j / modelled_j;
	if (!(factor > SHARE_LEAST && factor < SHARE_MOST))
		return;
	for_each_tallied(Tallied, t, d) if (shares(s, t)) scale(t, factor);
}

static void share_all(TallyDevices *d, const Gauges *g, double seconds)
{
	static const SensorScope scopes[] = { SENSOR_OF_GROUP, SENSOR_OF_NODE };

	for_each_tallied(Tallied, t, d) t->shared = false;
	for (size_t k = 0; k < ELEMENTSOF(scopes); k++)
		for (size_t i = 0; i < g->n; i++)
			if (g->gauges[i].config->scope == scopes[k] && !isnan(g->gauges[i].watts))
				share(&g->gauges[i], d, seconds);
}

/* Does anything hold it back, or let it rest, that the daemon has set? */
static bool is_set(const Managed *md)
{
	return !setting_equal(&md->knobs.actual, &SETTING_AS_FOUND);
}

/* What it would have drawn as found over what it draws as it is set, by the model: the same sensor
 * would have erred alike. */
static double unlimited_factor(const Managed *md, const Fleet *f)
{
	const Profile *p = md->device->profile;
	const Mix mix = served_mix(md, f);
	Prediction found, now;

	predict_demand(p, &mix, &SETTING_AS_FOUND, md->workload.demand_mb_s, &found);
	predict_demand(p, &mix, &md->knobs.actual, workload_mb_s(&md->workload), &now);
	return now.watts > 0 ? MAX(found.watts / now.watts, 1.0) : 1;
}

static void compare(Tallied *t, const TallySpan *span)
{
	const Managed *md = t->md;
	int64_t *of = t->span.of, energy = of[AMOUNT_ENERGY_UJ];
	double asked_mb_s = MIN(md->planned.device.full_mb_s, md->workload.demand_mb_s);
	double lost_mb_s = asked_mb_s - workload_mb_s(&md->workload);

	of[AMOUNT_UNLIMITED_UJ] = of[AMOUNT_TURNING_UJ] = energy;
	if (managed_asleep(md))
		of[AMOUNT_TURNING_UJ] += MICRO(
			MAX(md->device->profile->idle_w - trust_base_w(md), 0.0) * span->seconds);
	if (!is_set(md) || waking_under_way(md))
		return;
	of[AMOUNT_UNLIMITED_UJ] = llround((double)energy * unlimited_factor(md, span->fleet));
	if (isfinite(lost_mb_s) && !managed_asleep(md))
		of[AMOUNT_LOST_BYTES] = llround(MAX(lost_mb_s, 0.0) * 1e6 * span->seconds);
}

static void charge(Amounts *a, const Rate *rate)
{
	double kwh = (double)a->of[AMOUNT_ENERGY_UJ] / 3.6e12;

	if (!isnan(rate->price_kwh)) {
		a->of[AMOUNT_PRICED_UJ] = a->of[AMOUNT_ENERGY_UJ];
		a->of[AMOUNT_COST_NANO] = llround(kwh * rate->price_kwh * 1e9);
	}
	if (isnan(rate->g_kwh))
		return;
	a->of[AMOUNT_WEIGHED_UJ] = a->of[AMOUNT_ENERGY_UJ];
	a->of[AMOUNT_MARGINAL_UJ] = rate->marginal ? a->of[AMOUNT_ENERGY_UJ] : 0;
	a->of[AMOUNT_CO2_UG] = llround(kwh * rate->g_kwh * 1e6);
}

/* It may have moved to another group or pool since. */
static int name_thing(Tallied *t)
{
	const Device *d = t->device;
	const LedgerThing is = { .kind = THING_DEVICE,
				 .id = d->id,
				 .name = d->name,
				 .model = d->model,
				 .group = d->group,
				 .pool = d->pool };

	if (t->thing && ledger_thing_compare(t->thing, &is) == 0)
		return 0;
	t->thing = ledger_thing_unref(t->thing);
	return ledger_thing_new(&is, &t->thing);
}

static void skip(Tallied *t)
{
	if (!t->md->workload.has_counters)
		return;
	t->counters = t->md->workload.counters;
	t->known = true;
}

static int end(Tallied *t, const TallySpan *span)
{
	int64_t *of = t->span.of;

	of[AMOUNT_HIGHEST_MW] = llround(energy_j(t) / span->seconds * 1e3);
	compare(t, span);
	charge(&t->span, &span->rate);
	amounts_add(&t->sum, &t->span);
	skip(t);
	return name_thing(t);
}

int tally_devices_count(TallyDevices *d, const TallySpan *span)
{
	int r = 0;

	for_each_tallied(Tallied, t, d) begin(t, span->seconds);
	share_all(d, span->gauges, span->seconds);
	for_each_tallied(Tallied, t, d) if (r >= 0) r = end(t, span);
	return r;
}

void tally_devices_skip(TallyDevices *d)
{
	for_each_tallied(Tallied, t, d) skip(t);
}

const Tallied *tally_devices_find(const TallyDevices *d, const Device *device)
{
	for_each_tallied(const Tallied, t, d) if (t->device == device) return t;
	return NULL;
}

static void done(Tallied *t)
{
	ledger_thing_unref(t->thing);
	device_unref(t->device);
}

void tally_devices_done(TallyDevices *d)
{
	for_each_tallied(Tallied, t, d) done(t);
	free(d->all);
	*d = (TallyDevices){};
}

/* Moves what was counted of the device; what stays behind has none. */
static Tallied take_over(TallyDevices *d, Device *device, size_t likely)
{
	Tallied taken;
	Tallied *t = likely < d->n && d->all[likely].device == device
			     ? &d->all[likely]
			     : (Tallied *)tally_devices_find(d, device);

	if (!t)
		return (Tallied){ .device = device_ref(device) };
	taken = *t;
	*t = (Tallied){};
	return taken;
}

static bool is_followed(const TallyDevices *d, const Fleet *f)
{
	if (d->n != f->n)
		return false;
	for (size_t i = 0; i < f->n; i++)
		if (d->all[i].device != f->devices[i]->device || d->all[i].md != f->devices[i])
			return false;
	return true;
}

int tally_devices_follow(TallyDevices *d, const Fleet *f)
{
	TallyDevices next = {};

	if (is_followed(d, f))
		return 0;
	next.all = calloc(f->n + 1, sizeof(*next.all));
	if (!next.all)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		next.all[i] = take_over(d, f->devices[i]->device, i);
		next.all[i].md = f->devices[i];
	}
	next.n = f->n;
	tally_devices_done(d);
	*d = next;
	return 0;
}
