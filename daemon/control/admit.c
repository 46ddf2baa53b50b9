/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/admit.h"

#include <math.h>
#include <string.h>

#define WATTS_EPSILON 1e-6

/* What has been admitted so far counts as if a raise had happened already and a lowering not. */
typedef struct Account {
	const InForce *in;
	double sum_w;
	SpinUps spin_ups;
	double *risen_w; /* of each group: by what was admitted */
} Account;

double admit_cap_w(const DeviceInForce *d, const Setting *s)
{
	Setting holding = *s;

	if (d->pacing_leaks)
		holding.pace_w = 0;
	return cap_watts(d->profile, &holding) * MAX(d->bias, 1.0);
}

/* A storm of spin-ups is load like any other: as many at once as the operator says that the power
 * supply bears, in watts or in number. */
bool spin_up_fits(const SpinUps *s, double wake_w)
{
	if (isfinite(s->most_w))
		return s->n == 0 || s->watts + wake_w <= s->most_w;
	return s->n < MAX(s->most, (size_t)1);
}

static bool moves_condition(const KnobInForce *k)
{
	return k->mechanism == MECHANISM_CONDITION;
}

static bool wakes(const DeviceInForce *d, const KnobInForce *k)
{
	return moves_condition(k) && setting_sleeps(&d->actual) &&
	       d->target.condition < d->actual.condition;
}

static bool stops(const DeviceInForce *d, const KnobInForce *k)
{
	return moves_condition(k) && d->target.condition > d->actual.condition &&
	       setting_sleeps(&d->target);
}

/* From idle_b on the heads are parked. */
static bool wears(const DeviceInForce *d, const KnobInForce *k)
{
	return moves_condition(k) && d->wears && d->target.condition > d->actual.condition &&
	       d->target.condition >= CONDITION_IDLE_B;
}

static double cap_after_w(const DeviceInForce *d, const KnobInForce *k)
{
	Setting after = d->actual;

	setting_take(&after, &d->target, k->mechanism);
	return admit_cap_w(d, &after);
}

static double wake_w(const DeviceInForce *d)
{
	return d->profile->conditions[d->actual.condition].wake_w;
}

static bool raises(const DeviceInForce *d, const KnobInForce *k)
{
	return wakes(d, k) || cap_after_w(d, k) > d->cap_w + WATTS_EPSILON;
}

static bool lowers(const DeviceInForce *d, const KnobInForce *k)
{
	return !wakes(d, k) && cap_after_w(d, k) < d->cap_w - WATTS_EPSILON;
}

static bool any_pending(const InForce *in, const DeviceInForce *d, Mechanism m, bool taking_over)
{
	for (size_t i = 0; i < in->n_knobs; i++)
		if (d->knobs[i].pending && d->knobs[i].mechanism == m &&
		    !(taking_over && d->knobs[i].lets_go))
			return true;
	return false;
}

/* The cache holds writes back before the disk stops, and lets go of them once it is awake. */
static bool waits_for_cache(const InForce *in, const DeviceInForce *d, const KnobInForce *k)
{
	if (k->mechanism == MECHANISM_REDIRECT)
		return setting_sleeps(&d->actual) &&
		       (k->wakes_disk || (d->target.redirect != REDIRECT_HOLD &&
					  d->target.condition < d->actual.condition));
	return stops(d, k) && (any_pending(in, d, MECHANISM_REDIRECT, false) || d->settled_us);
}

/* A queue is not stopped twice a second for the sake of more throughput. */
static bool too_soon(const InForce *in, const DeviceInForce *d, const KnobInForce *k)
{
	return k->freezes && !in->stopping && in->now_us < d->thawed_us;
}

/* Several knobs can serve one mechanism: the one that takes over goes before those that let go. */
static bool is_its_turn(const InForce *in, const DeviceInForce *d, const KnobInForce *k)
{
	return k->pending && !k->must_wait &&
	       !(k->lets_go && any_pending(in, d, k->mechanism, true)) &&
	       !waits_for_cache(in, d, k);
}

