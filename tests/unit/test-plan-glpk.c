/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whole plans against GLPK's integer solver, which is given the frontiers of the devices and the
 * words of the objective, and nothing that the planner makes of them: proportional shares with
 * floors, pools with one share, groups with limits. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glpk.h>

#include "plan-instances.h"
#include "plan-nodes.h"

#define EPSILON 0.05
#define CHORDS  24
#define FLOOR   0.25
#define TELL    0.001 /* the goal: what is worse is named */
/* GLPK's integers are whole to 1e-5, so that what it fits into a limit may just not fit. */
#define FITS 0.001

enum { LIST_MAX = 4096, FEW = 300 };

/* A problem as GLPK wants it. */
typedef struct Lp {
	glp_prob *p;
	int row[LIST_MAX], col[LIST_MAX], n;
	double a[LIST_MAX];
} Lp;

static int add_row(Lp *lp, int kind, double bound)
{
	int r = glp_add_rows(lp->p, 1);

	glp_set_row_bnds(lp->p, r, kind, bound, bound);
	return r;
}

static int add_col(Lp *lp, bool binary, double most)
{
	int c = glp_add_cols(lp->p, 1);

	if (binary)
		glp_set_col_kind(lp->p, c, GLP_BV);
	else
		glp_set_col_bnds(lp->p, c, GLP_DB, 0, most);
	return c;
}

static void entry(Lp *lp, int row, int col, double a)
{
	lp->n++;
	assert_true(lp->n < LIST_MAX);
	lp->row[lp->n] = row;
	lp->col[lp->n] = col;
	lp->a[lp->n] = a;
}

typedef struct Frontiered {
	Candidate c[FRONTIER_MAX];
	size_t n;
	double asked_mb_s, asked_w;
} Frontiered;

static void prepare(const PlanDevice *d, Frontiered *ret)
{
	Prediction full, idle;

	frontier_build(d->profile, &d->mix, &d->offer, 0, CONDITION_IDLE_B, ret->c, &ret->n);
	predict(d->profile, &d->mix, &SETTING_AS_FOUND, &full);
	predict_demand(d->profile, &d->mix, &SETTING_AS_FOUND, 0, &idle);
	ret->asked_mb_s = MIN(d->demand_mb_s, full.mb_s);
	ret->asked_w = (full.watts - idle.watts) * ret->asked_mb_s / full.mb_s;
}

static double share_at(const Frontiered *f, double mb_s)
{
	return MIN(mb_s / f->asked_mb_s, 1.0);
}

/* One candidate of each, whose share and watts are linear along it. A candidate that meets the
 * demand within its segment needs no more than that. */
static void add_device(Lp *lp, const Frontiered *f, const int *watt_rows, int share_row)
{
	int one = add_row(lp, GLP_FX, 1);

	for (size_t k = 0; k < f->n; k++) {
		const Candidate *c = &f->c[k];
		double lo = share_at(f, c->mb_s), hi = share_at(f, c->mb_s_hi), hi_w = c->cap_hi_w;
		int taken = add_col(lp, true, 1), along, link;

		if (c->mb_s_hi > f->asked_mb_s && c->mb_s < f->asked_mb_s && c->paced)
			hi_w = c->cap_w + (c->cap_hi_w - c->cap_w) * (f->asked_mb_s - c->mb_s) /
						  (c->mb_s_hi - c->mb_s);
		entry(lp, one, taken, 1);
		entry(lp, share_row, taken, -lo);
		for (const int *row = watt_rows; *row; row++)
			entry(lp, *row, taken, c->cap_w);
		if (!c->paced)
			continue;
		along = add_col(lp, false, 1);
		link = add_row(lp, GLP_UP, 0);
		entry(lp, link, along, 1);
		entry(lp, link, taken, -1);
		entry(lp, share_row, along, lo - hi);
		for (const int *row = watt_rows; *row; row++)
			entry(lp, *row, along, hi_w - c->cap_w);
	}
}

static double utility(double x)
{
	return log((x + EPSILON) / EPSILON);
}

