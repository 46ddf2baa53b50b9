/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A limit that tolerates a moment above it: nobody is held back while what is expected to be drawn
 * fits, and what is tolerated is never exceeded. */

#include "test-control.h"

#include "control/overload.h"

#define TOLERANCE_S 3
#define REGAINED_S  600.0
#define HELD_BACK   0.99 /* of what is asked for */
#define UNHELD      0.999

static void limit_to(Fixture *f, double watts, double tolerance_s)
{
	fixture_claim(f, &(Claim){ .class = CLASS_OPERATOR,
				   .limit = watts,
				   .unit = LIMIT_WATTS,
				   .tolerance_s = tolerance_s,
				   .source = "test",
				   .reason = "",
				   .expiry_us = USEC_NEVER });
}

static void open_node(Fixture *f, const char *name)
{
	_cleanup_free_ char *path = text_printf("policies/nodes/%s.node", name);

	fixture_open(f, path);
	fixture_start(f);
	fixture_run(f, 30);
}

static size_t count_held(const Fixture *f)
{
	size_t n = 0;

	for_each_device(const Managed, md, &f->control->fleet) n +=
		workload_mb_s(&md->workload) > 0 && knob_set_touched(md);
	return n;
}

static double mean_watts(Fixture *f, double seconds)
{
	double start_j = sim_node_joules(f->node);

	fixture_run(f, seconds);
	return (sim_node_joules(f->node) - start_j) / seconds;
}

/* Rated for more than the budget, and drawing less. */
static void who_draws_less_than_the_budget_is_not_held_back(void **state)
{
	Fixture f;
	double free_w;

	(void)state;
	open_node(&f, "flash");
	free_w = mean_watts(&f, 60);
	limit_to(&f, 1.15 * free_w, TOLERANCE_S);
	fixture_run(&f, 30);
	print_message("# %.1f W without a limit, %.1f W of %.1f W with it\n", free_w,
		      mean_watts(&f, 10), 1.15 * free_w);
	assert_true(fixture_rated_w(&f) > 1.2 * free_w);
	assert_int_equal(count_held(&f), 0);
	fixture_close(&f);
}

static double planned_mb_s(const Fixture *f, double budget_w, double tolerance_s)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	_cleanup_free_ char *why = NULL;
	const PlanQuery query = { .budget_w = budget_w, .tolerance_s = tolerance_s };

	assert_int_equal(control_plan(f->control, &query, &p, &why), 0);
	return p->mb_s / p->full_mb_s;
}

static void a_dry_run_says_what_the_limit_will_cost(void **state)
{
	Fixture f;
	double budget_w;

	(void)state;
	open_node(&f, "flash");
	budget_w = 1.05 * mean_watts(&f, 60);
	control_note_asked(f.control); /* as who asks over the bus does */
	fixture_run(&f, 3);
	print_message("# %.3f planned, %.3f with a tolerance\n", planned_mb_s(&f, budget_w, 0),
		      planned_mb_s(&f, budget_w, TOLERANCE_S));
	assert_true(planned_mb_s(&f, budget_w, 0) < HELD_BACK);
	assert_true(planned_mb_s(&f, budget_w, TOLERANCE_S) > UNHELD);
	assert_true(planned_mb_s(&f, budget_w, NAN) < HELD_BACK);
	limit_to(&f, budget_w, TOLERANCE_S);
	fixture_run(&f, 30);
	assert_true(planned_mb_s(&f, budget_w, NAN) > UNHELD);
	assert_true(planned_mb_s(&f, budget_w, 0) < HELD_BACK);
	fixture_close(&f);
}

static void without_tolerance_what_they_can_draw_is_within_the_limit(void **state)
{
	Fixture f;
	double free_w;

	(void)state;
	open_node(&f, "flash");
	free_w = mean_watts(&f, 60);
	limit_to(&f, 1.15 * free_w, 0);
	fixture_run(&f, 30);
	assert_true(count_held(&f) > 0);
	assert_true(state_of(&f).watts.cap_w <= 1.15 * free_w + 1e-6);
	fixture_close(&f);
}

/* Nobody is asked before IO starts the motor of a disk that sleeps. */
static void a_hard_limit_leaves_room_for_a_motor_that_io_starts(void **state)
{
	SimOverload before = {}, o = {};
	double budget_w;
	Fixture f;

	(void)state;
	open_node(&f, "mixed");
	budget_w = 0.8 * fixture_rated_w(&f);
	limit_to(&f, budget_w, 0);
	fixture_run(&f, 60);
	assert_true(sim_node_overload(f.node, budget_w, &before) >= 0);
	for (int k = 0; k < 360; k++) {
		fixture_run(&f, 10);
		assert_true(sim_node_overload(f.node, budget_w, &o) >= 0);
	}
	print_message("# %zu disks woken by IO, %.3f s above, %.1f W at most of %.1f W\n",
		      count_wakeups(&f, "IO"), o.above_s, o.most_w, budget_w);
	assert_true(count_wakeups(&f, "IO") > 0);
	assert_true(o.above_s <= 0);
	fixture_close(&f);
}

