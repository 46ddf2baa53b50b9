/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/surface.h"

#include <math.h>
#include <string.h>

#include "model/service.h"

/* An error grows by so much where a value comes from ratios of other points, from outside the
 * points' range, or from points of another direction or pattern. */
#define WIDER_BY_RATIO    1.5
#define WIDER_OUTSIDE     1.5
#define WIDER_BY_STAND_IN 2.0

static void axis_add(double *axis, unsigned *n, double value)
{
	unsigned i = 0;

	while (i < *n && axis[i] < value)
		i++;
	if ((i < *n && axis[i] == value) || *n == AXIS_MAX)
		return;
	memmove(&axis[i + 1], &axis[i], (*n - i) * sizeof(*axis));
	axis[i] = value;
	(*n)++;
}

static int axis_find(const double *axis, unsigned n, double value)
{
	for (unsigned i = 0; i < n; i++)
		if (axis[i] == value)
			return (int)i;
	return -1;
}

static Cell mix_cells(const Cell *a, const Cell *b, double t)
{
	return (Cell){
		.dynamic_w = a->dynamic_w + t * (b->dynamic_w - a->dynamic_w),
		.mb_s = a->mb_s + t * (b->mb_s - a->mb_s),
		.alone_mb_s = a->alone_mb_s + t * (b->alone_mb_s - a->alone_mb_s),
		.most_mb_s = a->most_mb_s + t * (b->most_mb_s - a->most_mb_s),
		.deviation = a->deviation + t * (b->deviation - a->deviation),
		.tail = a->tail + t * (b->tail - a->tail),
		.error = a->error + t * (b->error - a->error),
		.estimated = (t < 1 && a->estimated) || (t > 0 && b->estimated),
	};
}

/* Part t of the way from a cell to one that is so many doublings deeper. No IO is served sooner
 * because others wait beside it: twice the depth gives twice the throughput at most, or as much
 * more as the points say. */
static Cell deepen(const Cell *low, const Cell *high, double doublings, double t)
{
	double growth, most_mb_s, bounded = t;
	Cell c;

	if (low->mb_s > 0 && high->mb_s > low->mb_s) {
		growth = MAX(doublings, log2(high->mb_s / low->mb_s));
		most_mb_s = low->mb_s * exp2(t * growth);
		bounded = MIN(t, (most_mb_s - low->mb_s) / (high->mb_s - low->mb_s));
	}
	c = mix_cells(low, high, bounded);
	c.tail = low->tail + t * (high->tail - low->tail);
	return c;
}

typedef struct Known {
	bool is[AXIS_MAX][AXIS_MAX];
} Known;

/* Between two known cells of the same chunk. */
static bool fill_along_depth(Surface *s, const Known *k, unsigned i, unsigned j)
{
	int lo = (int)i, hi = (int)i;

	while (lo >= 0 && !k->is[lo][j])
		lo--;
	while (hi < (int)s->n_depths && !k->is[hi][j])
		hi++;
	if (lo < 0 || hi == (int)s->n_depths)
		return false;
	s->cell[i][j] = deepen(&s->cell[lo][j], &s->cell[hi][j], s->depth[hi] - s->depth[lo],
			       (s->depth[i] - s->depth[lo]) / (s->depth[hi] - s->depth[lo]));
	return true;
}

/* Between two known cells of the same depth. */
static bool fill_along_chunk(Surface *s, const Known *k, unsigned i, unsigned j)
{
	int lo = (int)j, hi = (int)j;

	while (lo >= 0 && !k->is[i][lo])
		lo--;
	while (hi < (int)s->n_chunks && !k->is[i][hi])
		hi++;
	if (lo < 0 || hi == (int)s->n_chunks)
		return false;
	s->cell[i][j] = mix_cells(&s->cell[i][lo], &s->cell[i][hi],
				  (s->chunk[j] - s->chunk[lo]) / (s->chunk[hi] - s->chunk[lo]));
	return true;
}

static double ratio(double a, double b, double pivot)
{
	return pivot > 0 ? a * b / pivot : MIN(a, b);
}

/* Fills a cell from a cross of points: depth and chunk each act as a factor, measured from the
 * pivot that they share. The pivot of the highest depth and chunk is the surest. */
static bool fill_by_ratio(Surface *s, const Known *k, unsigned i, unsigned j)
{
	for (int pi = (int)s->n_depths - 1; pi >= 0; pi--) {
		for (int pj = (int)s->n_chunks - 1; pj >= 0; pj--) {
			const Cell *a = &s->cell[i][pj], *b = &s->cell[pi][j],
				   *pivot = &s->cell[pi][pj];

			if (!k->is[i][pj] || !k->is[pi][j] || !k->is[pi][pj])
				continue;
			s->cell[i][j] = (Cell){
				.dynamic_w = ratio(a->dynamic_w, b->dynamic_w, pivot->dynamic_w),
				.mb_s = ratio(a->mb_s, b->mb_s, pivot->mb_s),
				.tail = NAN,
				.error = WIDER_BY_RATIO * MAX(a->error, b->error),
				.estimated = true,
			};
			return true;
		}
	}
	return false;
}

