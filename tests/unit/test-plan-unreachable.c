/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Budgets that take more than what lies above the floors, and budgets that nothing meets. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-nodes.h"

#define FLOOR       0.25
#define TRUE_ENOUGH (1 - 1e-5)

static Policy fair;

static int read_fair(void **state)
{
	if (read_files(state) < 0)
		return -1;
	fair = fair_policy();
	return 0;
}

static double least_share(const Plan *p)
{
	double least = 1;

	for (size_t i = 0; i < p->n_devices; i++)
		least = MIN(least, share_of(&p->devices[i]));
	return least;
}

static Plan *planned(Node *n, double budget_w, double yield_w)
{
	n->in.policy = &fair;
	n->in.budget_w = budget_w;
	n->in.floors_yield_w = yield_w;
	return checked(n);
}

/* What all can draw at their least. */
static double least_of(Node *n)
{
	_cleanup_(plan_freep) Plan *p = planned(n, 0, INFINITY);

	return p->cap_w;
}

/* What all draw then, if their profiles are right. */
static double idle_of(const Node *n)
{
	double sum_w = 0;

	for (size_t i = 0; i < n->in.n_devices; i++)
		sum_w += n->in.devices[i].profile->idle_w;
	return sum_w;
}

static void floors_stay_where_nothing_meets_the_budget(void **state)
{
	Node n;
	(void)state;

	mixed(&n, 0);
	for (double part = 0; part < 1; part += 0.24) {
		double budget_w = part * idle_of(&n);
		_cleanup_(plan_freep) Plan *p = planned(&n, budget_w, 0);

		assert_true(fabs(p->shortfall_w - (p->cap_w - budget_w)) < 1e-6);
		assert_true(least_share(p) >= FLOOR * TRUE_ENOUGH);
		for (size_t i = 0; i < p->n_devices; i++) {
			const PlannedDevice *d = &p->devices[i];

			if (d->reason == PLAN_FLOOR_KEPT)
				assert_true(share_of(d) < 1);
			else if (d->reason == PLAN_LITTLE_SAVED)
				assert_true(share_of(d) >= TRUE_ENOUGH);
			else
				assert_int_equal(d->reason, PLAN_FLOOR);
		}
		assert_int_equal(p->devices[0].reason, PLAN_FLOOR_KEPT);
	}
}

static void an_emergency_takes_all_it_can(void **state)
{
	_cleanup_(plan_freep) Plan *floors = NULL, *all = NULL;
	double least_w;
	Node n;
	(void)state;

	mixed(&n, 0);
	least_w = least_of(&n);
	floors = planned(&n, idle_of(&n) - 1, 0);
	all = planned(&n, idle_of(&n) - 1, INFINITY);
	assert_true(fabs(all->cap_w - least_w) < 1e-9);
	assert_true(fabs(all->shortfall_w - (least_w - idle_of(&n) + 1)) < 1e-6);
	assert_true(floors->cap_w > all->cap_w + 10);
	for (size_t i = 0; i < all->n_devices; i++)
		assert_int_equal(all->devices[i].reason, PLAN_FLOOR);
}

/* Caps cover what the profiles may be wrong by: that they miss a budget does not put it out of
 * reach. */
static void floors_yield_where_what_is_drawn_at_least_meets_the_budget(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	double least_w;
	Node n;
	(void)state;

	mixed(&n, 0);
	least_w = least_of(&n);
	assert_true(idle_of(&n) < least_w - 1);
	p = planned(&n, (idle_of(&n) + least_w) / 2, 0);
	assert_true(fabs(p->cap_w - least_w) < 1e-9);
}

/* A watt is about to be saved: until then the others go without. */
static void floors_yield_for_the_moment_that_a_saving_takes(void **state)
{
	_cleanup_(plan_freep) Plan *enough = NULL, *too_little = NULL;
	double least_w;
	Node n;
	(void)state;

	mixed(&n, 0);
	least_w = least_of(&n);
	enough = planned(&n, idle_of(&n) - 1, 1.01);
	too_little = planned(&n, idle_of(&n) - 1, 0.99);
	assert_true(fabs(enough->cap_w - least_w) < 1e-9);
	assert_true(least_share(too_little) >= FLOOR * TRUE_ENOUGH);
}

/* A limit is a limit: where it can be met, it is, and what is left of the floors is dealt out. */
static void floors_yield_where_that_meets_the_budget(void **state)
{
	_cleanup_(plan_freep) Plan *floors = NULL;
	double least_w, floors_w;
	Node n;
	(void)state;

	start(&n, 0);
	for (int i = 0; i < 8; i++)
		add(&n, "samsung-pm9a3", INFINITY);
	least_w = least_of(&n);
	floors = planned(&n, least_w - 1, 0);
	floors_w = floors->cap_w;
	for (double part = 0.3; part < 1; part += 0.3) {
		double budget_w = least_w + part * (floors_w - least_w), most = 0;
		_cleanup_(plan_freep) Plan *p = planned(&n, budget_w, 0);

		assert_true(p->shortfall_w == 0 && p->cap_w <= budget_w + 1e-9);
		for (size_t i = 0; i < p->n_devices; i++)
			most = MAX(most, share_of(&p->devices[i]));
		assert_true(most < FLOOR && most > 0);
		assert_true(least_share(p) >= 0.9 * most);
	}
}

