/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-sim.h"

#include <math.h>
#include <time.h>

#include "model/predict.h"
#include "sim/sim-device.h"
#include "sim/sim-random.h"

static const char *const shipped[] = {
	"policies/nodes/tiny.node",  "policies/nodes/case-study.node", "policies/nodes/mixed.node",
	"policies/nodes/flash.node", "policies/nodes/archive.node",
};

typedef struct Dice {
	uint64_t seed, n;
} Dice;

static unsigned roll(Dice *d, unsigned sides)
{
	return (unsigned)(sim_uniform(d->seed, d->n++) * sides);
}

static void set_number_attr(Device *d, const char *attr, unsigned v)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", v);
	assert_int_equal(set_attr(d, attr, text), 0);
}

/* The model's six numbers for a pace, as facts/kernel.md derives them. */
static void set_pace(Device *d, double pace_w)
{
	const Energy(*e)[_PATTERN_MAX] = d->profile->energy;
	double rate[_DIRECTION_MAX][3];
	char line[256];

	for (int i = 0; i < _DIRECTION_MAX; i++) {
		double page_j = fmax(e[i][RANDOM_IO].page_j, e[i][SEQUENTIAL_IO].page_j);

		rate[i][0] = page_j > 0 ? 4096 * floor(fmax(pace_w / page_j, 1)) : 1e12;
		rate[i][1] = floor(fmax(pace_w / (e[i][SEQUENTIAL_IO].io_j + page_j), 1));
		rate[i][2] = floor(fmax(pace_w / (e[i][RANDOM_IO].io_j + page_j), 1));
	}
	snprintf(line, sizeof(line),
		 "ctrl=user model=linear rbps=%.0f rseqiops=%.0f rrandiops=%.0f wbps=%.0f "
		 "wseqiops=%.0f wrandiops=%.0f",
		 rate[0][0], rate[0][1], rate[0][2], rate[1][0], rate[1][1], rate[1][2]);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.model", line), 0);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos",
					      "enable=1 ctrl=user rpct=0 rlat=1000 "
					      "wpct=0 wlat=1000 min=100 max=100"),
			 0);
}

static void random_depth(Device *d, Dice *dice, Setting *s)
{
	const SimDevice *sim = d->impl;

	if (d->kind != KIND_NVME) {
		s->depth = 1 + roll(dice, 32);
		set_number_attr(d, "device/queue_depth", s->depth);
		return;
	}
	assert_int_equal(set_attr(d, "queue/scheduler", "bfq"), 0);
	if (roll(dice, 2)) {
		s->depth = 1;
		set_number_attr(d, "queue/iosched/strict_guarantees", 1);
		return;
	}
	s->depth = 4 + roll(dice, 60);
	set_number_attr(d, "queue/nr_requests", s->depth);
	s->depth *= sim->nature.queues;
}

/* A random setting, made so on the device. */
static Setting random_setting(Device *d, Dice *dice)
{
	Setting s = SETTING_AS_FOUND;

	if (d->kind == KIND_NVME && roll(dice, 2)) {
		do
			s.power_state = (int)roll(dice, PROFILE_STATES_MAX);
		while (!(d->power_states >> s.power_state & 1));
		assert_int_equal(d->ops->feature_set(d, 2, (uint32_t)s.power_state), 0);
	}
	if (roll(dice, 3) == 0)
		random_depth(d, dice, &s);
	if (roll(dice, 3) == 0) {
		s.chunk_kib = 4U << roll(dice, 7);
		set_number_attr(d, "queue/max_sectors_kb", s.chunk_kib);
	}
	if (roll(dice, 3) == 0) {
		s.pace_w = d->profile->rated_w * (0.02 + 0.5 * sim_uniform(dice->seed, dice->n++));
		set_pace(d, s.pace_w);
	}
	return s;
}

static void reset_registers(Rig *r, Device *d)
{
	assert_int_equal(sim_node_inject(r->node, d->name, SIM_RESET), 0);
}