/* Without a line or a cross, the nearest point is all that is known. */
static bool fill_nearest(Surface *s, const Known *k, unsigned i, unsigned j)
{
	double nearest = INFINITY;

	for (unsigned a = 0; a < s->n_depths; a++)
		for (unsigned b = 0; b < s->n_chunks; b++) {
			double d =
				fabs(s->depth[a] - s->depth[i]) + fabs(s->chunk[b] - s->chunk[j]);

			if (!k->is[a][b] || d >= nearest)
				continue;
			nearest = d;
			s->cell[i][j] = s->cell[a][b];
		}
	s->cell[i][j].error *= WIDER_BY_STAND_IN;
	s->cell[i][j].estimated = true;
	return true;
}

static void fill_unknown(Surface *s, Known *k)
{
	static bool (*const ways[])(Surface *, const Known *, unsigned, unsigned) = {
		fill_along_depth,
		fill_along_chunk,
		fill_by_ratio,
		fill_nearest,
	};
	const Known given = *k;

	for (size_t way = 0; way < ELEMENTSOF(ways); way++)
		for (unsigned i = 0; i < s->n_depths; i++)
			for (unsigned j = 0; j < s->n_chunks; j++)
				if (!k->is[i][j])
					k->is[i][j] = ways[way](s, &given, i, j);
}

static void compute_reach(Surface *s, double idle_w)
{
	for (unsigned i = 0; i < s->n_depths; i++)
		for (unsigned j = 0; j < s->n_chunks; j++) {
			const Cell *c = &s->cell[i][j];
			double w = (idle_w + c->dynamic_w) * (1 + c->error);

			if (i > 0)
				w = MAX(w, s->reach_w[i - 1][j]);
			if (j > 0)
				w = MAX(w, s->reach_w[i][j - 1]);
			s->reach_w[i][j] = w;
		}
}

static double servers_of(const Cell *c, double depth)
{
	return CLAMP(c->most_mb_s / c->alone_mb_s, 1.0, depth);
}

/* NAN: it was not measured. By Little's law the mean is depth over IOs a second. */
static double tail_of(const Point *p)
{
	return p->p99_us > 0 && p->iops > 0 ? p->p99_us * p->iops / 1e6 / p->depth : NAN;
}

/* The tails of points, which are the whole tails so far, become what the closed form leaves of
 * them; it stands alone where none was measured. */
static void describe_waits(Surface *s, const Profile *p, Direction d, Pattern t)
{
	for (unsigned j = 0; j < s->n_chunks; j++) {
		double deviation = service_deviation(p, d, t, exp2(s->chunk[j]), &(bool){ false });
		double most_mb_s = 0;

		for (unsigned i = 0; i < s->n_depths; i++)
			most_mb_s = MAX(most_mb_s, s->cell[i][j].mb_s);
		for (unsigned i = 0; i < s->n_depths; i++) {
			Cell *c = &s->cell[i][j];
			double depth = exp2(s->depth[i]);

			c->alone_mb_s = s->cell[0][j].mb_s;
			c->most_mb_s = most_mb_s;
			c->deviation = deviation;
			c->tail = isnan(c->tail)
					  ? 1
					  : c->tail / service_tail(depth, servers_of(c, depth),
								   deviation);
		}
	}
}

static bool surface_build(Surface *s, const Profile *p, int state, Direction d, Pattern t,
			  double wider)
{
	Known known = {};

	s->n_depths = s->n_chunks = 0;
	for (const Point *q = p->points; q < p->points + p->n_points; q++)
		if (q->power_state == state && q->direction == d && q->pattern == t) {
			axis_add(s->depth, &s->n_depths, log2(q->depth));
			axis_add(s->chunk, &s->n_chunks, log2(q->chunk_kib));
		}
	if (s->n_depths == 0)
		return false;
	for (const Point *q = p->points; q < p->points + p->n_points; q++) {
		int i = axis_find(s->depth, s->n_depths, log2(q->depth));
		int j = axis_find(s->chunk, s->n_chunks, log2(q->chunk_kib));

		if (q->power_state != state || q->direction != d || q->pattern != t || i < 0 ||
		    j < 0)
			continue;
		known.is[i][j] = true;
		s->cell[i][j] = (Cell){
			.dynamic_w = MAX(q->watts - p->idle_w, 0),
			.mb_s = q->mb_s,
			.tail = tail_of(q),
			.error = (q->error > 0 ? q->error : p->error) * wider,
			.estimated = q->estimated || wider > 1,
		};
	}
	s->smallest_kib = exp2(s->chunk[0]);
	fill_unknown(s, &known);
	describe_waits(s, p, d, t);
	compute_reach(s, p->idle_w);
	return true;
}