static bool fits_group(const Account *a, const DeviceInForce *d, double risen_w)
{
	double sum_w = risen_w;

	if (d->group >= a->in->n_groups || isinf(a->in->group_limits_w[d->group]) ||
	    a->in->stopping)
		return true;
	for (size_t i = 0; i < a->in->n_devices; i++)
		if (a->in->devices[i].group == d->group)
			sum_w += a->in->devices[i].cap_w;
	return sum_w + a->risen_w[d->group] <= a->in->group_limits_w[d->group] + WATTS_EPSILON;
}

/* When the daemon must end soon, as many spin up as the node's rated power bears. */
static bool may_spin_up(const Account *a, const DeviceInForce *d, double sum_w)
{
	return (a->in->stopping && sum_w <= a->in->rated_w) ||
	       spin_up_fits(&a->spin_ups, wake_w(d));
}

static bool may_raise(const Account *a, const DeviceInForce *d, bool spins_up, double after_w)
{
	double sum_w = a->sum_w - d->cap_w + after_w;
	bool completes = d->exchanges && after_w <= admit_cap_w(d, &d->target) + WATTS_EPSILON;

	if ((spins_up && !may_spin_up(a, d, sum_w)) || !fits_group(a, d, after_w - d->cap_w))
		return false;
	if (isinf(a->in->limit_w))
		return true;
	if (sum_w > a->in->limit_w + WATTS_EPSILON)
		return false;
	/* those that are waited for need no rest from changes, nor does what was lowered for this
	 */
	return (spins_up && d->wanted_awake) || completes || a->in->now_us >= d->may_rise_us;
}

/* One knob is not lowered long before the other is raised for which it makes room: that would be
 * less than before and less than after. */
static bool waits_for_raise(const Account *a, const DeviceInForce *d, const KnobInForce *k)
{
	double target_w = admit_cap_w(d, &d->target);

	return lowers(d, k) && target_w > d->cap_w + WATTS_EPSILON &&
	       !may_raise(a, d, false, target_w);
}

static const KnobInForce *next_knob(const Account *a, const DeviceInForce *d, bool raising)
{
	for (size_t i = 0; i < a->in->n_knobs; i++) {
		const KnobInForce *k = &d->knobs[i];

		if (is_its_turn(a->in, d, k) && raises(d, k) == raising &&
		    !(raising ? too_soon(a->in, d, k) : waits_for_raise(a, d, k)))
			return k;
	}
	return NULL;
}

static void charge(Account *a, const DeviceInForce *d, const KnobInForce *k, double after_w)
{
	a->sum_w += after_w - d->cap_w;
	if (d->group < a->in->n_groups)
		a->risen_w[d->group] += after_w - d->cap_w;
	if (!wakes(d, k))
		return;
	a->spin_ups.n++;
	a->spin_ups.watts += wake_w(d);
}

static bool admit_one(Account *a, size_t device, bool raising, Admitted *ret)
{
	const DeviceInForce *d = &a->in->devices[device];
	const KnobInForce *k = next_knob(a, d, raising);
	double after_w;

	if (!k)
		return false;
	after_w = cap_after_w(d, k);
	if (wakes(d, k))
		after_w = MAX(after_w, wake_w(d));
	if (raising && !may_raise(a, d, wakes(d, k), after_w))
		return false;
	if (raising)
		charge(a, d, k, after_w);
	*ret = (Admitted){ .device = device,
			   .knob = (size_t)(k - d->knobs),
			   .raises = raising,
			   .wakes = wakes(d, k),
			   .stops = stops(d, k),
			   .wears = wears(d, k) };
	return true;
}

size_t admit(const InForce *f, Admitted *ret)
{
	double risen_w[f->n_groups + 1];
	bool taken[f->n_devices + 1];
	Account a = { .in = f, .spin_ups = f->spin_ups, .risen_w = risen_w };
	size_t n = 0;

	for (size_t i = 0; i < f->n_groups; i++)
		risen_w[i] = 0;
	memset(taken, false, sizeof(taken));
	for (size_t i = 0; i < f->n_devices; i++)
		a.sum_w += f->devices[i].cap_w;
	for (unsigned raising = 0; raising < 2; raising++)
		for (size_t i = 0; i < f->n_devices; i++)
			if (!taken[i] && !f->devices[i].busy &&
			    admit_one(&a, i, raising, &ret[n])) {
				taken[i] = true;
				n++;
			}
	return n;
}