/* The cap of the setting against what the device truly draws; the largest ratio seen. */
static double check_device(Rig *r, Device *d, Dice *dice)
{
	const SimTruth *t = &((SimDevice *)d->impl)->record->truth;
	Setting s;
	double cap_w, ratio;

	reset_registers(r, d);
	s = random_setting(d, dice);
	cap_w = cap_watts(d->profile, &s);
	rig_watts(r);
	ratio = t->rates.watts / cap_w;
	if (ratio > 1 + d->profile->error) {
		char text[128];

		fail_msg("%s (%s): %s draws %g W, cap %g W", d->name, d->profile->name,
			 setting_text(text, sizeof(text), &s), t->rates.watts, cap_w);
	}
	return ratio;
}

static void a_cap_bounds_what_a_device_truly_draws(void **state)
{
	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(shipped); i++) {
		Dice dice = { .seed = i };
		double most = 0;
		size_t n = 0;
		Rig r;

		rig_new(&r);
		rig_open_file(&r, shipped[i], NULL);
		for (unsigned round = 0; round < 400 / r.n_devices + 4; round++) {
			for (size_t k = 0; k < r.n_devices; k++, n++)
				most = fmax(most, check_device(&r, r.devices[k], &dice));
			rig_pass(&r, 97);
		}
		print_message("%s: %zu random settings, most drawn %.4f of the cap\n", shipped[i],
			      n, most);
		rig_free(&r);
	}
}

/* Every workload at its worst: the same node with all demand saturating. */
static void caps_hold_for_saturating_workloads_of_any_shape(void **state)
{
	static const char *const profiles[] = {
		"samsung-pm9a3",   "intel-p5510",         "dell-ps1010",
		"samsung-pm1733",  "samsung-pm1725",      "intel-d3-s4510",
		"samsung-860-evo", "seagate-exos-7e2000", "seagate-constellation-es2"
	};
	Dice dice = { .seed = 99 };
	double most = 0;
	size_t n = 0;

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		_cleanup_free_ char *text = strdup(NODE_HEAD);
		Rig r;

		for (size_t i = 0; i < ELEMENTSOF(profiles); i++) {
			char *more = text_printf(
				"%s[devices d%zu]\nprofile = %s\nread = %u%%\nrandom = %u%%\n"
				"read_size = %uK\nwrite_size = %uK\ndepth = %u\n"
				"demand = saturate\n",
				text, i, profiles[i], 50 * roll(&dice, 3), 50 * roll(&dice, 3),
				4U << roll(&dice, 9), 4U << roll(&dice, 9), 1U << roll(&dice, 9));
			free(text);
			text = more;
		}
		rig_new(&r);
		rig_open(&r, text);
		for (size_t k = 0; k < 8 * r.n_devices; k++, n++)
			most = fmax(most, check_device(&r, r.devices[k % r.n_devices], &dice));
		rig_free(&r);
	}
	print_message("%zu saturated random settings, most drawn %.4f of the cap\n", n, most);
}

static void pacing_lets_its_joules_through_and_no_more(void **state)
{
	static const double paces_w[] = { 4, 2, 1, 0.5, 0.25 };
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED
		 "[devices mixed]\nprofile = samsung-pm9a3\nread = 50%\nread_size = 16K\n"
		 "write_size = 64K\nrandom = 100%\ndemand = saturate\n"
		 "[devices ssd]\nprofile = intel-d3-s4510\nread = 100%\nread_size = 4K\n"
		 "demand = saturate\n");
	for (size_t i = 0; i < ELEMENTSOF(paces_w); i++)
		for (size_t k = 0; k < r.n_devices; k++) {
			Device *d = r.devices[k];
			double pace_w = d->kind == KIND_NVME ? paces_w[i] : paces_w[i] / 4;
			Setting s = { .power_state = -1, .pace_w = pace_w };
			DeviceCounters a, b;
			double w;

			reset_registers(&r, d);
			set_pace(d, pace_w);
			assert_int_equal(d->ops->counters(d, &a), 0);
			rig_pass(&r, 10);
			assert_int_equal(d->ops->counters(d, &b), 0);
			w = (b.joules - a.joules) /
			    ((double)(b.time_us - a.time_us) / USEC_PER_SEC);
			if (fabs(w / pace_w - 1) > 0.02)
				fail_msg("%s paced to %g W does %g W", d->name, pace_w, w);
			w = ((SimDevice *)d->impl)->record->truth.rates.watts;
			assert_true(w <= cap_watts(d->profile, &s));
		}
	rig_free(&r);
}