/* Uses the state's own points, else state 0's, else those of the other pattern, then of the other
 * direction. Returns whether they are the state's own. */
static bool surface_find(Surface *s, const Profile *p, int state, Direction d, Pattern t)
{
	Direction other_d = d == READ_IO ? WRITE_IO : READ_IO;
	Pattern other_t = t == RANDOM_IO ? SEQUENTIAL_IO : RANDOM_IO;

	if (surface_build(s, p, state, d, t, 1))
		return true;
	if (!(state != 0 && surface_build(s, p, 0, d, t, 1)) &&
	    !surface_build(s, p, 0, d, other_t, WIDER_BY_STAND_IN) &&
	    !surface_build(s, p, 0, other_d, t, WIDER_BY_STAND_IN))
		surface_build(s, p, 0, other_d, other_t, WIDER_BY_STAND_IN);
	return false;
}

void state_model_build(StateModel *m, const Profile *p, int power_state)
{
	int state = power_state > 0 && power_state < PROFILE_STATES_MAX ? power_state : 0;
	const PowerState *ps = &p->states[state];
	bool own = true;

	if (power_state >= 0 && ps->present && !ps->operational)
		state = 0;
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			own &= surface_find(&m->surface[d][t], p, state, d, t);
	m->profile = p;
	m->ceiling_w = power_state > 0 && ps->present && ps->operational ? ps->max_w : INFINITY;
	m->exit_us = power_state >= 0 && ps->present && !ps->operational ? ps->exit_us : 0;
	if (own)
		m->ceiling_w = INFINITY;
}

typedef struct Place {
	unsigned at; /* between this node and the next */
	double t;
	bool outside;
} Place;

static Place place(const double *axis, unsigned n, double v)
{
	Place p = { 0, 0, v < axis[0] || v > axis[n - 1] };

	if (n == 1 || v <= axis[0])
		return p;
	if (v >= axis[n - 1])
		return (Place){ n - 2, 1, p.outside };
	while (p.at + 2 < n && v >= axis[p.at + 1])
		p.at++;
	p.t = (v - axis[p.at]) / (axis[p.at + 1] - axis[p.at]);
	return p;
}

static void shrink(Cell *c, double factor)
{
	c->mb_s *= factor;
	c->alone_mb_s *= factor;
	c->most_mb_s *= factor;
}

void surface_at(const Surface *s, double depth, double chunk_kib, Cell *ret)
{
	Place d = place(s->depth, s->n_depths, log2(depth));
	Place c = place(s->chunk, s->n_chunks, log2(chunk_kib));
	unsigned d2 = MIN(d.at + 1, s->n_depths - 1), c2 = MIN(c.at + 1, s->n_chunks - 1);
	Cell low = mix_cells(&s->cell[d.at][c.at], &s->cell[d.at][c2], c.t);
	Cell high = mix_cells(&s->cell[d2][c.at], &s->cell[d2][c2], c.t);

	*ret = deepen(&low, &high, s->depth[d2] - s->depth[d.at], d.t);
	if (d.outside || c.outside) {
		ret->error *= WIDER_OUTSIDE;
		ret->estimated = true;
	}
	/* IOs smaller than any measured come as often, with fewer bytes */
	if (chunk_kib < s->smallest_kib)
		shrink(ret, chunk_kib / s->smallest_kib);
}

double surface_most_w(const Surface *s)
{
	double most_w = 0;

	for (unsigned i = 0; i < s->n_depths; i++)
		for (unsigned j = 0; j < s->n_chunks; j++)
			most_w = MAX(most_w, s->cell[i][j].dynamic_w);
	return most_w;
}

/* reach_w rises along both axes and is nowhere below a cell, so its interpolation bounds every cell
 * and every interpolated value at or below this depth and chunk. */
static double surface_reach(const Surface *s, unsigned depth, unsigned chunk_kib)
{
	Place d = place(s->depth, s->n_depths, depth ? log2(depth) : INFINITY);
	Place c = place(s->chunk, s->n_chunks, chunk_kib ? log2(chunk_kib) : INFINITY);
	unsigned d2 = MIN(d.at + 1, s->n_depths - 1), c2 = MIN(c.at + 1, s->n_chunks - 1);
	const double *low = s->reach_w[d.at], *high = s->reach_w[d2];
	double a = low[c.at] + c.t * (low[c2] - low[c.at]);
	double b = high[c.at] + c.t * (high[c2] - high[c.at]);

	return a + d.t * (b - a);
}

double state_model_reach(const StateModel *m, unsigned depth, unsigned chunk_kib)
{
	double most = 0;

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++) {
			const Surface *s = &m->surface[d][t];

			if (s->n_depths == 0)
				return INFINITY;
			most = MAX(most, surface_reach(s, depth, chunk_kib));
		}
	return most;
}
