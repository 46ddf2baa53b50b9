/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Everything is read again while a limit is held. */

#include <errno.h>

#include "base/file.h"
#include "base/text.h"
#include "test-control.h"

#define NODE SIM_NODE("balanced") SIM_FLASH "demand = saturate\n"

static SensorConfig psu = { .name = (char *)"psu",
			    .type = SENSOR_HWMON,
			    .chip = (char *)"nosuch",
			    .input = (char *)"power1",
			    .scope = SENSOR_OF_NODE,
			    .target = (char *)"" };

static void begin(Fixture *f)
{
	fixture_open_text(f, NODE);
	f->sensors = &psu;
	f->n_sensors = 1;
	fixture_start(f);
	fixture_set(f, "70%");
	fixture_run(f, 5);
}

static void renew(Fixture *f, const ControlConfig *now)
{
	_cleanup_free_ char *why = NULL;

	assert_int_equal(control_reread(f->control, now, &why), 0);
}

static void a_sensor_that_is_configured_as_before_keeps_what_is_known_of_it(void **state)
{
	ControlConfig now;
	SensorConfig copy = psu;
	const Sensor *was;
	Fixture f;

	(void)state;
	begin(&f);
	now = f.control->config;
	now.sensors = &copy;
	was = f.control->gauges.gauges[0].sensor;
	assert_string_not_equal(f.control->gauges.gauges[0].health.why_aside, "");
	renew(&f, &now);
	assert_ptr_equal(f.control->gauges.gauges[0].sensor, was);
	assert_ptr_equal(f.control->gauges.gauges[0].config, &copy);
	assert_string_not_equal(f.control->gauges.gauges[0].health.why_aside, "");
	now.sensors = &psu;
	renew(&f, &now);
	assert_ptr_equal(f.control->gauges.gauges[0].sensor, was);
	fixture_close(&f);
}

static void a_sensor_that_is_being_read_goes_when_it_comes_back(void **state)
{
	ControlConfig now;
	Sensor *was;
	Fixture f;

	(void)state;
	begin(&f);
	now = f.control->config;
	now.n_sensors = 0;
	was = f.control->gauges.gauges[0].sensor;
	f.control->gauges.gauges[0].reading = true;
	renew(&f, &now);
	assert_int_equal(f.control->gauges.n, 0);
	assert_int_equal(f.control->gauges.n_leaving, 1);
	renew(&f, &now); /* once more meanwhile */
	assert_int_equal(f.control->gauges.n_leaving, 1);
	gauges_take(&f.control->gauges, &(Job){ .sensor = was, .watts = 9 }, &f.control->tools);
	assert_int_equal(f.control->gauges.n_leaving, 0);
	fixture_run(&f, 3);
	fixture_close(&f);
}

static void what_cannot_be_used_changes_nothing(void **state)
{
	_cleanup_free_ char *why = NULL;
	const Plan *plan;
	ControlConfig now;
	Fixture f;

	(void)state;
	begin(&f);
	now = f.control->config;
	now.n_sensors = 0;
	now.limit.guard_w = 3;
	now.policy.name = "nosuch";
	plan = f.control->enforcement.plan;
	assert_int_equal(control_reread(f.control, &now, &why), -ENOENT);
	assert_non_null(strstr(why, "\"nosuch\""));
	assert_int_equal(f.control->gauges.n, 1);
	assert_true(f.control->config.limit.guard_w == 0);
	assert_string_equal(control_policy(f.control), "balanced");
	assert_ptr_equal(f.control->enforcement.plan, plan);
	fixture_close(&f);
}

static void another_guard_is_kept_free_at_once(void **state)
{
	ControlConfig now;
	double before_w;
	Fixture f;

	(void)state;
	begin(&f);
	now = f.control->config;
	before_w = caps_sum_w(&f.control->fleet);
	now.limit.guard_w = 1;
	renew(&f, &now);
	fixture_run(&f, 1);
	assert_true(caps_sum_w(&f.control->fleet) < before_w - 0.5);
	fixture_close(&f);
}

static ProfileStore *dearer(const ProfileStore *s, const char *name, const char *folder)
{
	const char *const folders[] = { folder, "policies/profiles", NULL };
	_cleanup_free_ char *path = text_printf("%s/%s.profile", folder, name);
	_cleanup_free_ char *text = NULL, *changed = NULL;
	const Profile *was = profile_store_get(s, name);
	ProfileStore *now;
	char *idle;

	assert_int_equal(read_file(was->path, &text), 0);
	idle = strstr(text, "\nidle = ");
	assert_non_null(idle);
	*idle = '\0';
	changed = text_printf("%s\nidle = %g W%s", text, was->idle_w + 0.2,
			      idle + 1 + strcspn(idle + 1, "\n"));
	assert_int_equal(write_file_atomic(path, changed, 0644), 0);
	assert_int_equal(profile_store_read(folders, &now), 0);
	assert_int_equal(now->left_out, 0);
	return now;
}

/* What is set is worth more watts than was believed: the next plan, of the same turn, lowers it. */
static void another_profile_holds_the_limit_by_its_figures(void **state)
{
	const Profile *was;
	ProfileStore *now;
	double limit_w;
	Fixture f;

	(void)state;
	begin(&f);
	limit_w = f.control->limits.budget_w;
	was = managed(&f, "nvme0")->device->profile;
	now = dearer(f.profiles, "samsung-pm9a3", f.dir);
	assert_int_equal(profile_store_succeed(now, f.profiles), 0);
	f.profiles = now;
	sim_node_reread(f.node, now);
	control_devices_ready(f.control);
	assert_ptr_not_equal(managed(&f, "nvme0")->device->profile, was);
	assert_true(knob_set_touched(managed(&f, "nvme0"))); /* nothing is given back */
	assert_int_equal(managed(&f, "nvme0")->served.learned.n, 0);
	fixture_run(&f, 3);
	assert_true(f.control->limits.enforcing);
	print_message("# %.2f W of %.2f W, before of %.2f W\n", caps_sum_w(&f.control->fleet),
		      f.control->limits.budget_w, limit_w);
	assert_true(caps_sum_w(&f.control->fleet) <= f.control->limits.budget_w + EPSILON_W);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sensor_that_is_configured_as_before_keeps_what_is_known_of_it),
		cmocka_unit_test(a_sensor_that_is_being_read_goes_when_it_comes_back),
		cmocka_unit_test(what_cannot_be_used_changes_nothing),
		cmocka_unit_test(another_guard_is_kept_free_at_once),
		cmocka_unit_test(another_profile_holds_the_limit_by_its_figures),
	};

	log_set_max_level(LOG_ERR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
