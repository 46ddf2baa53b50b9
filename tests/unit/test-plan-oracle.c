/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The knapsack against brute force and against GLPK's integer solver. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glpk.h>

#include "cases.h"
#include "plan-instances.h"

/* The best value over all ends for classes [i, n), and with one open segment; -INFINITY: none. */
static double brute_force(const Problem *p, size_t i, double room, double open_w, double open_rate)
{
	double best = -INFINITY;

	if (room < 0)
		return best;
	if (i == p->n_classes)
		return MIN(room, open_w) * open_rate;
	for (size_t k = p->first[i]; k < p->first[i + 1]; k++) {
		const Choice *c = &p->choices[k];
		double width = c->hi_w - c->lo_w;

		best = MAX(best,
			   c->lo_value + brute_force(p, i + 1, room - c->lo_w, open_w, open_rate));
		if (width <= 0)
			continue;
		best = MAX(best,
			   c->hi_value + brute_force(p, i + 1, room - c->hi_w, open_w, open_rate));
		if (open_w == 0)
			best = MAX(best,
				   c->lo_value + brute_force(p, i + 1, room - c->lo_w, width,
							     (c->hi_value - c->lo_value) / width));
	}
	return best;
}

static void it_finds_what_brute_force_finds(void **state)
{
	static Instance in;
	int instances = (int)cases_of(5000);
	uint64_t seed = 1;
	(void)state;

	for (int n = 0; n < instances; n++) {
		_cleanup_(solution_done) Solution s = { 0 };
		double best;

		draw_instance(&seed, n % _KIND_COUNT, n % 2, 1 + below(&seed, 6), 5, &in);
		assert_int_equal(knapsack_solve(&in.p, 0, &s), 0);
		check_solution(&in.p, &s);
		assert_true(s.optimal);
		best = brute_force(&in.p, 0, in.p.budget_w, 0, 0);
		if (s.shortfall_w > 0) {
			assert_true(best == -INFINITY || s.shortfall_w < 1e-9);
			continue;
		}
		if (fabs(best - s.total_value) > 1e-9 * (1 + fabs(best)))
			fail_msg("instance %d: %.12g, brute force %.12g", n, s.total_value, best);
	}
}

static glp_prob *glpk_problem(const Problem *p)
{
	size_t n = p->first[p->n_classes], nz = 0;
	glp_prob *lp = glp_create_prob();
	int *row = calloc(8 * n + 1, sizeof(int)), *col = calloc(8 * n + 1, sizeof(int));
	double *a = calloc(8 * n + 1, sizeof(double));

	glp_set_obj_dir(lp, GLP_MAX);
	glp_add_rows(lp, 1 + p->n_classes + n);
	glp_add_cols(lp, 2 * n);
	glp_set_row_bnds(lp, 1, GLP_UP, 0, p->budget_w);
	for (size_t i = 0; i < p->n_classes; i++)
		glp_set_row_bnds(lp, 2 + i, GLP_FX, 1, 1);
	for (size_t i = 0, k = 0; k < n; k++) {
		const Choice *c = &p->choices[k];
		int taken = 1 + k, share = 1 + n + k, link = 2 + p->n_classes + k;

		for (; k >= p->first[i + 1];)
			i++;
		glp_set_col_kind(lp, taken, GLP_BV);
		glp_set_col_bnds(lp, share, GLP_DB, 0, 1);
		glp_set_obj_coef(lp, taken, c->lo_value);
		glp_set_obj_coef(lp, share, c->hi_value - c->lo_value);
		glp_set_row_bnds(lp, link, GLP_UP, 0, 0);
#define ENTRY(r, c_, x) (row[++nz] = (r), col[nz] = (c_), a[nz] = (x))
		ENTRY(1, taken, c->lo_w);
		ENTRY(1, share, c->hi_w - c->lo_w);
		ENTRY(2 + i, taken, 1);
		ENTRY(link, share, 1);
		ENTRY(link, taken, -1);
#undef ENTRY
	}
	glp_load_matrix(lp, nz, row, col, a);
	free(row);
	free(col);
	free(a);
	return lp;
}

/* The optimum, to within *ret_slop. */
static double glpk_optimum(const Problem *p, double *ret_slop)
{
	glp_prob *lp = glpk_problem(p);
	glp_iocp parm;
	double v;

	glp_init_iocp(&parm);
	parm.presolve = GLP_ON;
	parm.msg_lev = GLP_MSG_OFF;
	parm.tol_int = 1e-9;
	parm.tol_obj = 1e-12;
	parm.gmi_cuts = parm.cov_cuts = GLP_ON;
	assert_int_equal(glp_intopt(lp, &parm), 0);
	assert_int_equal(glp_mip_status(lp), GLP_OPT);
	v = glp_mip_obj_val(lp);
	glp_delete_prob(lp);
	*ret_slop = 1e-6 * (1 + fabs(v));
	return v;
}

static void against_glpk(uint64_t seed, Kind kind, int count, size_t classes, size_t choices)
{
	static Instance in;
	int solved = 0;

	for (int n = 0; n < count; n++) {
		_cleanup_(solution_done) Solution s = { 0 };
		double v, slop;

		draw_instance(&seed, kind, n % 2, 1 + below(&seed, classes), choices, &in);
		assert_int_equal(knapsack_solve(&in.p, 0, &s), 0);
		check_solution(&in.p, &s);
		assert_true(s.optimal);
		if (s.shortfall_w > 0)
			continue;
		v = glpk_optimum(&in.p, &slop);
		if (fabs(v - s.total_value) > slop)
			fail_msg("kind %d instance %d: %.12g, GLPK %.12g", kind, n, s.total_value,
				 v);
		solved++;
	}
	assert_true(solved > count / 2);
}

static void it_finds_what_glpk_finds(void **state)
{
	(void)state;
	glp_term_out(GLP_OFF);
	against_glpk(11, UNCORRELATED, (int)cases_of(150), 40, 12);
	against_glpk(12, FRONTIER, (int)cases_of(60), 40, 12);
	against_glpk(13, SMALL_NUMBERS, (int)cases_of(100), 40, 12);
	against_glpk(14, STRONGLY_CORRELATED, (int)cases_of(80), 10, 8);
	against_glpk(15, IDENTICAL, (int)cases_of(60), 12, 8);
	glp_free_env();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_finds_what_brute_force_finds),
		cmocka_unit_test(it_finds_what_glpk_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
