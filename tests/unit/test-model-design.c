/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A quarter of all settings, well chosen, tells the others. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "cases.h"
#include "hidden-drive.h"
#include "model/design.h"
#include "model/gauss.h"

#define NOISE 0.015

static const DesignGrid grid = {
	.states = { 0, 1, 2, 3 },
	.n_states = 4,
	.depths = { 1, 2, 4, 8, 16, 32, 64 },
	.n_depths = 7,
	.chunks_kib = { 4, 16, 64, 128, 256, 1024 },
	.n_chunks = 6,
	.streams = { { 1, RANDOM_IO },
		     { 1, SEQUENTIAL_IO },
		     { 0, RANDOM_IO },
		     { 0, SEQUENTIAL_IO } },
	.n_streams = 4,
};

#define CANDIDATES_MAX 4096

static Design *new_design(const DesignGoal *goal)
{
	Design *d = NULL;

	assert_int_equal(design_new(&grid, goal, HIDDEN_IDLE_W, 7, &d), 0);
	assert_true(design_candidates(d) <= CANDIDATES_MAX);
	return d;
}

/* A drive's states may also slow its clock, whatever it would draw. */
static HiddenTruth slowed_truth(const Point *p)
{
	Point full = *p;
	HiddenTruth t;
	double kept = 1 - 0.2 * p->power_state;

	full.power_state = 0;
	t = hidden_truth(&full);
	t.watts = HIDDEN_IDLE_W + pow(kept, 1.3) * (t.watts - HIDDEN_IDLE_W);
	t.mb_s *= kept;
	return t;
}

/* What no law foresees: about 64 KiB the drive reads ahead in vain. */
static HiddenTruth quirky_truth(const Point *p)
{
	HiddenTruth t = hidden_truth(p);
	double lost = p->read_share > 0 && p->pattern == SEQUENTIAL_IO
			      ? 0.3 * exp(-pow(log2(p->chunk_kib / 64.0), 2))
			      : 0;

	t.mb_s *= 1 - lost;
	t.watts = HIDDEN_IDLE_W + (1 - lost) * (t.watts - HIDDEN_IDLE_W);
	return t;
}

typedef HiddenTruth (*Truth)(const Point *p);

static HiddenTruth measured_truth(Truth truth, const Point *p, uint64_t *chance)
{
	HiddenTruth t = truth(p);

	t.mb_s *= 1 + NOISE * hidden_normal(chance);
	t.watts *= 1 + NOISE / 2 * hidden_normal(chance);
	return t;
}

