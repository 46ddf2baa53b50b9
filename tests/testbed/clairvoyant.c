/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The best is a linear program, maximise sum(e*s) subject to sum(W(s)) <= B and s <= D, where W is
 * convex: the pieces of all curves are taken by what a watt gives. Its optimum is concave in D and
 * in B. So the optimum of a second's means is no less than the mean of that second's optima. */

#include "clairvoyant.h"

#include <math.h>

/* As in policies/balanced.policy and daemon/plan/plan-value.c. */
#define FLOOR   0.25
#define EPSILON 0.05

#define LEAST_PRICE 1e-4 /* of a watt */
#define MOST_PRICE  1e5
#define BISECTIONS  40

typedef struct Load {
	double mb_s;         /* that come to the device */
	double served_bytes; /* ever */
} Load;

typedef struct Segment {
	double watts, joules_per_mb, mb_s;
} Segment;

struct Clairvoyant {
	SimNode *node;
	TrueCurve *curves;
	Load *loads;
	Segment *segments;
	size_t n, n_segments;
	uint64_t seen_us;
};

static double served_bytes(SimDevice *d)
{
	double bytes;

	sim_device_advance_locked(d);
	bytes = d->record->truth.account.served_bytes;
	sim_record_unlock(d->record);
	return bytes;
}

Clairvoyant *clairvoyant_new(Inventory *node)
{
	SimNode *n = sim_node_of(node);
	_cleanup_(clairvoyant_freep) Clairvoyant *c = calloc(1, sizeof(*c));
	size_t most = 0;

	if (!c)
		return NULL;
	c->node = n;
	c->seen_us = clock_now_us(n->clock);
	c->curves = calloc(n->n_devices + 1, sizeof(*c->curves));
	c->loads = calloc(n->n_devices + 1, sizeof(*c->loads));
	if (!c->curves || !c->loads)
		return NULL;
	for (; c->n < n->n_devices; c->n++) {
		SimDevice *d = n->devices[c->n];

		if (true_curve_init(&c->curves[c->n], d) < 0) {
			true_curve_done(&c->curves[c->n]);
			return NULL;
		}
		c->loads[c->n].served_bytes = served_bytes(d);
		most += 2 * c->curves[c->n].n_options + 1;
	}
	c->segments = calloc(most + 1, sizeof(*c->segments));
	return c->segments ? TAKE_PTR(c) : NULL;
}

Clairvoyant *clairvoyant_free(Clairvoyant *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n; i++)
		true_curve_done(&c->curves[i]);
	free(c->curves);
	free(c->loads);
	free(c->segments);
	free(c);
	return NULL;
}

/* A cache above it holds what it is asked for. */
static bool is_cached(const TrueCurve *c)
{
	return c->device->nature.cache_bytes > 0;
}

static int dearer_last(const void *a, const void *b)
{
	const Segment *x = a, *y = b;
	double left = x->watts * y->joules_per_mb * y->mb_s;
	double right = y->watts * x->joules_per_mb * x->mb_s;

	return (left > right) - (left < right);
}

/* The parts of all curves up to what is asked for; returns the watts without any. */
static double list_segments(Clairvoyant *c)
{
	double watts = 0;

	c->n_segments = 0;
	for (size_t i = 0; i < c->n; i++) {
		const TrueHull *h = &c->curves[i].any;

		watts += h->points[0].watts;
		for (size_t k = 1; k < h->n && h->points[k - 1].mb_s < c->loads[i].mb_s; k++) {
			TruePoint from = h->points[k - 1], to = h->points[k];
			double part = (fmin(to.mb_s, c->loads[i].mb_s) - from.mb_s) /
				      (to.mb_s - from.mb_s);

			c->segments[c->n_segments++] = (Segment){ part * (to.watts - from.watts),
								  c->curves[i].joules_per_mb,
								  part * (to.mb_s - from.mb_s) };
		}
	}
	qsort(c->segments, c->n_segments, sizeof(*c->segments), dearer_last);
	return watts;
}

/* Watts of satisfaction for the watts. */
static double best_within(const Clairvoyant *c, double room_w)
{
	double sum = 0;

	for (size_t i = 0; i < c->n_segments && room_w > 0; i++) {
		const Segment *s = &c->segments[i];
		double part = s->watts > room_w ? room_w / s->watts : 1;

		sum += part * s->joules_per_mb * s->mb_s;
		room_w -= s->watts;
	}
	return sum;
}

