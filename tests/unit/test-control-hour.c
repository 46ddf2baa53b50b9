/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An hour of each shipped node under falling budgets, with its workloads changing: the watts that
 * physics draws, not those the model believes, stay within the budget. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "control/cache-watch.h"
#include "control/control-state.h"
#include "given-back.h"
#include "sim-fixture.h"

#define CHANGE_EVERY_S 600.0

static const char *const budgets[] = { "90%", "80%", "70%", "60%", "50%" };

typedef struct Watched {
	double over_s, worst_w, mb_s, demand_mb_s;
} Watched;

/* Seconds above the budget in the span, and the highest draw after the first 30 s. */
static Watched watch(Fixture *f, double budget_w, double seconds)
{
	Watched w = {};
	double start_j = sim_node_joules(f->node);

	sim_node_over_seconds(f->node, budget_w);
	for (double t = 0; t < seconds; t += 5) {
		fixture_run(f, 5);
		w.mb_s += sim_node_true_mb_s(f->node) * 5 / seconds;
		w.demand_mb_s += sim_node_demand_mb_s(f->node) * 5 / seconds;
		if (t >= 30)
			w.worst_w = fmax(w.worst_w, sim_node_true_watts(f->node));
	}
	w.over_s = sim_node_over_seconds(f->node, budget_w);
	printf("# budget %.0f W: mean %.0f W, highest settled %.0f W, over for %.2f s, %.0f of %.0f MB/s\n",
	       budget_w, (sim_node_joules(f->node) - start_j) / seconds, w.worst_w, w.over_s,
	       w.mb_s, w.demand_mb_s);
	return w;
}

static void wake_all(Fixture *f)
{
	char *error = NULL;

	assert_int_equal(control_wake_device(f->control, "", &error), 0);
	fixture_run(f, 900); /* 60 disks, two at a time */
}

static void hour(const char *node)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	uint64_t cookie = 0;
	unsigned hours = 0;
	ControlState s;
	Fixture f;

	fixture_open(&f, node);
	before = fixture_dump(&f);
	fixture_start(&f);
	fixture_run(&f, CHANGE_EVERY_S);
	printf("# %s: rated %.0f W, drawn without a budget %.0f W\n", node, fixture_rated_w(&f),
	       sim_node_true_watts(f.node));
	for (size_t i = 0; i < ELEMENTSOF(budgets); i++) {
		uint64_t former = cookie;
		Watched w;

		cookie = fixture_set(&f, budgets[i]);
		if (former)
			fixture_release(&f, former);
		control_state(f.control, &s);
		w = watch(&f, s.budget_w, CHANGE_EVERY_S);
		control_state(f.control, &s);
		if (s.shortfall_w > 0)
			print_message("# %s at %s: degraded by %.1f W\n", node, budgets[i],
				      s.shortfall_w);
		assert_true(s.shortfall_w == 0);
		assert_true(w.over_s < 1);
		assert_true(w.worst_w <= s.budget_w);
	}
	fixture_release(&f, cookie);
	fixture_run(&f, 900);
	while (cache_watch_any_draining(&f.control->fleet) && hours++ < 48)
		fixture_run(&f, 3600);
	after = fixture_dump(&f);
	overlook_sleep(after);
	assert_string_equal(before, after);
	free(after);
	wake_all(&f);
	after = fixture_dump(&f);
	assert_string_equal(before, after);
	fixture_close(&f);
}

static void mixed_node_holds_every_budget_for_an_hour(void **state)
{
	(void)state;
	hour("policies/nodes/mixed.node");
}

static void flash_node_holds_every_budget_for_an_hour(void **state)
{
	(void)state;
	hour("policies/nodes/flash.node");
}

static void archive_node_holds_every_budget_for_an_hour(void **state)
{
	(void)state;
	hour("policies/nodes/archive.node");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mixed_node_holds_every_budget_for_an_hour),
		cmocka_unit_test(flash_node_holds_every_budget_for_an_hour),
		cmocka_unit_test(archive_node_holds_every_budget_for_an_hour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