static void measure(Design *d, Truth truth, size_t candidate, uint64_t *chance)
{
	const Point p = design_point(d, candidate);
	const HiddenTruth t = measured_truth(truth, &p, chance);

	assert_int_equal(design_tell(d, candidate, t.mb_s, t.watts), 0);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

typedef struct Errors {
	double median, p95;
} Errors;

static Errors errors_of(double *off, size_t n)
{
	qsort(off, n, sizeof(*off), by_size);
	return (Errors){ off[n / 2], off[n * 95 / 100] };
}

typedef struct Score {
	Errors mb_s, watts;
	double covered; /* so many are within the error that was predicted */
} Score;

/* Half-way between a setting and the next deeper and larger one, or false where there is none. */
static bool between(Point *p)
{
	p->depth += p->depth / 2;
	p->chunk_kib += p->chunk_kib < 1024 ? p->chunk_kib / 2 : 0;
	return p->depth <= 64 && p->depth > 1;
}

typedef int (*Guess)(void *whose, const Point *p, DesignGuess *ret);

static int guess_of_design(void *d, const Point *p, DesignGuess *ret)
{
	return design_guess(d, p, ret);
}

/* On every setting that was not measured, and on as many between the grid's. */
static Score score(Truth truth, Design *d, const bool *measured, Guess guess, void *whose,
		   const char *name)
{
	static double mb_s[2 * CANDIDATES_MAX], watts[2 * CANDIDATES_MAX];
	size_t n = 0, within = 0;
	Score s;

	for (size_t i = 0; i < 2 * design_candidates(d); i++) {
		Point p = design_point(d, i / 2);
		DesignGuess g;
		HiddenTruth t;

		if (i % 2 ? !between(&p) : measured[i / 2])
			continue;
		t = truth(&p);
		assert_int_equal(guess(whose, &p, &g), 0);
		mb_s[n] = fabs(g.mb_s / t.mb_s - 1);
		watts[n] = fabs(g.watts / t.watts - 1);
		within += (mb_s[n] <= g.mb_s_error) + (watts[n] <= g.watts_error);
		n++;
	}
	s = (Score){ errors_of(mb_s, n), errors_of(watts, n), (double)within / (double)(2 * n) };
	print_message(
		"# %s: MB/s off by %.1f %% in the median, %.1f %% of 95 in 100; watts %.1f %%, "
		"%.1f %%\n",
		name, 100 * s.mb_s.median, 100 * s.mb_s.p95, 100 * s.watts.median,
		100 * s.watts.p95);
	return s;
}

static void mark_measured(Design *d, Truth truth, bool *measured, uint64_t seed)
{
	size_t candidate;

	while (design_next(d, &candidate) == 0) {
		assert_false(measured[candidate]);
		measured[candidate] = true;
		measure(d, truth, candidate, &seed);
	}
}

static void a_quarter_of_the_grid_tells_settings_never_measured(void **state)
{
	static const Truth truths[] = { hidden_truth, slowed_truth, quirky_truth };
	const DesignGoal goal = {};

	(void)state;
	for (uint64_t seed = 0; seed < ELEMENTSOF(truths); seed++) {
		_cleanup_(design_freep) Design *d = new_design(&goal);
		bool measured[CANDIDATES_MAX] = {};
		double mb_s, watts;
		Score s;

		mark_measured(d, truths[seed], measured, seed);
		assert_true(design_runs(d) * 4 <= design_candidates(d));
		s = score(truths[seed], d, measured, guess_of_design, d, "adaptive quarter");
		assert_int_equal(design_left_out(d, &mb_s, &watts), 0);
		print_message("#   %.0f %% within the error predicted; a point is missed by the "
			      "others by %.1f %% of its MB/s, %.1f %% of its watts\n",
			      100 * s.covered, 100 * mb_s, 100 * watts);
		assert_true(s.mb_s.median <= 0.03 && s.watts.median <= 0.03);
		assert_true(s.mb_s.p95 <= 0.08 && s.watts.p95 <= 0.08);
		assert_true(s.covered > 0.85);
		assert_true(mb_s > NOISE && mb_s < 0.08 && watts < 0.05);
	}
}

static void mark_by_lot(Design *d, Truth truth, bool *measured, uint64_t *chance)
{
	while (design_runs(d) < design_most_runs(d)) {
		size_t candidate = (size_t)(hidden_uniform(chance) * (double)design_candidates(d));

		if (measured[candidate])
			continue;
		measured[candidate] = true;
		measure(d, truth, candidate, chance);
	}
}

#define LOTS_MOST 3

/* The mean of some lots, of as many runs as goal allows, with the same errors of measurement and
 * told by the same model. */
static Score score_of_lots(Truth truth, const DesignGoal *goal, const char *name)
{
	const unsigned long lots = MIN(cases_of(2), (unsigned long)LOTS_MOST);
	Score mean = {};
	uint64_t chance = 3;

	for (unsigned long i = 0; i < lots; i++) {
		_cleanup_(design_freep) Design *lot = new_design(goal);
		bool of_lot[CANDIDATES_MAX] = {};
		Score s;

		mark_by_lot(lot, truth, of_lot, &chance);
		s = score(truth, lot, of_lot, guess_of_design, lot, name);
		mean.mb_s.p95 += s.mb_s.p95 / (double)lots;
		mean.watts.p95 += s.watts.p95 / (double)lots;
	}
	return mean;
}

/* A fifteenth of the settings. What few a lot draws may not show a state's cap or where a stream
 * saturates. */
static void as_few_by_lot_tell_less(void **state)
{
	const DesignGoal goal = { .runs = 45 };
	_cleanup_(design_freep) Design *chosen = new_design(&goal);
	bool of_chosen[CANDIDATES_MAX] = {};
	Score a, b;

	(void)state;
	mark_measured(chosen, hidden_truth, of_chosen, 3);
	a = score(hidden_truth, chosen, of_chosen, guess_of_design, chosen, "chosen fifteenth");
	b = score_of_lots(hidden_truth, &goal, "fifteenth by lot");
	assert_true(a.mb_s.p95 + a.watts.p95 < b.mb_s.p95 + b.watts.p95);
}

/* With a whole quarter chance serves nearly as well. */
static void a_quarter_by_lot_tells_no_more(void **state)
{
	static const Truth truths[] = { hidden_truth, slowed_truth, quirky_truth };
	const DesignGoal goal = {};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(truths); i++) {
		_cleanup_(design_freep) Design *chosen = new_design(&goal);
		bool of_chosen[CANDIDATES_MAX] = {};
		Score a, b;

		mark_measured(chosen, truths[i], of_chosen, 3);
		a = score(truths[i], chosen, of_chosen, guess_of_design, chosen, "chosen quarter");
		b = score_of_lots(truths[i], &goal, "quarter by lot");
		assert_true(a.mb_s.p95 + a.watts.p95 < b.mb_s.p95 + b.watts.p95);
	}
}

