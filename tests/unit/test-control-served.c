/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that serves less at a setting than its profile says: that is learned, and the plan is
 * made anew. */

#include "test-control.h"

#include "control/served.h"

#define BUSY_PAIR                                                                                  \
	SIM_NODE("balanced")                                                                       \
	"[devices flash]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 1\ncount = 2\n"         \
	"read = 0%\nrandom = 100%\nread_size = 256K\nwrite_size = 256K\ndepth = 64\n"              \
	"demand = saturate\n"

#define BUDGET "20.4W"

/* As loop devices under the profile of a drive: each IO costs them more than it costs the drive. */
static const char slow[] = BUSY_PAIR "io_longer = 90us\n";
static const char as_modelled[] = BUSY_PAIR;
/* What serves them serves one IO at a time: nothing being set, they fall short, too. */
static const char outpaced[] = BUSY_PAIR "io_longer = 100us\nio_serial = 100us\n";

/* Devices that have neither power states nor pacing: shaping alone. */
static void open_pair(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	fixture_start(f);
	f->control->policies.chosen->forbidden |= MECHANISM_PACING | MECHANISM_POWER_STATE;
	fixture_run(f, 5);
}

static Managed *device(const Fixture *f, size_t index)
{
	return f->control->fleet.devices[index];
}

static void run_within_budget(Fixture *f, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		fixture_run(f, 1);
		assert_within_budget(f);
	}
}

static size_t count_learned(const Fixture *f)
{
	return device(f, 0)->served.learned.n + device(f, 1)->served.learned.n;
}

static double served_of_planned(const Managed *md)
{
	return workload_mb_s(&md->workload) / md->planned.device.mb_s;
}

/* What differs by less is not learned. */
#define OFF 0.2

static void assert_serves_as_planned(const Fixture *f)
{
	for (size_t i = 0; i < f->control->fleet.n; i++) {
		const Managed *md = device(f, i);
		double served = workload_mb_s(&md->workload), planned = md->planned.device.mb_s;
		char setting[128];

		print_message("# %s: %s, planned %.1f MB/s, serves %.1f, floor %.1f\n",
			      md->device->name,
			      setting_text(setting, sizeof(setting), &md->knobs.actual), planned,
			      served, md->planned.device.floor_mb_s);
		assert_true(fabs(served - planned) < OFF * planned);
	}
}

static void assert_floors(const Fixture *f)
{
	for (size_t i = 0; i < f->control->fleet.n; i++)
		assert_true(workload_mb_s(&device(f, i)->workload) >=
			    device(f, i)->planned.device.floor_mb_s);
}

static void who_serves_less_is_planned_with_that_within_seconds(void **state)
{
	const Managed *md;
	Fixture f;

	(void)state;
	open_pair(&f, slow);
	fixture_set(&f, BUDGET);
	run_within_budget(&f, 2);
	md = device(&f, served_of_planned(device(&f, 1)) < served_of_planned(device(&f, 0)));
	assert_true(served_of_planned(md) < 0.8);
	run_within_budget(&f, 8);
	assert_true(count_decisions(&f, md->device->name, "MB/s are served, the model says") == 1);
	/* what is raised waits for the policy's dwell */
	run_within_budget(&f, 35);
	assert_serves_as_planned(&f);
	assert_floors(&f);
	fixture_close(&f);
}

static void what_was_learned_lasts_for_an_hour_and_nothing_swings(void **state)
{
	size_t learned, decisions;
	Setting set[2];
	Fixture f;

	(void)state;
	open_pair(&f, slow);
	fixture_set(&f, BUDGET);
	run_within_budget(&f, 60);
	learned = count_learned(&f);
	decisions = count_decisions(&f, NULL, "");
	assert_true(learned > 0);
	for (size_t i = 0; i < 2; i++)
		set[i] = device(&f, i)->knobs.actual;
	for (unsigned minute = 1; minute < 59; minute++) {
		run_within_budget(&f, 60);
		for (size_t i = 0; i < 2; i++)
			assert_true(setting_equal(&set[i], &device(&f, i)->knobs.actual));
	}
	assert_int_equal(count_learned(&f), learned);
	assert_int_equal(count_decisions(&f, NULL, ""), decisions);
	assert_serves_as_planned(&f);
	assert_floors(&f);
	fixture_close(&f);
}

/* Of a setting that is not in force: there it is measured again. */
static const LearnedFactor *learned_elsewhere(const Managed *md)
{
	const Learned *l = &md->served.learned;

	for (size_t i = 0; i < l->n; i++)
		if (l->of[i].setting.depth != md->knobs.actual.depth ||
		    l->of[i].setting.chunk_kib != md->knobs.actual.chunk_kib)
			return &l->of[i];
	return NULL;
}

static void after_that_half_of_it_is_forgiven(void **state)
{
	const LearnedFactor *l;
	LearnedFactor was;
	Fixture f;

	(void)state;
	open_pair(&f, slow);
	fixture_set(&f, BUDGET);
	run_within_budget(&f, 60);
	l = learned_elsewhere(device(&f, 0)) ?: learned_elsewhere(device(&f, 1));
	assert_non_null(l);
	was = *l;
	assert_true(was.factor < 0.8);
	run_within_budget(&f, 3600);
	assert_true(setting_equal(&l->setting, &was.setting));
	assert_true(fabs(l->factor - (1 + was.factor) / 2) < 0.01);
	fixture_close(&f);
}

