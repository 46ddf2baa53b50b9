/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Random nodes, whatever may come together: the promises of a plan hold for all of them. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "plan-random.h"

/* Asleep as found, and left so. */
static bool stays(const Node *n, const Plan *p, size_t i)
{
	const PlanDevice *d = &n->devices[i];

	return d->must_sleep && !d->held && p->devices[i].reason != PLAN_PROTECTED;
}

/* What sleeps stays asleep; of a pool all others sleep or none; the redirections go with it. */
static void check_sleep(const Node *n, const Plan *p)
{
	size_t asleep[4] = { 0 }, awake[4] = { 0 };

	for (size_t i = 0; i < p->n_devices; i++) {
		const PlanDevice *d = &n->devices[i];
		const PlannedDevice *x = &p->devices[i];
		bool may_redirect = d->offer.mechanisms & ~n->in.forbidden & MECHANISM_REDIRECT;
		Redirect redirect = is_asleep(&x->setting)
					    ? (d->holds_writes ? REDIRECT_HOLD : REDIRECT_AS_FOUND)
					    : d->awake_redirect;

		if (stays(n, p, i))
			assert_int_equal(x->setting.condition, CONDITION_STANDBY_Z);
		else if (d->pool < n->in.n_pools)
			++*(is_asleep(&x->setting) ? &asleep[d->pool] : &awake[d->pool]);
		if (x->reason != PLAN_HELD && x->reason != PLAN_PROTECTED)
			assert_int_equal(x->setting.redirect,
					 may_redirect ? redirect : REDIRECT_AS_FOUND);
		if (x->reason == PLAN_RESTING)
			assert_true(x->mb_s == 0 && x->setting.condition <= d->rest &&
				    x->setting.condition <= n->in.policy->rest);
	}
	for (size_t k = 0; k < 4; k++)
		assert_true(asleep[k] == 0 || awake[k] == 0);
}

/* The least that a device may come down to, from the planner with no watts to give. */
static bool within_limits(const Node *n, const Plan *p, const Plan *least)
{
	for (size_t g = 0; g < n->in.n_groups; g++) {
		double w = 0, least_w = 0;

		for (size_t i = 0; i < p->n_devices; i++)
			if (n->devices[i].group == g) {
				w += p->devices[i].cap_w;
				least_w += least->devices[i].cap_w;
			}
		if (w > n->groups[g].limit_w + 1e-9 && w > least_w * (1 + 1e-9))
			return false;
	}
	for (size_t i = 0; i < p->n_devices; i++) {
		const PlannedDevice *d = &p->devices[i];

		if (!n->devices[i].held && d->reason != PLAN_PROTECTED &&
		    d->cap_w > n->devices[i].limit_w &&
		    d->cap_w > least->devices[i].cap_w * (1 + 1e-9))
			return false;
	}
	return true;
}

static bool same_plan(const Plan *a, const Plan *b)
{
	for (size_t i = 0; i < a->n_devices; i++) {
		const PlannedDevice *x = &a->devices[i], *y = &b->devices[i];

		if (!setting_equal(&x->setting, &y->setting) || x->cap_w != y->cap_w ||
		    x->expect_w != y->expect_w || x->mb_s != y->mb_s || x->reason != y->reason)
			return false;
	}
	return true;
}

static void every_limit_holds_or_the_floor_is_reached(void **state)
{
	PolicyRule rules[] = {
		{ .match = "samsung*", .weight = 3, .floor = { .given = true, .mb_s = 100 } },
		{ .match = "intel-d3*", .weight = 1, .protect = true },
	};
	unsigned long nodes = cases_of(3000);
	(void)state;

	for (unsigned long k = 0; k < nodes; k++) {
		_cleanup_(plan_freep) Plan *p = NULL, *again = NULL, *least = NULL;
		Policy policy;
		Node n;

		draw_node(&n, &policy);
		policy.rules = rules;
		p = checked(&n);
		again = checked(&n);
		check_sleep(&n, p);
		assert_true(same_plan(p, again));
		assert_false(plan_worth_changing(p, again, &policy));
		n.in.budget_w = 0;
		least = checked(&n);
		check_sleep(&n, least);
		assert_true(within_limits(&n, p, least));
		if (p->shortfall_w > 0)
			assert_true(p->cap_w <= least->cap_w * (1 + 1e-9));
	}
}