typedef struct Table {
	Design *design;
	HiddenTruth cell[CANDIDATES_MAX];
} Table;

static const HiddenTruth *cell_at(const Table *t, const Point *p, unsigned depth, unsigned kib)
{
	Point at = *p;
	size_t candidate;

	at.depth = depth;
	at.chunk_kib = kib;
	assert_int_equal(design_find(t->design, &at, &candidate), 0);
	return &t->cell[candidate];
}

static size_t below(const unsigned *axis, size_t n, unsigned v)
{
	size_t i = 0;

	while (i + 2 < n && axis[i + 1] <= v)
		i++;
	return i;
}

static double part(const unsigned *axis, size_t i, unsigned v)
{
	return log2((double)v / axis[i]) / log2((double)axis[i + 1] / axis[i]);
}

/* Bilinear in the logarithms, as between the points of a profile. */
static int guess_of_table(void *table, const Point *p, DesignGuess *ret)
{
	const Table *t = table;
	size_t d = below(grid.depths, grid.n_depths, p->depth);
	size_t c = below(grid.chunks_kib, grid.n_chunks, p->chunk_kib);
	double in_d = part(grid.depths, d, p->depth), in_c = part(grid.chunks_kib, c, p->chunk_kib);

	*ret = (DesignGuess){};
	for (unsigned corner = 0; corner < 4; corner++) {
		unsigned right = corner & 1, up = corner >> 1;
		double weight = (right ? in_d : 1 - in_d) * (up ? in_c : 1 - in_c);
		const HiddenTruth *q =
			cell_at(t, p, grid.depths[d + right], grid.chunks_kib[c + up]);

		ret->mb_s += weight * log(q->mb_s);
		ret->watts += weight * q->watts;
	}
	ret->mb_s = exp(ret->mb_s);
	return 0;
}

/* Of the settings themselves: their errors of measurement. */
static Score score_of_table(const Table *t)
{
	static double mb_s[CANDIDATES_MAX], watts[CANDIDATES_MAX];
	size_t n = design_candidates(t->design);
	Score s;

	for (size_t i = 0; i < n; i++) {
		const Point p = design_point(t->design, i);
		const HiddenTruth truth = hidden_truth(&p);

		mb_s[i] = fabs(t->cell[i].mb_s / truth.mb_s - 1);
		watts[i] = fabs(t->cell[i].watts / truth.watts - 1);
	}
	s = (Score){ errors_of(mb_s, n), errors_of(watts, n), NAN };
	print_message(
		"# full grid, at its own settings: MB/s off by %.1f %% in the median, %.1f %% of "
		"95 in 100; watts %.1f %%, %.1f %%\n",
		100 * s.mb_s.median, 100 * s.mb_s.p95, 100 * s.watts.median, 100 * s.watts.p95);
	return s;
}

/* All that one can know without knowing what drives are like: every setting is measured, with its
 * errors, and what lies between is interpolated. */
static void a_quarter_is_off_by_less_than_the_full_grid(void **state)
{
	const DesignGoal goal = {};
	_cleanup_(design_freep) Design *d = new_design(&goal);
	bool measured[CANDIDATES_MAX] = {}, none[CANDIDATES_MAX] = {};
	static Table table;
	uint64_t chance = 5;
	Score a, b;

	(void)state;
	table.design = d;
	for (size_t i = 0; i < design_candidates(d); i++) {
		const Point p = design_point(d, i);

		table.cell[i] = measured_truth(hidden_truth, &p, &chance);
	}
	mark_measured(d, hidden_truth, measured, 5);
	a = score(hidden_truth, d, measured, guess_of_design, d, "adaptive quarter");
	b = score(hidden_truth, d, none, guess_of_table, &table, "full grid, and between");
	assert_true(a.mb_s.p95 < b.mb_s.p95 && a.watts.p95 < b.watts.p95);
	b = score_of_table(&table);
	assert_true(a.mb_s.p95 < b.mb_s.p95 && a.watts.p95 < b.watts.p95);
}