/* Nobody loses his work for less than a watt. */
static void what_saves_less_than_a_watt_is_not_taken(void **state)
{
	size_t n_kept = 0, n_taken = 0;
	(void)state;

	for (double mb_s = 5; mb_s < 4000; mb_s *= 2) {
		_cleanup_(plan_freep) Plan *p = NULL, *free = NULL;
		Node n;

		start(&n, 0);
		add(&n, "samsung-pm9a3", mb_s);
		p = planned(&n, 0, 0);
		fair.floor.share = 1;
		free = planned(&n, 0, 0);
		fair.floor.share = FLOOR;
		assert_true(share_of(&free->devices[0]) >= TRUE_ENOUGH);
		if (share_of(&p->devices[0]) >= TRUE_ENOUGH) {
			n_kept++;
		} else {
			n_taken++;
			assert_true(p->cap_w <= free->cap_w - 1);
			assert_true(share_of(&p->devices[0]) >= FLOOR * TRUE_ENOUGH);
		}
	}
	assert_true(n_kept > 0 && n_taken > 0);
}

/* A disk of which less is expected than it can draw: what it can draw is brought down by two watts,
 * what it is expected to draw by half of one. */
static void what_is_tolerated_saves_less_and_is_taken_in_an_emergency_alone(void **state)
{
	_cleanup_(plan_freep) Plan *strict = NULL, *tolerant = NULL, *emergency = NULL;
	PlanDevice *d;
	Node n;
	(void)state;

	start(&n, 0);
	d = add(&n, "seagate-exos-7e2000", INFINITY);
	d->measured = true;
	d->correction = 0.6;
	fair.floor.share = 0;
	strict = planned(&n, 1, 0);
	n.in.at_once_w = 10;
	tolerant = planned(&n, 1, 0);
	emergency = planned(&n, 1, INFINITY);
	fair.floor.share = FLOOR;
	assert_true(share_of(&strict->devices[0]) < 0.1);
	assert_int_equal(tolerant->devices[0].reason, PLAN_LITTLE_SAVED);
	assert_true(share_of(&tolerant->devices[0]) >= TRUE_ENOUGH);
	assert_true(tolerant->shortfall_w > strict->shortfall_w);
	assert_true(tolerant->shortfall_w < emergency->shortfall_w + 1);
	assert_true(emergency->shortfall_w <= strict->shortfall_w);
}

static void a_pool_keeps_one_floor(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 0);
	for (int i = 0; i < 6; i++)
		add(&n, i % 2 ? "samsung-pm9a3" : "intel-p5510", INFINITY)->pool = 0;
	n.in.n_pools = 1;
	p = planned(&n, 1, 0);
	for (size_t i = 0; i < p->n_devices; i++)
		assert_true(share_of(&p->devices[i]) >= FLOOR * TRUE_ENOUGH);
	assert_true(least_share(p) < 0.5);
}

/* A group's limit is out of reach by itself, and an emergency by itself. */
static void a_group_keeps_its_floors_but_in_its_emergency(void **state)
{
	Node n;
	(void)state;

	start(&n, INFINITY);
	n.in.n_groups = 1;
	for (int i = 0; i < 4; i++)
		add(&n, "samsung-pm9a3", INFINITY)->group = i < 2 ? 0 : PLAN_NO_GROUP;
	for (int emergency = 0; emergency < 2; emergency++) {
		_cleanup_(plan_freep) Plan *p = NULL;

		n.groups[0] = (PlanGroup){ "a", 1, .floors_yield_w = emergency ? INFINITY : 0 };
		p = planned(&n, INFINITY, 0);
		assert_true(p->limit_shortfall_w > 0);
		assert_int_equal(share_of(&p->devices[0]) >= FLOOR * TRUE_ENOUGH, !emergency);
		assert_true(share_of(&p->devices[2]) >= TRUE_ENOUGH);
	}
}

/* A floor that came with demand is worth a change, though it draws more above the budget. */
static void a_floor_that_comes_with_demand_is_given(void **state)
{
	_cleanup_(plan_freep) Plan *held = NULL, *next = NULL;
	Node n;
	(void)state;

	start(&n, 0);
	add(&n, "samsung-pm9a3", INFINITY);
	add(&n, "samsung-pm9a3", 0);
	held = planned(&n, 1, 0);
	for (size_t i = 0; i < 2; i++)
		n.devices[i].current = held->devices[i].setting;
	n.devices[1].demand_mb_s = INFINITY;
	next = planned(&n, 1, 0);
	assert_true(next->cap_w > held->cap_w);
	assert_true(plan_worth_changing(held, next, &fair));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floors_stay_where_nothing_meets_the_budget),
		cmocka_unit_test(an_emergency_takes_all_it_can),
		cmocka_unit_test(floors_yield_where_what_is_drawn_at_least_meets_the_budget),
		cmocka_unit_test(floors_yield_for_the_moment_that_a_saving_takes),
		cmocka_unit_test(floors_yield_where_that_meets_the_budget),
		cmocka_unit_test(what_saves_less_than_a_watt_is_not_taken),
		cmocka_unit_test(what_is_tolerated_saves_less_and_is_taken_in_an_emergency_alone),
		cmocka_unit_test(a_pool_keeps_one_floor),
		cmocka_unit_test(a_group_keeps_its_floors_but_in_its_emergency),
		cmocka_unit_test(a_floor_that_comes_with_demand_is_given),
	};

	return cmocka_run_group_tests(tests, read_fair, free_files);
}