static const TrueHull *fair_hull(const Clairvoyant *c, size_t i)
{
	return c->loads[i].mb_s > 0 ? &c->curves[i].awake : &c->curves[i].any;
}

static double watts_for(const TrueHull *h, double mb_s)
{
	for (size_t k = 1; k < h->n; k++) {
		TruePoint from = h->points[k - 1], to = h->points[k];

		if (mb_s <= to.mb_s)
			return from.watts +
			       (to.watts - from.watts) * (mb_s - from.mb_s) / (to.mb_s - from.mb_s);
	}
	return h->points[h->n - 1].watts;
}

/* Where one more MB/s is worth R/(D*(x + epsilon)) and costs its watts at that price. */
static double fair_mb_s(const Clairvoyant *c, size_t i, double price, double floor)
{
	const TrueHull *h = fair_hull(c, i);
	double asked = c->loads[i].mb_s, mb_s = 0;

	for (size_t k = 1; k < h->n && mb_s < asked; k++) {
		TruePoint from = h->points[k - 1], to = h->points[k];
		double slope = (to.watts - from.watts) / (to.mb_s - from.mb_s);
		double wanted = asked * (c->curves[i].joules_per_mb / (price * slope) - EPSILON);
		double end = fmin(to.mb_s, asked);

		if (wanted > mb_s)
			mb_s = fmin(wanted, end);
		if (mb_s < end)
			break;
	}
	return fmax(mb_s, floor * asked);
}

/* ret_satisfied may be NULL. */
static double fair_watts(const Clairvoyant *c, double price, double floor, double *ret_satisfied)
{
	double watts = 0, satisfied = 0;

	for (size_t i = 0; i < c->n; i++) {
		double mb_s = fair_mb_s(c, i, price, floor);

		watts += watts_for(fair_hull(c, i), mb_s);
		satisfied += c->curves[i].joules_per_mb * mb_s;
	}
	if (ret_satisfied)
		*ret_satisfied = satisfied;
	return watts;
}

/* NAN: the drives draw more awake. */
static double fair_within(const Clairvoyant *c, double budget_w, bool *ret_floors)
{
	double dear = MOST_PRICE, cheap = LEAST_PRICE, floor = FLOOR, satisfied;

	for (int i = 0; i < BISECTIONS && fair_watts(c, dear, floor, NULL) > budget_w; i++)
		floor = i + 1 < BISECTIONS ? floor * 0.8 : 0;
	*ret_floors = floor >= FLOOR;
	if (fair_watts(c, dear, floor, NULL) > budget_w)
		return NAN;
	for (int i = 0; i < BISECTIONS; i++) {
		double price = sqrt(dear * cheap);

		*(fair_watts(c, price, floor, NULL) > budget_w ? &cheap : &dear) = price;
	}
	fair_watts(c, dear, floor, &satisfied);
	return satisfied;
}

/* Adds what is asked for, what was served, and what caches hold. */
static double look_at_load(Clairvoyant *c, uint64_t now_us, Satisfaction *sum)
{
	double seconds = (double)(now_us - c->seen_us) / USEC_PER_SEC, held = 0;

	for (size_t i = 0; i < c->n; i++) {
		TrueCurve *curve = &c->curves[i];
		double bytes = served_bytes(curve->device), asked, served;

		true_curve_advance(curve, c->seen_us);
		asked = true_curve_demand(curve, c->seen_us, now_us);
		served = (bytes - c->loads[i].served_bytes) / 1e6 / seconds;
		sum->asked += curve->joules_per_mb * asked * seconds;
		sum->served += curve->joules_per_mb * fmin(served, asked) * seconds;
		held += is_cached(curve) ? curve->joules_per_mb * asked : 0;
		c->loads[i] = (Load){ is_cached(curve) ? 0 : asked, bytes };
	}
	return held;
}

void clairvoyant_look(Clairvoyant *c, double budget_w, double above_w, Satisfaction *sum)
{
	uint64_t now_us = clock_now_us(c->node->clock);
	double seconds = (double)(now_us - c->seen_us) / USEC_PER_SEC, held, least_w;
	bool floors;

	if (now_us <= c->seen_us)
		return;
	held = look_at_load(c, now_us, sum);
	least_w = list_segments(c);
	sum->best += (held + best_within(c, budget_w - least_w)) * seconds;
	sum->granted += (held + best_within(c, budget_w + above_w - least_w)) * seconds;
	sum->fair += (held + fair_within(c, budget_w, &floors)) * seconds;
	sum->unfair_s += floors ? 0 : seconds;
	c->seen_us = now_us;
}
