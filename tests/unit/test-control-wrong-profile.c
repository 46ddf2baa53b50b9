/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Profiles that are wrong by a fifth and by two fifths, of all drives alike or of each family in
 * its own way. What a sensor measures mends that in both directions; without it the margin is back.
 */

#include "test-control.h"

#include <errno.h>

#define TOLERANCE_S 3
#define LEARNED_S   10
#define SETTLED_S   60

static const char node_text[] =
	"[node]\nname = test\nseed = 1\nmodel_error = 2%%\nsensors = none\npolicy = balanced\n"
	"[devices database]\nprofile = samsung-pm9a3\ngroup = flash\ncount = 6\nqueues = 4\n"
	"read = 30%%\nrandom = 100%%\nread_size = 16K\nwrite_size = 128K\ndepth = 64\n"
	"demand = constant 1300\nfamily_error = %+d%%\n"
	"[devices bulk]\nprofile = seagate-constellation-es2\ngroup = bulk\ncount = 4\n"
	"read = 80%%\nrandom = 95%%\nread_size = 256K\nwrite_size = 256K\ndepth = 32\n"
	"demand = constant 28\nfamily_error = %+d%%\n";
static const char meter[] = "[sensor meter]\nof = node\nnoise = 0.5%\ndelay = 300ms\n";

static void limit_to(Fixture *f, double watts)
{
	fixture_claim(f, &(Claim){ .class = CLASS_OPERATOR,
				   .limit = watts,
				   .unit = LIMIT_WATTS,
				   .tolerance_s = TOLERANCE_S,
				   .source = "test",
				   .reason = "",
				   .expiry_us = USEC_NEVER });
}

static double mean_watts(Fixture *f, double seconds)
{
	double start_j = sim_node_joules(f->node);

	fixture_run(f, seconds);
	return (sim_node_joules(f->node) - start_j) / seconds;
}

static void open_wrong(Fixture *f, int flash_percent, int bulk_percent, const char *sensor)
{
	_cleanup_free_ char *node = text_printf(node_text, flash_percent, bulk_percent);
	_cleanup_free_ char *text = text_printf("%s%s", node, sensor);

	fixture_open_text(f, text);
}

/* The highest mean of a second. */
static double most_watts(Fixture *f, unsigned seconds)
{
	double most_w = 0;

	for (unsigned i = 0; i < seconds; i++)
		most_w = MAX(most_w, mean_watts(f, 1));
	return most_w;
}

static void budget_is_used_and_held(int flash_percent, int bulk_percent, double part)
{
	double budget_w, most_w, mean_w;
	Fixture f;

	open_wrong(&f, flash_percent, bulk_percent, meter);
	fixture_start(&f);
	fixture_run(&f, 30);
	budget_w = part * mean_watts(&f, 10);
	limit_to(&f, budget_w);
	fixture_run(&f, LEARNED_S);
	most_w = most_watts(&f, SETTLED_S - LEARNED_S);
	mean_w = mean_watts(&f, 300);
	most_w = MAX(most_w, most_watts(&f, 60));
	print_message("# %+d %%, %+d %%: %.1f W drawn of %.1f W, %.1f W at most\n", flash_percent,
		      bulk_percent, mean_w, budget_w, most_w);
	assert_true(most_w <= 1.02 * budget_w);
	assert_true(mean_w <= budget_w);
	assert_true(mean_w >= 0.97 * budget_w);
	assert_true(state_of(&f).overload.spent_s <= TOLERANCE_S);
	fixture_close(&f);
}

static void with_a_sensor_a_wrong_profile_costs_nothing(void **state)
{
	static const int errors[][2] = { { 0, 0 },     { 20, 20 },  { -20, -20 }, { 40, 40 },
					 { -40, -40 }, { 40, -40 }, { -40, 40 } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		budget_is_used_and_held(errors[i][0], errors[i][1], 0.8);
		budget_is_used_and_held(errors[i][0], errors[i][1], 0.7);
	}
}

/* A sensor that can be pulled out. */
typedef struct Plug {
	Fixture *f;
	bool out;
} Plug;

static int plug_read(void *source, double *ret_w)
{
	const Plug *p = source;

	*ret_w = sim_node_true_watts(p->f->node);
	return p->out ? -EIO : 0;
}

