/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The clairvoyant of the benchmark: he is a bound, since nothing that can be set beats him with the
 * watts that it draws, and he is a close one, since the planner comes near to him where its model
 * is the truth. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "clairvoyant.h"
#include "control/control-state.h"
#include "sim-fixture.h"
#include "sim/sim-random.h"

#define TRIALS 300

#define FLASH(count, demand)                                                                       \
	"[devices flash]\nprofile = samsung-pm9a3\nqueues = 4\nread = 40%\nrandom = 100%\n"        \
	"read_size = 16K\nwrite_size = 128K\ndepth = 64\ncount = " count "\ndemand = " demand "\n"
#define DISKS                                                                                      \
	"[devices disk]\nprofile = seagate-constellation-es2\nread = 60%\nrandom = 70%\n"          \
	"read_size = 256K\nwrite_size = 256K\ndepth = 16\ncount = 4\ndemand = constant 20\n"

static const char wrong[] =
	"[node]\nname = wrong\nseed = 7\nmodel_error = 4%\nfamily_error = +10%\n"
	"drift = 20%/30min\nsensors = none\n" FLASH("3", "sine mean=1500 swing=1200 period=10min")
		DISKS;
static const char right[] = "[node]\nname = right\nseed = 7\nmodel_error = 0%\n"
			    "sensors = none\n" FLASH("6", "constant 1500") DISKS;

static void set_cost(Device *d, double share)
{
	char model[256];

	snprintf(model, sizeof(model),
		 "ctrl=user model=linear rbps=%.0f rseqiops=10000000 rrandiops=10000000 wbps=%.0f "
		 "wseqiops=10000000 wrandiops=10000000",
		 4e9 * share, 2e9 * share);
	assert_true(d->ops->cgroup_write(d, "io.cost.model", model) >= 0);
	assert_true(d->ops->cgroup_write(d, "io.cost.qos",
					 "enable=1 ctrl=user rpct=0 rlat=1000 wpct=0 wlat=1000 "
					 "min=100.00 max=100.00") >= 0);
}

/* Of each kind of knob one value by chance, which may be refused. */
static void turn_something(Device *d, uint64_t seed)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", 1 << sim_hash(seed, 1) % 10);
	d->ops->attr_write(d, "queue/nr_requests", text);
	snprintf(text, sizeof(text), "%d", 4 << sim_hash(seed, 2) % 8);
	d->ops->attr_write(d, "queue/max_sectors_kb", text);
	if (sim_hash(seed, 3) % 2)
		set_cost(d, sim_uniform(seed, 4));
	if (d->ops->feature_set)
		d->ops->feature_set(d, 2, sim_hash(seed, 5) % 5);
	if (d->ops->condition_set && sim_hash(seed, 6) % 4 == 0)
		d->ops->condition_set(d, sim_hash(seed, 7) % _CONDITION_MAX);
}

static void nothing_that_can_be_set_beats_him(void **state)
{
	_cleanup_(clairvoyant_freep) Clairvoyant *c = NULL;
	double nearest = 0;
	Fixture f;
	(void)state;

	fixture_open_text(&f, wrong);
	c = clairvoyant_new(f.node);
	assert_non_null(c);
	for (uint64_t trial = 0; trial < TRIALS; trial++) {
		Satisfaction s = {};
		double joules;

		for (size_t i = 0; i < sim_node_size(f.node); i++)
			turn_something((Device *)sim_node_device(f.node, i), sim_hash(trial, i));
		fixture_run(&f, 20);
		clairvoyant_look(c, INFINITY, 0, &(Satisfaction){});
		joules = sim_node_joules(f.node);
		fixture_run(&f, 1);
		clairvoyant_look(c, sim_node_joules(f.node) - joules, 0, &s);
		assert_true(s.asked > 0);
		assert_true(s.served <= s.best + 1e-6 * s.asked);
		assert_true(isnan(s.fair) || s.fair <= s.best + 1e-6 * s.asked);
		nearest = fmax(nearest, s.served / s.best);
	}
	printf("# the nearest of %d trials: %.3f of the clairvoyant\n", TRIALS, nearest);
	assert_true(nearest > 0.9);
	fixture_close(&f);
}

/* MB/s are weighted with the joules that they take, so that their sum is satisfaction. */
static double planned_satisfaction(Fixture *f, const Clairvoyant *c, double budget_w)
{
	PlanDevice devices[16] = {};
	PolicyRule rules[16] = {};
	Policy policy = { .deepest = CONDITION_STANDBY_Z, .rules = rules };
	_cleanup_(plan_freep) Plan *plan = NULL;
	size_t n = sim_node_size(f->node);
	double sum = 0;

	assert_true(n <= ELEMENTSOF(devices));
	for (size_t i = 0; i < n; i++) {
		const SimDevice *d =
			sim_node_find(sim_node_of(f->node), sim_node_device(f->node, i)->name);
		uint64_t until_us;

		devices[i] = (PlanDevice){
			.name = d->device->name,
			.profile = d->nature.profile,
			.offer = f->control->fleet.devices[i]->knobs.offer,
			.mix = d->nature.workload->mix,
			.demand_mb_s = sim_nature_demand(&d->nature, 0, &until_us),
			.limit_w = INFINITY,
			.group = PLAN_NO_GROUP,
			.pool = PLAN_NO_POOL,
			.deepest = CONDITION_STANDBY_Z,
			.current = SETTING_AS_FOUND,
			.bias = 1,
		};
		rules[i] = (PolicyRule){ .match = d->device->name,
					 .weight = clairvoyant_joules_per_mb(c, i) };
	}
	policy.n_rules = n;
	assert_int_equal(plan_make(&(PlanInput){ .devices = devices,
						 .n_devices = n,
						 .policy = &policy,
						 .budget_w = budget_w,
						 .at_once_w = INFINITY },
				   &plan),
			 0);
	assert_true(plan->expect_w <= budget_w);
	for (size_t i = 0; i < n; i++)
		sum += rules[i].weight * plan->devices[i].mb_s;
	return sum;
}

static void a_planner_who_knows_the_truth_comes_near(void **state)
{
	static const double budgets_w[] = { 60, 70, 80, 90, 100 };
	_cleanup_(clairvoyant_freep) Clairvoyant *c = NULL;
	Fixture f;
	(void)state;

	fixture_open_text(&f, right);
	fixture_start(&f);
	fixture_run(&f, 30);
	c = clairvoyant_new(f.node);
	assert_non_null(c);
	for (size_t i = 0; i < ELEMENTSOF(budgets_w); i++) {
		Satisfaction s = {};
		double planned;

		fixture_run(&f, 1);
		clairvoyant_look(c, budgets_w[i], 0, &s);
		planned = planned_satisfaction(&f, c, budgets_w[i]);
		printf("# %.0f W: planned %.3f W, clairvoyant %.3f W, as fair %.3f W of %.3f W\n",
		       budgets_w[i], planned, s.best, s.fair, s.asked);
		assert_true(planned <= s.best * 1.001);
		assert_true(planned >= s.best * 0.97);
		assert_true(s.fair < s.best && s.best < s.asked);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_that_can_be_set_beats_him),
		cmocka_unit_test(a_planner_who_knows_the_truth_comes_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