static void it_ends_when_the_goal_is_reached(void **state)
{
	const DesignGoal wide = { .mb_s_error = 0.3, .watts_error = 0.2 },
			 narrow = { .mb_s_error = 0.15, .watts_error = 0.1, .runs = 250 };
	_cleanup_(design_freep) Design *a = new_design(&wide), *b = new_design(&narrow);
	bool of_a[CANDIDATES_MAX] = {}, of_b[CANDIDATES_MAX] = {};

	(void)state;
	mark_measured(a, hidden_truth, of_a, 1);
	mark_measured(b, hidden_truth, of_b, 1);
	print_message("# %zu runs to 30 %% and 20 %%, %zu runs to 15 %% and 10 %%\n",
		      design_runs(a), design_runs(b));
	assert_true(design_distance(a) <= 1 && design_distance(b) <= 1);
	assert_true(design_runs(a) < design_runs(b) && design_runs(b) < 250);
}

/* What was measured before an interruption is told again: the rest goes on as it would have. */
static void what_is_told_again_is_not_asked_again(void **state)
{
	const DesignGoal goal = { .runs = 80 };
	_cleanup_(design_freep) Design *d = new_design(&goal), *resumed = new_design(&goal);
	size_t next, of_resumed;
	uint64_t chance = 9;

	(void)state;
	for (int i = 0; i < 70; i++) {
		HiddenTruth t;
		Point p;

		assert_int_equal(design_next(d, &next), 0);
		p = design_point(d, next);
		t = measured_truth(hidden_truth, &p, &chance);
		assert_int_equal(design_tell(d, next, t.mb_s, t.watts), 0);
		assert_int_equal(design_find(resumed, &p, &of_resumed), 0);
		assert_int_equal(of_resumed, next);
		assert_int_equal(design_tell(resumed, next, t.mb_s, t.watts), 0);
	}
	assert_int_equal(design_next(d, &next), 0);
	assert_int_equal(design_next(d, &of_resumed), 0); /* the same until it is told */
	assert_int_equal(of_resumed, next);
	assert_int_equal(design_next(resumed, &of_resumed), 0);
	assert_int_equal(design_runs(resumed), 70);
}

static void what_cannot_be_measured_is_left_out(void **state)
{
	const DesignGoal goal = { .runs = 60 };
	_cleanup_(design_freep) Design *d = new_design(&goal);
	bool left_out[CANDIDATES_MAX] = {};
	uint64_t chance = 2;
	size_t next, n = 0;
	DesignGuess g;
	Point p;

	(void)state;
	p = design_point(d, 0);
	assert_int_equal(design_guess(d, &p, &g), -ENODATA);
	assert_int_equal(design_tell(d, 0, 0, 7), -EINVAL);
	assert_int_equal(design_tell(d, 0, NAN, 7), -EINVAL);
	while (design_next(d, &next) == 0) {
		assert_false(left_out[next]);
		left_out[next] = ++n % 10 == 0;
		if (left_out[next])
			design_skip(d, next);
		else
			measure(d, hidden_truth, next, &chance);
	}
	assert_int_equal(n, 60);
	assert_int_equal(design_guess(d, &p, &g), 0);
}

static void a_grid_that_makes_no_sense_is_refused(void **state)
{
	const DesignGoal goal = {};
	DesignGrid wrong = grid;
	Design *d = NULL;

	(void)state;
	wrong.n_streams = 0;
	assert_int_equal(design_new(&wrong, &goal, 5, 1, &d), -EINVAL);
	wrong = grid;
	wrong.depths[2] = wrong.depths[1];
	assert_int_equal(design_new(&wrong, &goal, 5, 1, &d), -EINVAL);
	wrong = grid;
	wrong.chunks_kib[0] = 0;
	assert_int_equal(design_new(&wrong, &goal, 5, 1, &d), -EINVAL);
	assert_null(d);
}