static void open_plugged(Fixture *f, Plug *plug, SensorConfig *c, int percent)
{
	*plug = (Plug){ .f = f };
	*c = (SensorConfig){ .type = SENSOR_BUILT_IN,
			     .scope = SENSOR_OF_NODE,
			     .name = (char *)"plug",
			     .read = plug_read,
			     .source = plug };
	open_wrong(f, percent, percent, "");
	f->sensors = c;
	f->n_sensors = 1;
	fixture_start(f);
	fixture_run(f, 30);
}

static bool any_measured(const Fixture *f)
{
	for_each_device(const Managed, md,
			&f->control->fleet) if (md->trust.is_measured) return true;
	return false;
}

static void without_the_sensor_the_margin_is_back(int percent)
{
	double budget_w, before_w, after_w;
	SensorConfig c;
	Fixture f;
	Plug plug;

	open_plugged(&f, &plug, &c, percent);
	budget_w = 0.75 * mean_watts(&f, 10);
	limit_to(&f, budget_w);
	fixture_run(&f, SETTLED_S);
	before_w = mean_watts(&f, 60);
	assert_true(any_measured(&f));
	assert_int_equal(count_decisions(&f, "", "no longer corrects"), 0);
	plug.out = true;
	fixture_run(&f, 2);
	assert_false(any_measured(&f));
	assert_int_equal(count_decisions(&f, "", "no longer corrects"), 1);
	after_w = mean_watts(&f, 30);
	print_message("# %+d %%: %.1f W of %.1f W, %.1f W without the sensor\n", percent, before_w,
		      budget_w, after_w);
	assert_true(before_w >= 0.97 * budget_w);
	assert_true(after_w <= budget_w && after_w < before_w - 0.01 * budget_w);
	/* and back again */
	plug.out = false;
	fixture_run(&f, SETTLED_S);
	assert_true(mean_watts(&f, 60) >= 0.97 * budget_w);
	assert_int_equal(count_decisions(&f, "", "no longer corrects"), 1);
	fixture_close(&f);
}

static void when_the_sensor_fails_the_margin_is_back_and_that_is_said(void **state)
{
	(void)state;
	without_the_sensor_the_margin_is_back(-20);
	without_the_sensor_the_margin_is_back(20);
	without_the_sensor_the_margin_is_back(40);
}

static double modelled_w(const Fixture *f, const char *group)
{
	double w = 0;

	for_each_device(const Managed, md, &f->control->fleet) if (streq(md->device->group, group))
		w += md->trust.fixed_w + md->trust.dynamic_w * md->trust.correction;
	return w;
}

static void assert_correct(const Fixture *f, const char *group, double measured_w)
{
	double said_w = modelled_w(f, group);

	print_message("# %s: %.2f W by the corrected model, %.2f W measured\n", group, said_w,
		      measured_w);
	assert_true(fabs(said_w - measured_w) <= 0.02 * measured_w);
}

static double measured_alone_w(const Fixture *f, const char *group)
{
	double w = 0;

	for_each_device(const Managed, md, &f->control->fleet) if (streq(md->device->group, group))
		w += md->trust.measured_w;
	return w;
}

/* One is measured as a group, the others each by a sensor beside it. */
static void groups_and_devices_are_corrected_by_their_own_sensors(void **state)
{
	static const char sensors[] = "[sensor shelf]\nof = group flash\nnoise = 0.3%\n"
				      "[sensor a]\nof = device sda\n[sensor b]\nof = device sdb\n"
				      "[sensor c]\nof = device sdc\n[sensor d]\nof = device sdd\n";
	static const int errors[] = { 30, -30 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		double budget_w, mean_w;
		Fixture f;

		open_wrong(&f, errors[i], -errors[i], sensors);
		fixture_start(&f);
		fixture_run(&f, 30);
		budget_w = 0.8 * mean_watts(&f, 10);
		limit_to(&f, budget_w);
		fixture_run(&f, SETTLED_S);
		mean_w = mean_watts(&f, 60);
		print_message("# %.1f W drawn of %.1f W\n", mean_w, budget_w);
		assert_correct(&f, "flash", f.control->gauges.gauges[0].watts);
		assert_correct(&f, "bulk", measured_alone_w(&f, "bulk"));
		assert_true(mean_w <= budget_w && mean_w >= 0.97 * budget_w);
		fixture_close(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_a_sensor_a_wrong_profile_costs_nothing),
		cmocka_unit_test(when_the_sensor_fails_the_margin_is_back_and_that_is_said),
		cmocka_unit_test(groups_and_devices_are_corrected_by_their_own_sensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