/* The worth of a share lies below every chord's line. */
static void add_worth(Lp *lp, int share, double stake_w, double weight)
{
	int worth = add_col(lp, false, 10);
	double from = 0;

	glp_set_obj_coef(lp->p, worth, stake_w * weight);
	for (int k = 1; k <= CHORDS; k++) {
		double to = EPSILON * pow((1 + EPSILON) / EPSILON, (double)k / CHORDS) - EPSILON;
		double slope = (utility(to) - utility(from)) / (to - from);
		int row = add_row(lp, GLP_UP, utility(from) - slope * from);

		entry(lp, row, worth, 1);
		entry(lp, row, share, -slope);
		from = to;
	}
}

static bool is_first_of_pool(const Node *n, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (n->devices[k].pool < n->in.n_pools && n->devices[k].pool == n->devices[i].pool)
			return false;
	return true;
}

static bool in_unit(const Node *n, size_t first, size_t i)
{
	return i == first ||
	       (n->devices[i].pool < n->in.n_pools && n->devices[i].pool == n->devices[first].pool);
}

static void add_unit(Lp *lp, const Node *n, const Frontiered *f, size_t first, int node_row,
		     const int *group_rows, bool floors)
{
	int share = add_col(lp, false, 1);
	double stake_w = 0;

	if (floors)
		glp_set_col_bnds(lp->p, share, GLP_DB, FLOOR, 1);
	for (size_t i = first; i < n->in.n_devices; i++) {
		size_t group = n->devices[i].group;
		int rows[3] = { node_row, group < n->in.n_groups ? group_rows[group] : 0, 0 };
		int own;

		if (!in_unit(n, first, i))
			continue;
		own = add_row(lp, GLP_UP, 0); /* the unit's share is no more than this one's */
		entry(lp, own, share, 1);
		add_device(lp, &f[i], rows, own);
		stake_w += f[i].asked_w;
	}
	add_worth(lp, share, stake_w, 1);
}

/* NAN: nothing fits. */
static double glpk_best(const Node *n, const Frontiered *f, bool floors)
{
	Lp *lp = calloc(1, sizeof(*lp));
	int group_rows[2], node_row;
	glp_iocp parm;
	double v = NAN;

	lp->p = glp_create_prob();
	glp_set_obj_dir(lp->p, GLP_MAX);
	node_row = add_row(lp, GLP_UP, n->in.budget_w);
	for (size_t g = 0; g < n->in.n_groups; g++)
		group_rows[g] = add_row(lp, GLP_UP, n->groups[g].limit_w);
	for (size_t i = 0; i < n->in.n_devices; i++)
		if (is_first_of_pool(n, i))
			add_unit(lp, n, f, i, node_row, group_rows, floors);
	glp_load_matrix(lp->p, lp->n, lp->row, lp->col, lp->a);
	glp_init_iocp(&parm);
	parm.presolve = GLP_ON;
	parm.msg_lev = GLP_MSG_OFF;
	parm.mip_gap = 1e-5;
	if (glp_intopt(lp->p, &parm) == 0 && glp_mip_status(lp->p) == GLP_OPT)
		v = glp_mip_obj_val(lp->p);
	glp_delete_prob(lp->p);
	free(lp);
	return v;
}

/* By the same words, from what the plan says of the devices. */
static double plan_worth(const Node *n, const Frontiered *f, const Plan *p, double *ret_least)
{
	double sum = 0;

	*ret_least = 1;
	for (size_t first = 0; first < n->in.n_devices; first++) {
		double share = 1, stake_w = 0;

		if (!is_first_of_pool(n, first))
			continue;
		for (size_t i = first; i < n->in.n_devices; i++)
			if (in_unit(n, first, i)) {
				share = MIN(share, share_at(&f[i], p->devices[i].mb_s));
				stake_w += f[i].asked_w;
			}
		sum += stake_w * utility(share);
		*ret_least = MIN(*ret_least, share);
	}
	return sum;
}

static uint64_t seed = 20;