/* A disk has one state and few settings. */
static void a_small_grid_is_measured_too(void **state)
{
	const DesignGrid small = { .states = { 0 },
				   .n_states = 1,
				   .depths = { 1, 32 },
				   .n_depths = 2,
				   .chunks_kib = { 4, 256 },
				   .n_chunks = 2,
				   .streams = { { 1, RANDOM_IO }, { 1, SEQUENTIAL_IO } },
				   .n_streams = 2 };
	const DesignGoal goal = { .runs = 100 };
	_cleanup_(design_freep) Design *d = NULL;
	bool measured[8] = {};

	(void)state;
	assert_int_equal(design_new(&small, &goal, HIDDEN_IDLE_W, 1, &d), 0);
	assert_int_equal(design_most_runs(d), 8);
	mark_measured(d, hidden_truth, measured, 1);
	for (size_t i = 0; i < 8; i++)
		assert_true(measured[i]);
}

/* A sine, seen at a dozen places: between them it is told, with an error that is true. */
static void between_points_a_curve_is_told_and_far_away_it_is_not(void **state)
{
	_cleanup_(gauss_freep) Gauss *g = gauss_new(1);
	GaussGuess guess, far;

	(void)state;
	assert_non_null(g);
	assert_int_equal(gauss_fit(g, true), -ENODATA);
	for (double x = 0; x <= 1; x += 1.0 / 12)
		assert_int_equal(gauss_add(g, &x, 10 + sin(6 * x), 1), 0);
	assert_int_equal(gauss_fit(g, true), 0);
	for (double x = 0.04; x < 1; x += 0.05) {
		gauss_predict(g, &x, &guess);
		assert_float_equal(guess.mean, 10 + sin(6 * x), 0.01);
		assert_true(fabs(guess.mean - 10 - sin(6 * x)) < 4 * guess.sd);
	}
	gauss_predict(g, &(double){ 3 }, &far);
	assert_true(far.sd > 20 * guess.sd);
}

/* Left out by formula is left out in truth. */
static void a_point_left_out_is_told_by_the_others(void **state)
{
	_cleanup_(gauss_freep) Gauss *all = gauss_new(2), *others = gauss_new(2);
	GaussGuess by_formula, by_others;
	uint64_t chance = 4;

	(void)state;
	for (int i = 0; i < 30; i++) {
		double x[2] = { hidden_uniform(&chance), hidden_uniform(&chance) };
		double y = x[0] + cos(3 * x[1]) + 0.05 * hidden_normal(&chance);

		assert_int_equal(gauss_add(all, x, y, 1), 0);
		if (i != 11)
			assert_int_equal(gauss_add(others, x, y, 1), 0);
	}
	assert_int_equal(gauss_fit(all, true), 0);
	assert_int_equal(gauss_fit(others, true), 0);
	assert_true(gauss_noise(all) > 0.02 && gauss_noise(all) < 0.1);
	gauss_leave_out(all, 11, &by_formula);
	chance = 4;
	for (int i = 0; i < 30; i++) {
		double x[2] = { hidden_uniform(&chance), hidden_uniform(&chance) };

		hidden_normal(&chance);
		if (i == 11)
			gauss_predict(others, x, &by_others);
	}
	assert_float_equal(by_formula.mean, by_others.mean, 0.05);
	assert_true(by_formula.sd > by_others.sd); /* with the noise */
}

static void a_noisy_measurement_counts_less(void **state)
{
	_cleanup_(gauss_freep) Gauss *g = gauss_new(1);
	GaussGuess guess;

	(void)state;
	for (int i = 0; i <= 20; i++)
		assert_int_equal(gauss_add(g, &(double){ i / 20.0 },
					   i == 10 ? 3 : 1 + 0.01 * (i % 2), i == 10 ? 500 : 1),
				 0);
	assert_int_equal(gauss_fit(g, true), 0);
	gauss_predict(g, &(double){ 0.5 }, &guess);
	assert_float_equal(guess.mean, 1, 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quarter_of_the_grid_tells_settings_never_measured),
		cmocka_unit_test(as_few_by_lot_tell_less),
		cmocka_unit_test(a_quarter_by_lot_tells_no_more),
		cmocka_unit_test(a_quarter_is_off_by_less_than_the_full_grid),
		cmocka_unit_test(it_ends_when_the_goal_is_reached),
		cmocka_unit_test(what_is_told_again_is_not_asked_again),
		cmocka_unit_test(what_cannot_be_measured_is_left_out),
		cmocka_unit_test(a_grid_that_makes_no_sense_is_refused),
		cmocka_unit_test(a_small_grid_is_measured_too),
		cmocka_unit_test(between_points_a_curve_is_told_and_far_away_it_is_not),
		cmocka_unit_test(a_point_left_out_is_told_by_the_others),
		cmocka_unit_test(a_noisy_measurement_counts_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
