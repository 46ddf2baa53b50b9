/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The best is a linear program, maximise sum(e*s) subject to sum(W(s)) <= B and s <= D, where W is
 * convex: the pieces of all curves are taken by what a watt gives. W goes straight from asleep to
 * the awake curve, so that one device at most is half asleep, which none can be: so much he is
 * above what could be done. Since its optimum is concave in B, means over a second do for watts; D
 * is the most that is asked for in it. */

#include "clairvoyant.h"

#include <math.h>

/* As in policies/balanced.policy and daemon/plan/plan-value.c. */
#define FLOOR   0.25
#define EPSILON 0.05

#define LEAST_PRICE 1e-4 /* of a watt */
#define MOST_PRICE  1e5
#define BISECTIONS  40

typedef struct Load {
	double mb_s, most;   /* that come to the device: the mean of the second, its highest */
	double served_bytes; /* ever */
	double drawn_w;      /* at the end of it */
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

static double served_bytes(SimDevice *d, double *ret_drawn_w)
{
	double bytes;

	sim_device_advance_locked(d);
	bytes = d->record->truth.account.served_bytes;
	*ret_drawn_w = d->record->truth.rates.watts;
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
		c->loads[c->n].served_bytes = served_bytes(d, &c->loads[c->n].drawn_w);
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

static void add_segment(Clairvoyant *c, size_t i, TruePoint from, TruePoint to)
{
	c->segments[c->n_segments++] =
		(Segment){ to.watts - from.watts, c->curves[i].joules_per_mb, to.mb_s - from.mb_s };
}

/* The index-th corner of the curve, cut at what is asked for. */
static TruePoint corner(const Clairvoyant *c, size_t i, size_t index)
{
	const TrueHull *h = &c->curves[i].awake;
	double most = c->loads[i].most;

	if (h->points[index].mb_s <= most)
		return h->points[index];
	return (TruePoint){ most, true_hull_watts(h, most) };
}

static size_t corners(const Clairvoyant *c, size_t i)
{
	const TrueHull *h = &c->curves[i].awake;
	size_t n = 1;

	while (n < h->n && h->points[n - 1].mb_s < c->loads[i].most)
		n++;
	return n;
}

/* From asleep to where that takes the least watts a MB/s, and on along the awake curve. */
static void add_curve(Clairvoyant *c, size_t i)
{
	TruePoint asleep = { 0, c->curves[i].least_w }, to;
	size_t n = corners(c, i), first = 1;
	double least = INFINITY;

	for (size_t k = 1; k < n; k++) {
		double slope;

		to = corner(c, i, k);
		slope = (to.watts - asleep.watts) / to.mb_s;
		if (slope < least) {
			least = slope;
			first = k;
		}
	}
	if (n > 1)
		add_segment(c, i, asleep, corner(c, i, first));
	for (size_t k = first + 1; k < n; k++)
		add_segment(c, i, corner(c, i, k - 1), corner(c, i, k));
}

/* Of all curves; returns the watts without any. */
static double list_segments(Clairvoyant *c)
{
	double watts = 0;

	c->n_segments = 0;
	for (size_t i = 0; i < c->n; i++) {
		watts += c->curves[i].least_w;
		add_curve(c, i);
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

/* Where one more MB/s is worth R/(D*(x + epsilon)) and costs its watts at that price. */
static double fair_mb_s(const Clairvoyant *c, size_t i, double price, double floor)
{
	const TrueHull *h = &c->curves[i].awake;
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

/* What he shares: watts; does he know who will be asked for nothing, and have them sleep at once?
 */
typedef struct Means {
	double watts;
	bool sleeps;
} Means;

static double unused_w(const Clairvoyant *c, size_t i, bool sleeps)
{
	return sleeps ? c->curves[i].least_w : c->loads[i].drawn_w;
}

/* ret_satisfied may be NULL. */
static double fair_watts(const Clairvoyant *c, bool sleeps, double price, double floor,
			 double *ret_satisfied)
{
	double watts = 0, satisfied = 0;

	for (size_t i = 0; i < c->n; i++) {
		double mb_s = fair_mb_s(c, i, price, floor);

		watts += c->loads[i].mb_s > 0 ? true_hull_watts(&c->curves[i].awake, mb_s)
					      : unused_w(c, i, sleeps);
		satisfied += c->curves[i].joules_per_mb * mb_s;
	}
	if (ret_satisfied)
		*ret_satisfied = satisfied;
	return watts;
}

/* NAN: the drives draw more awake. */
static double fair_within(const Clairvoyant *c, Means m, bool *ret_floors)
{
	double dear = MOST_PRICE, cheap = LEAST_PRICE, floor = FLOOR, satisfied;

	for (int i = 0; i < BISECTIONS && fair_watts(c, m.sleeps, dear, floor, NULL) > m.watts; i++)
		floor = i + 1 < BISECTIONS ? floor * 0.8 : 0;
	*ret_floors = floor >= FLOOR;
	if (fair_watts(c, m.sleeps, dear, floor, NULL) > m.watts)
		return NAN;
	for (int i = 0; i < BISECTIONS; i++) {
		double price = sqrt(dear * cheap);

		*(fair_watts(c, m.sleeps, price, floor, NULL) > m.watts ? &cheap : &dear) = price;
	}
	fair_watts(c, m.sleeps, dear, floor, &satisfied);
	return satisfied;
}

typedef struct Looked {
	double seconds, asked, held; /* MB/s by their joules; what caches hold of them */
} Looked;

/* Adds what is asked for and what was served. */
static Looked look_at_load(Clairvoyant *c, uint64_t now_us, Satisfaction *sum)
{
	Looked l = { .seconds = (double)(now_us - c->seen_us) / USEC_PER_SEC };

	for (size_t i = 0; i < c->n; i++) {
		TrueCurve *curve = &c->curves[i];
		double drawn_w, bytes = served_bytes(curve->device, &drawn_w), asked, served, most;

		true_curve_advance(curve, c->seen_us);
		asked = true_curve_demand(curve, c->seen_us, now_us, &most);
		served = (bytes - c->loads[i].served_bytes) / 1e6 / l.seconds;
		sum->served += curve->joules_per_mb * fmin(served, asked) * l.seconds;
		l.asked += curve->joules_per_mb * asked;
		l.held += is_cached(curve) ? curve->joules_per_mb * asked : 0;
		c->loads[i] = (Load){ .served_bytes = bytes, .drawn_w = drawn_w };
		if (!is_cached(curve))
			c->loads[i] = (Load){ asked, most, bytes, drawn_w };
	}
	sum->asked += l.asked * l.seconds;
	return l;
}

static double best_of(const Clairvoyant *c, const Looked *l, double room_w)
{
	return fmin(l->held + best_within(c, room_w), l->asked) * l->seconds;
}

void clairvoyant_look(Clairvoyant *c, Drawn d, Satisfaction *sum)
{
	uint64_t now_us = clock_now_us(c->node->clock);
	bool floors, ignored;
	double least_w;
	Looked l;

	if (now_us <= c->seen_us)
		return;
	l = look_at_load(c, now_us, sum);
	least_w = list_segments(c);
	sum->best += best_of(c, &l, d.budget_w - least_w);
	sum->granted += best_of(c, &l, d.budget_w + d.above_w - least_w);
	sum->fair += (l.held + fair_within(c, (Means){ d.budget_w, true }, &floors)) * l.seconds;
	sum->fair_drawn +=
		(l.held + fair_within(c, (Means){ d.budget_w - d.left_w, false }, &ignored)) *
		l.seconds;
	sum->unfair_s += floors ? 0 : l.seconds;
	c->seen_us = now_us;
}

double clairvoyant_joules_per_mb(const Clairvoyant *c, size_t index)
{
	return c->curves[index].joules_per_mb;
}
