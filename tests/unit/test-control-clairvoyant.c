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

#define FLASH(read, count, demand)                                                                 \
	"[devices flash]\nprofile = samsung-pm9a3\nqueues = 4\nread = " read "\nrandom = 100%\n"   \
	"read_size = 16K\nwrite_size = 128K\ndepth = 64\ncount = " count "\ndemand = " demand "\n"
#define DISKS                                                                                      \
	"[devices disk]\nprofile = seagate-constellation-es2\nread = 60%\nrandom = 70%\n"          \
	"read_size = 256K\nwrite_size = 256K\ndepth = 16\ncount = 4\ndemand = constant 20\n"

static const char wrong[] =
	"[node]\nname = wrong\nseed = 7\nmodel_error = 4%\nfamily_error = -10%\nsensors = none\n" FLASH(
		"100%", "1", "saturate");
static const char wrong_disk[] =
	"[node]\nname = wrong\nseed = 7\nmodel_error = 4%\nfamily_error = -8%\nsensors = none\n"
	"[devices disk]\nprofile = seagate-constellation-es2\nread = 60%\nrandom = 70%\n"
	"read_size = 256K\nwrite_size = 256K\ndepth = 16\n"
	"demand = burst high=60 low=0 on=1min off=2min\n";
static const char right[] = "[node]\nname = right\nseed = 7\nmodel_error = 0%\n"
			    "sensors = none\n" FLASH("40%", "6", "constant 1500") DISKS;

static const char ssd[] = "[node]\nname = ssd\nseed = 7\nmodel_error = 0%\nsensors = none\n"
			  "[devices ssd]\nprofile = intel-d3-s4510\nread = 20%\nrandom = 90%\n"
			  "read_size = 16K\nwrite_size = 128K\ndepth = 32\n"
			  "demand = constant 100\n";

static void pace(Device *d, double share)
{
	char model[256], qos[128];

	snprintf(model, sizeof(model),
		 "ctrl=user model=linear rbps=%.0f rseqiops=10000000 rrandiops=10000000 wbps=%.0f "
		 "wseqiops=10000000 wrandiops=10000000",
		 4e9 * share, 2e9 * share);
	snprintf(qos, sizeof(qos),
		 "enable=%d ctrl=user rpct=0 rlat=1000 wpct=0 wlat=1000 min=100.00 max=100.00",
		 share > 0);
	assert_true(d->ops->cgroup_write(d, "io.cost.model", model) >= 0);
	assert_true(d->ops->cgroup_write(d, "io.cost.qos", qos) >= 0);
}

static bool by_chance(uint64_t seed, uint64_t what)
{
	return sim_hash(seed, what) % 3 == 0;
}

/* Of each knob, one by one, now a value by chance and now the one as found. Some are refused. */
static void turn_knobs(Device *d, uint64_t seed)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", by_chance(seed, 1) ? 1 << sim_hash(seed, 2) % 10 : 1023);
	d->ops->attr_write(d, "queue/nr_requests", text);
	snprintf(text, sizeof(text), "%d", by_chance(seed, 3) ? 4 << sim_hash(seed, 4) % 8 : 1280);
	d->ops->attr_write(d, "queue/max_sectors_kb", text);
	pace(d, by_chance(seed, 5) ? 0.01 + sim_uniform(seed, 6) : 0);
	if (d->ops->feature_set)
		d->ops->feature_set(d, 2, by_chance(seed, 7) ? sim_hash(seed, 8) % 5 : 0);
	if (d->ops->condition_set && by_chance(seed, 9))
		d->ops->condition_set(d, sim_hash(seed, 10) % _CONDITION_MAX);
}

/* The nearest that anything comes to him, who has the watts that are drawn. */
static double nearest_on(const char *node)
{
	_cleanup_(clairvoyant_freep) Clairvoyant *c = NULL;
	double nearest = 0;
	Fixture f;

	fixture_open_text(&f, node);
	c = clairvoyant_new(f.node);
	assert_non_null(c);
	for (uint64_t trial = 0; trial < TRIALS; trial++) {
		Satisfaction s = {};
		double joules;

		turn_knobs((Device *)sim_node_device(f.node, 0), trial);
		fixture_run(&f, 20);
		clairvoyant_look(c, (Drawn){ INFINITY }, &(Satisfaction){});
		joules = sim_node_joules(f.node);
		fixture_run(&f, 1);
		clairvoyant_look(c, (Drawn){ sim_node_joules(f.node) - joules }, &s);
		assert_true(s.served <= s.best + 1e-6 * s.asked);
		assert_true(isnan(s.fair) || s.fair <= s.best + 1e-6 * s.asked);
		if (s.served > 0)
			nearest = fmax(nearest, s.served / s.best);
	}
	fixture_close(&f);
	return nearest;
}

static void nothing_that_can_be_set_beats_him(void **state)
{
	double flash = nearest_on(wrong), disk = nearest_on(wrong_disk);
	(void)state;

	printf("# the nearest of %d trials: %.4f of the clairvoyant, %.4f with a disk\n", TRIALS,
	       flash, disk);
	assert_true(flash > 0.999);
	assert_true(disk > 0.999);
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
			.measured = true,
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
		clairvoyant_look(c, (Drawn){ budgets_w[i] }, &s);
		planned = planned_satisfaction(&f, c, budgets_w[i]);
		printf("# %.0f W: planned %.3f W, clairvoyant %.3f W, as fair %.3f W of %.3f W\n",
		       budgets_w[i], planned, s.best, s.fair, s.asked);
		assert_true(planned <= s.best * 1.001);
		assert_true(planned >= s.best * 0.97);
		assert_true(s.fair < s.best && s.best < s.asked);
	}
	fixture_close(&f);
}

/* Who asks for anything has a link that is awake; who asks for nothing may let it sleep. */
static void he_lets_no_link_sleep_that_carries(void **state)
{
	const Profile *p;
	SimDevice *d;
	TrueCurve c;
	Fixture f;
	(void)state;

	fixture_open_text(&f, ssd);
	d = sim_node_find(sim_node_of(f.node), sim_node_device(f.node, 0)->name);
	p = d->device->profile;
	assert_int_equal(true_curve_init(&c, d), 0);
	true_curve_advance(&c, clock_now_us(d->clock));
	assert_true(p->link_saving_w > 0);
	assert_float_equal(true_hull_watts(&c.awake, 0), p->idle_w, 0.001);
	assert_float_equal(c.least_w, p->idle_w - p->link_saving_w, 0.001);
	true_curve_done(&c);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_that_can_be_set_beats_him),
		cmocka_unit_test(a_planner_who_knows_the_truth_comes_near),
		cmocka_unit_test(he_lets_no_link_sleep_that_carries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