static void more_watts_are_never_worth_less(void **state)
{
	unsigned long nodes = cases_of(500), compared = 0;
	(void)state;

	for (unsigned long k = 0; k < nodes; k++) {
		double last = 0, full;
		Policy policy;
		Node n;

		draw_node(&n, &policy);
		policy.n_rules = 0;
		n.in.n_groups = 0;
		full = rated(&n) * 1.6;
		for (int step = 1; step <= 25; step++) {
			_cleanup_(plan_freep) Plan *p = NULL;

			n.in.budget_w = full * step / 25;
			p = checked(&n);
			if (p->shortfall_w > 0)
				continue;
			/* what only tells equals apart is worth less than that */
			assert_true(p->value >= last * (1 - 1e-6));
			last = p->value;
			compared++;
		}
	}
	assert_true(compared > 10 * nodes);
}

/* Disks that may sleep where it is needed alone; a pool's as one. */
static void draw_needs(Node *n)
{
	for (size_t i = 0; i < n->in.n_devices; i++)
		if (n->devices[i].profile->kind == KIND_HDD && below(3))
			n->devices[i].deepest_needed = CONDITION_STANDBY_Z;
}

static bool sleeps_for_need(const Plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].reason == PLAN_NEEDED)
			return true;
	return false;
}

/* The budget's and all devices' limits together. */
static double missed_w(const Node *n, const Plan *p)
{
	double w = p->shortfall_w;

	for (size_t i = 0; i < p->n_devices; i++)
		w += MAX(p->devices[i].cap_w - n->devices[i].limit_w, 0.0);
	return w;
}

/* Without the sleep that is needed more is missing. */
static void check_need(const Node *n, const Plan *p)
{
	_cleanup_(plan_freep) Plan *other = NULL;
	Node without = *n;

	without.in.devices = without.devices;
	without.in.groups = without.groups;
	for (size_t i = 0; i < n->in.n_devices; i++)
		without.devices[i].deepest_needed = n->devices[i].deepest;
	other = checked(&without);
	assert_false(sleeps_for_need(other));
	assert_true(missed_w(n, other) > missed_w(n, p));
}

static void more_watts_never_leave_more_short_and_sleep_is_needed(void **state)
{
	unsigned long nodes = cases_of(500), needed = 0;
	(void)state;

	for (unsigned long k = 0; k < nodes; k++) {
		double last_w = INFINITY, last_limit_w = INFINITY, full;
		Policy policy;
		Node n;

		draw_node(&n, &policy);
		policy.n_rules = 0;
		n.in.n_groups = 0;
		draw_needs(&n);
		full = rated(&n);
		for (int step = 1; step <= 20; step++) {
			_cleanup_(plan_freep) Plan *p = NULL;

			n.in.budget_w = full * step / 20;
			p = checked(&n);
			check_sleep(&n, p);
			assert_true(p->shortfall_w <= last_w * (1 + 1e-9));
			assert_true(p->limit_shortfall_w <= last_limit_w * (1 + 1e-9));
			last_w = p->shortfall_w;
			last_limit_w = p->limit_shortfall_w;
			if (!sleeps_for_need(p))
				continue;
			needed++;
			check_need(&n, p);
		}
	}
	print_message("%lu plans needed a disk to sleep\n", needed);
	assert_true(needed > nodes / 2);
}

static void what_is_put_in_force_is_planned_again(void **state)
{
	unsigned long nodes = cases_of(1000);
	(void)state;

	for (unsigned long k = 0; k < nodes; k++) {
		_cleanup_(plan_freep) Plan *held = NULL, *next = NULL;
		Policy policy;
		Node n;

		draw_node(&n, &policy);
		policy.n_rules = 0;
		policy.hysteresis = 0;
		draw_needs(&n);
		held = checked(&n);
		for (size_t i = 0; i < n.in.n_devices; i++)
			if (!n.devices[i].must_sleep)
				n.devices[i].current = held->devices[i].setting;
		next = checked(&n);
		assert_false(plan_worth_changing(held, next, &policy));
	}
}

