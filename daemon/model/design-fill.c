/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The grid of a design, and what of it is measured first. */

#include <errno.h>
#include <math.h>

#include "base/splitmix.h"
#include "model/design-private.h"

#define BEGIN_SHARE  3   /* one run in so many fills the space: it shows what no law foresees */
#define STREAM_APART 0.5 /* streams count less than the other coordinates for filling */

static bool axis_rises(const DesignGrid *g)
{
	for (size_t i = 1; i < g->n_states; i++)
		if (g->states[i] <= g->states[i - 1])
			return false;
	for (size_t i = 1; i < g->n_depths; i++)
		if (g->depths[i] <= g->depths[i - 1])
			return false;
	for (size_t i = 1; i < g->n_chunks; i++)
		if (g->chunks_kib[i] <= g->chunks_kib[i - 1])
			return false;
	return g->depths[0] > 0 && g->chunks_kib[0] > 0;
}

bool design_grid_valid(const DesignGrid *g)
{
	const size_t n[] = { g->n_states, g->n_depths, g->n_chunks, g->n_streams };

	for (size_t i = 0; i < ELEMENTSOF(n); i++)
		if (n[i] == 0 || n[i] > DESIGN_AXIS_MAX)
			return false;
	return axis_rises(g);
}

DesignPlace design_place_of(const Design *d, size_t candidate)
{
	const DesignGrid *g = &d->grid;
	DesignPlace p;

	p.stream = candidate % g->n_streams;
	candidate /= g->n_streams;
	p.chunk = candidate % g->n_chunks;
	candidate /= g->n_chunks;
	p.depth = candidate % g->n_depths;
	p.state = candidate / g->n_depths;
	return p;
}

size_t design_candidate_of(const Design *d, const DesignPlace *p)
{
	const DesignGrid *g = &d->grid;

	return ((p->state * g->n_depths + p->depth) * g->n_chunks + p->chunk) * g->n_streams +
	       p->stream;
}

static double on_scale(double v, double from, double to)
{
	return to > from ? (v - from) / (to - from) : 0;
}

/* The order of the states tells more than their numbers, of which some serve no IO. */
static size_t nearest_state(const DesignGrid *g, int state)
{
	size_t i = 0;

	while (i + 1 < g->n_states && g->states[i] < state)
		i++;
	return i;
}

/* A mix is like the one of its pattern that is nearest. */
static double stream_apart(const DesignStream *s, const Point *p)
{
	return fabs(s->read_share - p->read_share) + (s->pattern != p->pattern ? 1 : 0);
}

static size_t nearest_stream(const DesignGrid *g, const Point *p)
{
	size_t nearest = 0;

	for (size_t i = 1; i < g->n_streams; i++)
		if (stream_apart(&g->streams[i], p) < stream_apart(&g->streams[nearest], p))
			nearest = i;
	return nearest;
}

DrivePlace design_drive_place(const Design *d, const Point *p)
{
	const DesignGrid *g = &d->grid;
	const size_t state = nearest_state(g, p->power_state);

	return (DrivePlace){
		.law = { p->depth, p->chunk_kib, nearest_stream(g, p), state },
		.at = { on_scale(log2(p->depth), log2(g->depths[0]),
				 log2(g->depths[g->n_depths - 1])),
			on_scale(log2(p->chunk_kib), log2(g->chunks_kib[0]),
				 log2(g->chunks_kib[g->n_chunks - 1])),
			p->read_share, p->pattern == SEQUENTIAL_IO,
			on_scale((double)state, 0, (double)(g->n_states - 1)) },
	};
}

/* The square. */
static double apart(const Design *d, size_t a, size_t b)
{
	const Point p = design_point(d, a), q = design_point(d, b);
	const DrivePlace x = design_drive_place(d, &p), y = design_drive_place(d, &q);
	const double weight[DRIVE_COORDINATES] = { 1, 1, STREAM_APART, STREAM_APART, 1 };
	double sum = 0;

	for (size_t i = 0; i < DRIVE_COORDINATES; i++)
		sum += pow((x.at[i] - y.at[i]) * weight[i], 2);
	return sum;
}

static double draw(uint64_t *chance)
{
	*chance += SPLITMIX_STEP;
	return (double)(splitmix(*chance) >> 11) * 0x1p-53;
}

static void add_to_order(Design *d, size_t candidate, double *nearest)
{
	d->order[d->n_order++] = candidate;
	for (size_t i = 0; i < d->n_candidates; i++)
		nearest[i] = MIN(nearest[i], apart(d, i, candidate));
}

/* Every other corner of each stream, and of the next stream the others. */
static void fill_corners(Design *d, size_t most, double *nearest)
{
	const DesignGrid *g = &d->grid;

	for (size_t stream = 0; stream < g->n_streams; stream++)
		for (unsigned corner = 0; corner < 8; corner++) {
			const DesignPlace p = { (corner & 1) * (g->n_states - 1),
						(corner >> 1 & 1) * (g->n_depths - 1),
						(corner >> 2) * (g->n_chunks - 1), stream };
			size_t candidate = design_candidate_of(d, &p);

			if ((size_t)__builtin_parity(corner) == stream % 2 && d->n_order < most &&
			    nearest[candidate] > 0)
				add_to_order(d, candidate, nearest);
		}
}

/* Then whatever of the first `candidates` is farthest from all that were taken; by lot where many
 * are. */
static void fill_space(Design *d, size_t candidates, size_t most, double *nearest, uint64_t *chance)
{
	while (d->n_order < most) {
		size_t best = d->n_candidates;
		double farthest = 0;

		for (size_t i = 0; i < candidates; i++) {
			double far = nearest[i] * (1 + 1e-3 * draw(chance));

			if (far > farthest) {
				farthest = far;
				best = i;
			}
		}
		if (best == d->n_candidates)
			break;
		add_to_order(d, best, nearest);
	}
}

/* So that a drive that warms up is not taken for a coordinate. */
static void shuffle(Design *d, uint64_t *chance)
{
	for (size_t i = d->n_order; i > 1; i--) {
		size_t other = (size_t)(draw(chance) * (double)i);
		size_t taken = d->order[i - 1];

		d->order[i - 1] = d->order[other];
		d->order[other] = taken;
	}
}

int design_begin(Design *d, uint64_t seed)
{
	size_t most = MAX(d->goal.runs / BEGIN_SHARE, MIN(d->goal.runs, (size_t)4));
	_cleanup_free_ double *nearest = calloc(d->n_candidates, sizeof(*nearest));

	d->order = calloc(d->n_candidates, sizeof(*d->order));
	if (!nearest || !d->order)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_candidates; i++)
		nearest[i] = INFINITY;
	fill_corners(d, most, nearest);
	/* candidates of one state follow each other: what the highest tells counts for all */
	fill_space(d, d->n_candidates / d->grid.n_states, most * 2 / 3, nearest, &seed);
	fill_space(d, d->n_candidates, most, nearest, &seed);
	shuffle(d, &seed);
	return 0;
}