/* How far the fast knobs and sleep can bring the shipped nodes down, by what they truly draw. */
static void half_the_rated_power_is_in_reach_of_the_shipped_nodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(shipped); i++) {
		double rated_w = 0, found_w;
		Rig r;

		rig_new(&r);
		rig_open_file(&r, shipped[i], NULL);
		found_w = rig_watts(&r);
		for (size_t k = 0; k < r.n_devices; k++) {
			Device *d = r.devices[k];

			rated_w += d->profile->rated_w;
			set_pace(d, 0.1 * d->profile->rated_w);
			if (d->conditions >> CONDITION_STANDBY_Z & 1)
				assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
		}
		rig_pass(&r, 60);
		print_message("%s: rated %.1f W, drawn %.1f W as found, %.1f W held down\n",
			      shipped[i], rated_w, found_w, rig_watts(&r));
		assert_true(rig_watts(&r) <= 0.5 * rated_w);
		rig_free(&r);
	}
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 84 devices whose loads change often, looked at every second as the daemon and a witness do. */
static void an_hour_of_84_devices_runs_through_and_its_cost_is_told(void **state)
{
	Rig r;
	double start, over = 0;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices a]\ncount = 24\nprofile = samsung-pm9a3\n"
			       "demand = sine mean=900 swing=800 period=6min\n"
			       "[devices b]\ncount = 60\nprofile = seagate-exos-7e2000\n"
			       "demand = burst high=90 low=0 on=10s off=50s\n");
	start = cpu_s();
	for (int s = 0; s < 3600; s++) {
		DeviceCounters c;

		rig_pass(&r, 1);
		for (size_t k = 0; k < r.n_devices; k++)
			assert_int_equal(r.devices[k]->ops->counters(r.devices[k], &c), 0);
		assert_int_equal(r.node->ops->process(r.node), 0);
		over += sim_node_over_seconds(r.node, 400);
	}
	print_message("an hour of 84 devices: %.3f s of CPU, %.1f s above 400 W\n", cpu_s() - start,
		      over);
	/* under no budget the busy ones pass 400 W at times, and only then */
	assert_true(over > 0 && over < 3600);
	rig_free(&r);
}

static void a_link_that_carries_io_saves_nothing(void **state)
{
	static const char ssd[] =
		NODE_HEAD "[devices ssd]\nprofile = intel-d3-s4510\nread = 20%\n"
			  "random = 90%\nread_size = 16K\nwrite_size = 128K\ndepth = 32\n"
			  "demand = 0:0 10s:100MB/s\n";
	double idle_w, carries_w;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, ssd);
	d = rig_device(&r, "sda");
	idle_w = sim_node_true_watts(r.node);
	rig_pass(&r, 15);
	carries_w = sim_node_true_watts(r.node);
	assert_int_equal(set_attr(d, "host/link_power_management_policy", "med_power_with_dipm"),
			 0);
	rig_pass(&r, 1);
	assert_float_equal(sim_node_true_watts(r.node), carries_w, 1e-6);
	assert_true(carries_w > idle_w);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cap_bounds_what_a_device_truly_draws),
		cmocka_unit_test(caps_hold_for_saturating_workloads_of_any_shape),
		cmocka_unit_test(a_link_that_carries_io_saves_nothing),
		cmocka_unit_test(pacing_lets_its_joules_through_and_no_more),
		cmocka_unit_test(half_the_rated_power_is_in_reach_of_the_shipped_nodes),
		cmocka_unit_test(an_hour_of_84_devices_runs_through_and_its_cost_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