static void of_another_mix_it_tells_nothing(void **state)
{
	size_t learned;
	Managed *md;
	Fixture f;

	(void)state;
	open_pair(&f, slow);
	fixture_set(&f, BUDGET);
	run_within_budget(&f, 60);
	md = device(&f, device(&f, 0)->served.learned.n == 0);
	learned = md->served.learned.n;
	md->workload.mix.read_share += 0.2;
	served_judge(md, &f.control->tools);
	assert_int_equal(served_take_need(md, f.control->tools.now_us).level, NEED_NOTHING);
	assert_true(learned > 0);
	assert_int_equal(md->served.learned.n, learned);
	md->workload.mix.read_share += 0.2;
	served_judge(md, &f.control->tools);
	assert_int_equal(served_take_need(md, f.control->tools.now_us).level, NEED_BETTER_PLAN);
	assert_int_equal(served_take_need(md, f.control->tools.now_us).level, NEED_NOTHING);
	assert_int_equal(md->served.learned.n, 0);
	fixture_close(&f);
}

static double believed_mb_s(const Managed *md)
{
	Mix mix = md->workload.mix;
	Prediction p;

	mix.learned = &md->served.learned;
	predict(md->device->profile, &mix, &SETTING_AS_FOUND, &p);
	return p.mb_s;
}

static void an_outpaced_device_is_believed_to_serve_as_much_of_another_pattern(void **state)
{
	double served_mb_s;
	Managed *md;
	Fixture f;

	(void)state;
	open_pair(&f, outpaced);
	control_note_asked(f.control); /* as who looks at the status does */
	fixture_run(&f, 8);
	md = device(&f, 0);
	assert_true(md->served.outpaced);
	served_mb_s = believed_mb_s(md);
	md->workload.mix.random_share -= 0.4;
	served_judge(md, &f.control->tools);
	assert_float_equal(believed_mb_s(md), served_mb_s, 0.01 * served_mb_s);
	assert_int_equal(served_take_need(md, f.control->tools.now_us).level, NEED_BETTER_PLAN);
	md->served.outpaced = false;
	md->workload.mix.random_share -= 0.4;
	served_judge(md, &f.control->tools);
	assert_int_equal(md->served.learned.n, 0);
	fixture_close(&f);
}

static void what_goes_on_being_learned_is_planned_for_ever_more_seldom(void **state)
{
	unsigned plans = 0;
	uint64_t start_us;
	Managed *md;
	Fixture f;

	(void)state;
	open_pair(&f, as_modelled);
	md = device(&f, 0);
	start_us = f.control->tools.now_us;
	for (uint64_t s = 0; s < 600; s++) {
		md->served.asks = true;
		plans += served_take_need(md, start_us + s * USEC_PER_SEC).level != NEED_NOTHING;
	}
	assert_in_range(plans, 6, 10);
	assert_int_equal(served_take_need(md, start_us + 3600 * USEC_PER_SEC).level,
			 NEED_BETTER_PLAN);
	fixture_close(&f);
}

static void what_a_lifted_limit_gives_back_was_not_given_in_vain(void **state)
{
	uint64_t claim;
	Fixture f;

	(void)state;
	open_pair(&f, as_modelled);
	for (int i = 0; i < 3; i++) {
		claim = fixture_set(&f, BUDGET);
		run_within_budget(&f, 5);
		assert_true(device(&f, 0)->knobs.actual.depth);
		fixture_release(&f, claim);
		fixture_run(&f, 5);
		assert_int_equal(device(&f, 0)->knobs.actual.depth, 0);
	}
	assert_int_equal(device(&f, 0)->knobs.vain, 0);
	fixture_close(&f);
}

static void a_dry_run_knows_it_too(void **state)
{
	PlanQuery q = { .policy = NULL, .tolerance_s = NAN };
	_cleanup_free_ char *complaint = NULL;
	double before_mb_s;
	Plan *plan;
	Fixture f;

	(void)state;
	open_pair(&f, slow);
	q.budget_w = 0.7 * control_operating_w(f.control);
	fixture_set(&f, BUDGET);
	run_within_budget(&f, 2);
	assert_int_equal(control_plan(f.control, &q, &plan, &complaint), 0);
	before_mb_s = plan->mb_s;
	plan_free(plan);
	run_within_budget(&f, 60);
	assert_int_equal(control_plan(f.control, &q, &plan, &complaint), 0);
	assert_true(plan->mb_s < 0.8 * before_mb_s);
	plan_free(plan);
	fixture_close(&f);
}

static void where_the_model_is_right_nothing_is_learned(void **state)
{
	static const char *const budgets[] = { "90%", "70%", "60%" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(budgets); i++) {
		Fixture f;

		open_pair(&f, as_modelled);
		fixture_set(&f, budgets[i]);
		run_within_budget(&f, 120);
		assert_true(device(&f, 0)->knobs.actual.depth);
		assert_int_equal(count_learned(&f), 0);
		assert_serves_as_planned(&f);
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_serves_less_is_planned_with_that_within_seconds),
		cmocka_unit_test(what_was_learned_lasts_for_an_hour_and_nothing_swings),
		cmocka_unit_test(after_that_half_of_it_is_forgiven),
		cmocka_unit_test(of_another_mix_it_tells_nothing),
		cmocka_unit_test(
			an_outpaced_device_is_believed_to_serve_as_much_of_another_pattern),
		cmocka_unit_test(what_goes_on_being_learned_is_planned_for_ever_more_seldom),
		cmocka_unit_test(what_a_lifted_limit_gives_back_was_not_given_in_vain),
		cmocka_unit_test(a_dry_run_knows_it_too),
		cmocka_unit_test(where_the_model_is_right_nothing_is_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