static void a_binding_budget_is_used_and_held(void **state)
{
	Fixture f;
	double free_w, budget_w, drawn_w;

	(void)state;
	open_node(&f, "mixed");
	free_w = mean_watts(&f, 60);
	budget_w = 0.9 * free_w;
	limit_to(&f, budget_w, TOLERANCE_S);
	fixture_run(&f, 60);
	drawn_w = mean_watts(&f, 300);
	print_message("# %.1f W drawn of %.1f W, %.1f W without\n", drawn_w, budget_w, free_w);
	print_message("# overload %.2f s\n", state_of(&f).overload.spent_s);
	assert_true(drawn_w <= budget_w);
	assert_true(state_of(&f).overload.spent_s <= TOLERANCE_S);
	fixture_close(&f);
}

/* Twenty seconds of every ten minutes everybody wants all, and the profiles are wrong. */
static void everybody_at_once_spends_no_more_than_is_tolerated(void **state)
{
	double budget_w, before_s = 0, spent_s = 0, most_s = 0;
	SimOverload o = {};
	Fixture f;

	(void)state;
	open_node(&f, "untrue");
	budget_w = 0.75 * fixture_rated_w(&f);
	limit_to(&f, budget_w, TOLERANCE_S);
	/* what was drawn before is not counted */
	assert_true(sim_node_overload(f.node, budget_w, &o) >= 0);
	before_s = o.overload_s;
	for (int k = 0; k < 3600; k++) {
		fixture_run(&f, 1);
		assert_true(sim_node_overload(f.node, budget_w, &o) >= 0);
		spent_s = MAX(spent_s + o.overload_s - before_s - TOLERANCE_S / REGAINED_S, 0.0);
		before_s = o.overload_s;
		most_s = MAX(most_s, spent_s);
	}
	print_message("# %.1f s above %.1f W: Z = %.2f s, %.1f W at most; %.1f %% unspent\n",
		      o.above_s, budget_w, o.overload_s, o.most_w,
		      100 * o.unspent_j / (budget_w * o.seconds));
	print_message("# %.2f s of %d s were spent at most\n", most_s, TOLERANCE_S);
	assert_true(most_s <= TOLERANCE_S);
	assert_true(state_of(&f).overload.spent_s <= TOLERANCE_S);
	fixture_close(&f);
}

/* How many seconds of so much over the budget it takes until caps count; 0: they do not. */
static unsigned seconds_until_caps_count(const Fixture *f, double over)
{
	const Control *c = f->control;
	double drawn_w = (1 + over) * c->limits.budget_w;
	Tools t = c->tools;
	Overload o;

	overload_init(&o, true);
	o.counted_us = t.now_us;
	for (unsigned s = 1; s <= 600; s++) {
		t.now_us += USEC_PER_SEC;
		if (overload_count(&o, &c->limits, drawn_w, true, &t).level) {
			assert_true(o.spent_s <= TOLERANCE_S);
			return s;
		}
	}
	return 0;
}

static void caps_count_at_once_where_much_is_spent_and_later_where_little_is(void **state)
{
	Overload o;
	Fixture f;

	(void)state;
	open_node(&f, "flash");
	limit_to(&f, 200, TOLERANCE_S);
	/* what a limit that has just begun finds is no overrun of it */
	overload_init(&o, true);
	assert_false(overload_count(&o, &f.control->limits, 400, true, &f.control->tools).level);
	fixture_run(&f, 2);
	assert_int_equal(seconds_until_caps_count(&f, 0.6), 1);
	assert_int_equal(seconds_until_caps_count(&f, 0.15), 2);
	assert_in_range(seconds_until_caps_count(&f, 0.02), 10, 15);
	assert_int_equal(seconds_until_caps_count(&f, 0), 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_draws_less_than_the_budget_is_not_held_back),
		cmocka_unit_test(a_dry_run_says_what_the_limit_will_cost),
		cmocka_unit_test(without_tolerance_what_they_can_draw_is_within_the_limit),
		cmocka_unit_test(a_hard_limit_leaves_room_for_a_motor_that_io_starts),
		cmocka_unit_test(a_binding_budget_is_used_and_held),
		cmocka_unit_test(caps_count_at_once_where_much_is_spent_and_later_where_little_is),
		cmocka_unit_test(everybody_at_once_spends_no_more_than_is_tolerated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