/* Where nothing meets the budget, all that is asked for is left to whom less would save no watt:
 * that is fewer where what is expected counts than where what can be drawn does. */
static double left_w(const Node *n, const Plan *p)
{
	double w = 0;

	for (size_t i = 0; i < p->n_devices && !(n->in.floors_yield_w > 0); i++)
		w += p->devices[i].reason == PLAN_LITTLE_SAVED;
	return w;
}

/* What is expected fits the budget, and what can be drawn fits what may be drawn at once; where it
 * is the budget itself that may be, nothing is tolerated. */
static void what_is_tolerated_is_planned_for_and_no_more(void **state)
{
	unsigned long nodes = cases_of(2000), more = 0;
	(void)state;

	for (unsigned long k = 0; k < nodes; k++) {
		_cleanup_(plan_freep) Plan *strict = NULL, *same = NULL, *tolerant = NULL;
		bool worse = k % 2;
		Policy policy;
		Node n;

		draw_node(&n, &policy);
		policy.n_rules = 0;
		if (isinf(n.in.budget_w))
			continue;
		n.in.floors_yield_w = below(2) ? INFINITY : 0;
		strict = checked(&n);
		n.in.at_once_w = n.in.budget_w;
		same = checked(&n);
		assert_true(same_plan(strict, same));
		n.in.at_once_w = n.in.budget_w * (1 + below(200) / 100.0);
		for (size_t i = 0; i < n.in.n_devices; i++) {
			n.devices[i].measured = below(2);
			n.devices[i].correction = 0.6 + below(worse ? 9 : 5) / 10.0;
		}
		tolerant = checked(&n);
		check_sleep(&n, tolerant);
		assert_true(tolerant->counted_w <= n.in.budget_w + tolerant->shortfall_w + 1e-6);
		assert_true(tolerant->cap_w <= MAX(n.in.at_once_w, strict->cap_w) * (1 + 1e-9));
		/* who draws more than its profile says may not be brought down as far */
		assert_true(worse || tolerant->shortfall_w <=
					     strict->shortfall_w + left_w(&n, tolerant) + 1e-6);
		for (size_t i = 0; !worse && i < tolerant->n_devices; i++)
			assert_true(tolerant->devices[i].counted_w <=
				    tolerant->devices[i].cap_w + 1e-6);
		more += tolerant->cap_w > n.in.budget_w + 1;
	}
	print_message("%lu plans allow more at once than the budget\n", more);
	assert_true(more > nodes / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "every_limit_holds_or_the_floor_is_reached",
		  every_limit_holds_or_the_floor_is_reached, by_throughput, NULL, NULL },
		{ "more_watts_are_never_worth_less", more_watts_are_never_worth_less, by_throughput,
		  NULL, NULL },
		{ "more_watts_never_leave_more_short_and_sleep_is_needed",
		  more_watts_never_leave_more_short_and_sleep_is_needed, by_throughput, NULL,
		  NULL },
		{ "what_is_put_in_force_is_planned_again", what_is_put_in_force_is_planned_again,
		  by_throughput, NULL, NULL },
		{ "what_is_tolerated_is_planned_for_and_no_more",
		  what_is_tolerated_is_planned_for_and_no_more, by_throughput, NULL, NULL },
		{ "every_limit_holds_or_the_floor_is_reached_where_shares_are_fair",
		  every_limit_holds_or_the_floor_is_reached, fairly, NULL, NULL },
		{ "more_watts_are_never_worth_less_where_shares_are_fair",
		  more_watts_are_never_worth_less, fairly, NULL, NULL },
		{ "more_watts_never_leave_more_short_and_sleep_is_needed_where_shares_are_fair",
		  more_watts_never_leave_more_short_and_sleep_is_needed, fairly, NULL, NULL },
		{ "what_is_put_in_force_is_planned_again_where_shares_are_fair",
		  what_is_put_in_force_is_planned_again, fairly, NULL, NULL },
		{ "what_is_tolerated_is_planned_for_and_no_more_where_shares_are_fair",
		  what_is_tolerated_is_planned_for_and_no_more, fairly, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