static void draw_some(Node *n, bool groups)
{
	static const char *const profiles[] = { "samsung-pm9a3", "intel-p5510",
						"seagate-exos-7e2000", "intel-d3-s4510" };
	size_t n_devices = 2 + below(&seed, 5);
	double least_w = 0;

	start(n, 0);
	n->in.n_pools = 2;
	n->in.n_groups = groups ? 2 : 0;
	for (size_t i = 0; i < n_devices; i++) {
		PlanDevice *d = add(n, profiles[below(&seed, 4)], INFINITY);

		if (below(&seed, 2))
			d->demand_mb_s = 20 + below(&seed, 800);
		d->pool = below(&seed, 3) ? PLAN_NO_POOL : below(&seed, 2);
		d->group = groups ? below(&seed, 3) : PLAN_NO_GROUP;
		d->group = d->group == 2 ? PLAN_NO_GROUP : d->group;
		d->offer.mechanisms &= ~(unsigned)(below(&seed, 2) ? MECHANISM_PACING : 0);
		least_w += d->profile->idle_w;
	}
	n->in.budget_w = least_w + (rated(n) - least_w) * (0.15 + 0.8 * uniform(&seed));
	for (size_t g = 0; g < n->in.n_groups; g++) {
		double w = 0;

		for (size_t i = 0; i < n_devices; i++)
			w += n->devices[i].group == g ? n->devices[i].profile->rated_w : 0;
		n->groups[g] = (PlanGroup){ g ? "b" : "a", w * (0.5 + 0.5 * uniform(&seed)) };
	}
}

static void compare(size_t count, bool groups, double gap, double mean)
{
	size_t n_compared = 0, n_floors = 0;
	double worst = 0, sum = 0;
	Policy policy = *balanced;

	policy.fairness = 1;
	for (size_t k = 0; k < count; k++) {
		_cleanup_(plan_freep) Plan *p = NULL;
		Frontiered f[8];
		double best, worth, least;
		bool floors;
		Node n;

		draw_some(&n, groups);
		n.in.policy = &policy;
		for (size_t i = 0; i < n.in.n_devices; i++)
			prepare(&n.devices[i], &f[i]);
		best = glpk_best(&n, f, true);
		floors = !isnan(best);
		if (!floors)
			best = glpk_best(&n, f, false);
		policy.floor.share = floors ? FLOOR : 0;
		p = checked(&n);
		if (isnan(best) || p->shortfall_w > 0 || p->limit_shortfall_w > 0)
			continue;
		worth = plan_worth(&n, f, p, &least);
		if (floors)
			assert_true(least >= FLOOR * (1 - FITS));
		n_compared++;
		n_floors += floors;
		if (1 - worth / best > TELL)
			print_message("node %zu: %.3f %% short\n", k, 100 * (1 - worth / best));
		worst = MAX(worst, 1 - worth / best);
		sum += MAX(1 - worth / best, 0.0);
	}
	print_message("%zu nodes, %zu with floors: %.3f %% short at worst, %.4f %% in the mean\n",
		      n_compared, n_floors, 100 * worst, 100 * sum / (double)n_compared);
	assert_true(n_compared > count / 2 && n_floors > count / 8);
	assert_true(worst <= gap && sum / (double)n_compared <= mean);
}

/* CASES=1000 in the environment: so many nodes, instead of a few. */
static size_t cases(void)
{
	const char *text = getenv("CASES");
	size_t n = text ? strtoul(text, NULL, 10) : 0;

	return n > 0 ? n : FEW;
}

static void plans_are_as_good_as_glpks(void **state)
{
	(void)state;
	glp_term_out(GLP_OFF);
	compare(cases(), false, 0.001, 0.0001);
	glp_free_env();
}

static void plans_with_groups_are_as_good_as_glpks(void **state)
{
	(void)state;
	glp_term_out(GLP_OFF);
	/* groups are solved one by one, which is not exact: none of the first 753 nodes is further
	 * off than TELL, of 2236 it is three
	 */
	compare(cases(), true, cases() > 1000 ? 0.004 : TELL, 0.00001);
	glp_free_env();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_as_good_as_glpks),
		cmocka_unit_test(plans_with_groups_are_as_good_as_glpks),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
