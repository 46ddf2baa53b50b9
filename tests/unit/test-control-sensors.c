/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What measurements change: a device's bias, the watts kept free for a group and for the node, and
 * whether pacing is relied on. */

#include "test-control.h"

#include <errno.h>

#include "base/file.h"
#include "control/reading.h"

static const char busy_flash[] = SIM_NODE("balanced") SIM_FLASH "count = 2\ndemand = saturate\n";
static const char moving_flash[] =
	SIM_NODE("balanced") SIM_FLASH "demand = 0:50 20s:1500\nrepeat = 40s\n";
static const char steady_flash[] = SIM_NODE("balanced") SIM_FLASH "demand = constant 800\n";

/* A drive that measures itself, as the test wants. */
typedef struct Drive {
	FaultyDevice faulty; /* first */
	Managed *md;
	double watts;
	int result;
	unsigned asked;
	double uncontrolled; /* share of its bytes */
} Drive;

static int drive_power(Device *d, double *ret_w)
{
	Drive *v = (Drive *)d->ops;

	v->asked++;
	*ret_w = v->watts;
	return v->result;
}

static int drive_counters(Device *d, DeviceCounters *ret)
{
	Drive *v = (Drive *)d->ops;
	int r = v->faulty.healthy->counters(d, ret);

	ret->has_uncontrolled = true;
	ret->uncontrolled_bytes =
		(uint64_t)(v->uncontrolled * (double)(ret->bytes[READ_IO] + ret->bytes[WRITE_IO]));
	return r;
}

static Managed *drive_wrap(Fixture *f, Drive *v, size_t index)
{
	*v = (Drive){ .md = f->control->fleet.devices[index] };
	faulty_device_wrap(&v->faulty, v->md->device, &f->loop->clock);
	return v->md;
}

static Managed *open_measured(Fixture *f, const char *node, Drive *v, double watts)
{
	fixture_open_text(f, node);
	fixture_start(f);
	drive_wrap(f, v, 0);
	v->watts = watts;
	v->faulty.ops.power = drive_power;
	fixture_run(f, 5);
	return v->md;
}

static void a_reading_from_before_the_last_lowering_is_no_excess(void **state)
{
	Managed *md;
	Drive drive;
	Fixture f;

	(void)state;
	md = open_measured(&f, busy_flash, &drive, 12);
	fixture_set(&f, "95%");
	fixture_run(&f, 20);
	assert_true(md->trust.measured_w == 12);
	assert_true(md->trust.bias == 1);
	limit(&f, SCOPE_DEVICE, md->device->name, 70);
	for (unsigned i = 0; i < 19; i++) {
		fixture_run(&f, 0.1);
		assert_true(md->trust.bias == 1);
	}
	assert_true(md->trust.measured_w > 1.1 * md->caps.now_w);
	drive.watts = 8;
	fixture_run(&f, 20);
	assert_true(md->trust.bias == 1);
	fixture_close(&f);
}

static double modelled_w(const Fixture *f)
{
	double w = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		w += cap_watts(f->control->fleet.devices[i]->device->profile,
			       &f->control->fleet.devices[i]->knobs.actual);
	return w;
}

static void an_excess_is_planned_for(ClaimScope scope, const char *target)
{
	double before_w, cap_w;
	Managed *md;
	Drive drive;
	Fixture f;

	md = open_measured(&f, busy_flash, &drive, 6);
	limit(&f, scope, target, 70);
	fixture_run(&f, 20);
	before_w = modelled_w(&f);
	cap_w = caps_sum_w(&f.control->fleet);
	assert_true(md->trust.bias == 1);
	drive.watts = 1.2 * cap_watts(md->device->profile, &md->knobs.actual);
	fixture_run(&f, 3);
	assert_true(md->trust.bias > 1.1);
	print_message("# %.2f W by the model before, %.2f W after\n", before_w, modelled_w(&f));
	assert_true(modelled_w(&f) < before_w - 0.5);
	assert_true(caps_sum_w(&f.control->fleet) <= cap_w + 0.5);
	/* and is forgiven, slowly */
	drive.watts = 4;
	fixture_run(&f, 10);
	assert_true(md->trust.bias > 1);
	fixture_run(&f, 200);
	assert_true(md->trust.bias == 1);
	fixture_close(&f);
}

static void a_real_excess_raises_the_bias_and_is_planned_for(void **state)
{
	(void)state;
	an_excess_is_planned_for(SCOPE_NODE, NULL);
}

static void a_real_excess_is_planned_for_in_the_devices_own_limit(void **state)
{
	(void)state;
	an_excess_is_planned_for(SCOPE_DEVICE, "nvme0");
}

static void a_real_excess_is_planned_for_in_the_groups_limit(void **state)
{
	(void)state;
	an_excess_is_planned_for(SCOPE_GROUP, "flash");
}

static void a_drive_that_does_not_measure_itself_is_asked_once(void **state)
{
	Managed *md;
	Drive drive;
	Fixture f;

	(void)state;
	md = open_measured(&f, busy_flash, &drive, 8);
	drive.result = -EOPNOTSUPP;
	fixture_set(&f, "80%");
	fixture_run(&f, 60);
	assert_int_equal(drive.asked, 1);
	assert_true(isnan(md->trust.measured_w));
	assert_string_equal(md->trust.health.why_aside, "");
	fixture_close(&f);
}

static void readings_that_cannot_be_are_set_aside(void **state)
{
	const struct {
		double watts;
		int result;
	} bad[] = { { NAN, 0 }, { -1, 0 }, { INFINITY, 0 }, { 29, 0 }, { 8, -EIO } };
	Managed *md;
	Drive drive;
	Fixture f;

	(void)state;
	md = open_measured(&f, busy_flash, &drive, 8);
	fixture_set(&f, "80%");
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		drive.watts = 8;
		drive.result = 0;
		fixture_run(&f, 3);
		assert_true(md->trust.measured_w == 8);
		drive.watts = bad[i].watts;
		drive.result = bad[i].result;
		fixture_run(&f, 3);
		assert_true(isnan(md->trust.measured_w));
		assert_string_not_equal(md->trust.health.why_aside, "");
		assert_true(md->trust.bias == 1);
	}
	fixture_close(&f);
}

static bool believed_for(const char *node, double seconds)
{
	Managed *md;
	Drive drive;
	bool believed;
	Fixture f;

	md = open_measured(&f, node, &drive, 6);
	fixture_set(&f, "95%");
	fixture_run(&f, seconds);
	believed = !isnan(md->trust.measured_w);
	drive.watts = 6.1;
	fixture_run(&f, 3);
	assert_true(md->trust.measured_w == 6.1);
	fixture_close(&f);
	return believed;
}

static void a_reading_that_stays_while_the_load_changes_is_set_aside(void **state)
{
	(void)state;
	assert_true(believed_for(moving_flash, 10));
	assert_false(believed_for(moving_flash, 80));
	assert_true(believed_for(steady_flash, 80));
}

static void write_watts(const Fixture *f, double watts)
{
	_cleanup_free_ char *path = text_printf("%s/class/hwmon/hwmon0/power1_input", f->dir);
	_cleanup_free_ char *text = text_printf("%.0f\n", watts * 1e6);

	assert_non_null(path && text ? path : NULL);
	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static void make_folder(const Fixture *f, const char *name)
{
	_cleanup_free_ char *path = text_printf("%s/%s", f->dir, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static unsigned overruns;

static void note_overrun(double measured_w, double budget_w, void *userdata)
{
	(void)userdata;
	assert_true(measured_w > budget_w);
	overruns++;
}

static Overrun over; /* that was told to be over, last */
static unsigned ends;

static void note_end(const Overrun *o, void *userdata)
{
	(void)userdata;
	over = *o;
	ends++;
}

/* A chip that measures the group or the node, in a sysfs of its own. */
static void open_sensed(Fixture *f, SensorConfig *c)
{
	_cleanup_free_ char *name = NULL;

	c->type = SENSOR_HWMON;
	c->name = c->chip = (char *)"shelf";
	c->input = (char *)"power1";
	fixture_open_text(f, busy_flash);
	make_folder(f, "class");
	make_folder(f, "class/hwmon");
	make_folder(f, "class/hwmon/hwmon0");
	name = text_printf("%s/class/hwmon/hwmon0/name", f->dir);
	assert_int_equal(write_file_atomic(name, "shelf\n", 0644), 0);
	write_watts(f, 12);
	f->sensors = c;
	f->n_sensors = 1;
	f->sysfs_root = f->dir;
	fixture_start(f);
	overruns = ends = 0;
	control_set_events(f->control,
			   &(ControlEvents){ .overrun = note_overrun, .overrun_ended = note_end });
	fixture_run(f, 5);
}

static void a_group_measured_above_its_limit_gets_less(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_GROUP, .target = (char *)"flash" };
	double before_w, operating_w, limit_w;
	SensorState s;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	limit(&f, SCOPE_GROUP, "flash", 80);
	fixture_run(&f, 20);
	before_w = group_w(&f, "flash", &operating_w);
	limit_w = 0.8 * operating_w;
	assert_true(before_w > limit_w - 1);
	write_watts(&f, limit_w + 2);
	fixture_run(&f, 2.5);
	write_watts(&f, 12);
	fixture_run(&f, 1);
	control_sensor(f.control, 0, &s);
	assert_true(s.watts == 12);
	print_message("# %.1f W before, %.1f W with the guard\n", before_w,
		      group_w(&f, "flash", &operating_w));
	assert_true(group_w(&f, "flash", &operating_w) <= limit_w - 2 + EPSILON_W);
	assert_true(f.control->gauges.gauges[0].guard_w >= 2);
	fixture_close(&f);
}

static void what_was_kept_free_is_given_back_when_the_excess_is_over(void **state)
{
	SensorConfig group = { .scope = SENSOR_OF_GROUP, .target = (char *)"flash" };
	SensorConfig node = { .scope = SENSOR_OF_NODE };
	SensorConfig *const sensors[] = { &group, &node };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(sensors); i++) {
		double before_w, operating_w;
		Fixture f;

		open_sensed(&f, sensors[i]);
		if (i == 0)
			limit(&f, SCOPE_GROUP, "flash", 80);
		else
			fixture_set(&f, "80%");
		fixture_run(&f, 20);
		before_w = group_w(&f, "flash", &operating_w);
		write_watts(&f, 0.8 * fixture_operating_w(&f) + 2);
		fixture_run(&f, 2.5);
		write_watts(&f, 12);
		fixture_run(&f, 1);
		assert_true(group_w(&f, "flash", &operating_w) < before_w - 1);
		fixture_run(&f, 300);
		assert_true(group_w(&f, "flash", &operating_w) > before_w - 0.4);
		fixture_close(&f);
	}
}

/* What is kept free shrinks with the time; the limit does not shrink with it. */
static void a_group_within_its_limit_is_not_said_to_exceed_it(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_GROUP, .target = (char *)"flash" };
	double operating_w, guard_w;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	limit(&f, SCOPE_GROUP, "flash", 80);
	fixture_run(&f, 20);
	group_w(&f, "flash", &operating_w);
	write_watts(&f, 0.8 * operating_w + 2);
	fixture_run(&f, 2.5);
	write_watts(&f, 0.8 * operating_w - 1);
	fixture_run(&f, 2);
	guard_w = f.control->gauges.gauges[0].guard_w;
	assert_true(guard_w > 0);
	for (unsigned i = 0; i < 100; i++) {
		fixture_run(&f, 1);
		if (f.control->gauges.gauges[0].guard_w > guard_w)
			print_error("after %u s %.2f W are kept free, %.2f W before\n", i,
				    f.control->gauges.gauges[0].guard_w, guard_w);
		assert_true(f.control->gauges.gauges[0].guard_w <= guard_w);
		guard_w = f.control->gauges.gauges[0].guard_w;
	}
	fixture_close(&f);
}

static void a_node_measured_above_its_budget_is_announced_once(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_NODE };
	double cap_w;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	fixture_set(&f, "80%");
	fixture_run(&f, 20);
	assert_int_equal(overruns, 0);
	cap_w = caps_sum_w(&f.control->fleet);
	write_watts(&f, f.control->limits.budget_w + 1);
	fixture_run(&f, 30);
	assert_int_equal(overruns, 1);
	assert_true(caps_sum_w(&f.control->fleet) < cap_w - 1);
	/* what is measured wins over what the model says */
	assert_true(state_of(&f).shortfall_w >= 1 - EPSILON_W);
	assert_true(state_of(&f).watts.cap_w >= f.control->limits.budget_w + 1 - EPSILON_W);
	assert_true(state_of(&f).degraded);
	write_watts(&f, 12);
	fixture_run(&f, 5);
	assert_false(state_of(&f).degraded);
	assert_int_equal(overruns, 1);
	/* it is over anew */
	write_watts(&f, f.control->limits.budget_w + 1);
	fixture_run(&f, 5);
	assert_int_equal(overruns, 2);
	fixture_close(&f);
}

static void the_end_of_an_overrun_is_told_with_its_seconds_and_joules(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_NODE };
	double budget_w;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	fixture_set(&f, "80%");
	fixture_run(&f, 20);
	budget_w = f.control->limits.budget_w;
	write_watts(&f, budget_w + 2);
	fixture_run(&f, 10);
	assert_int_equal(overruns, 1);
	assert_int_equal(ends, 0);
	write_watts(&f, 12);
	fixture_run(&f, 5);
	assert_int_equal(ends, 1);
	assert_true(over.seconds >= 8 && over.seconds <= 11);
	assert_float_equal(over.joules, 2 * over.seconds, 0.01);
	assert_float_equal(over.budget_w, budget_w, EPSILON_W);
	fixture_run(&f, 20);
	assert_int_equal(ends, 1);
	fixture_close(&f);
}

static void an_overrun_ends_with_its_claim(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_NODE };
	uint64_t cookie;
	double budget_w;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	cookie = fixture_set(&f, "80%");
	fixture_run(&f, 20);
	budget_w = f.control->limits.budget_w;
	write_watts(&f, budget_w + 2);
	fixture_run(&f, 10);
	fixture_release(&f, cookie);
	fixture_run(&f, 2);
	assert_int_equal(overruns, 1);
	assert_int_equal(ends, 1);
	assert_float_equal(over.budget_w, budget_w, EPSILON_W);
	fixture_close(&f);
}

/* The sensor still says what was drawn before: that is being answered already. */
static void while_a_change_is_enforced_nothing_is_announced(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_NODE };
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	fixture_set(&f, "95%");
	write_watts(&f, 24);
	fixture_run(&f, 20);
	assert_true(f.control->gauges.measured_w == 24);
	fixture_set(&f, "70%");
	assert_true(f.control->limits.budget_w < 24);
	fixture_run(&f, 1.9);
	assert_int_equal(overruns, 0);
	write_watts(&f, 15);
	fixture_run(&f, 20);
	assert_int_equal(overruns, 0);
	assert_true(f.control->gauges.guard_w == 0);
	fixture_close(&f);
}

static Managed *open_paced(Fixture *f, Drive *v, ClaimScope scope, double uncontrolled)
{
	fixture_open_text(f, busy_flash);
	fixture_start(f);
	drive_wrap(f, v, 0);
	v->faulty.ops.counters = drive_counters;
	v->md->workload.has_counters = false;
	fixture_run(f, 5);
	limit(f, scope, scope == SCOPE_DEVICE ? v->md->device->name : NULL, 70);
	fixture_run(f, 20);
	assert_true(v->md->knobs.actual.pace_w > 0);
	v->uncontrolled = uncontrolled;
	/* a step of the sum, not of the rate, so that the next second sees it */
	v->md->workload.has_counters = false;
	fixture_run(f, 3);
	return v->md;
}

static void pacing_is_not_relied_on(ClaimScope scope)
{
	Setting paced = { .power_state = -1, .pace_w = 3 };
	Managed *md;
	Drive drive;
	Fixture f;

	md = open_paced(&f, &drive, scope, 0.1);
	assert_int_equal(count_decisions(&f, md->device->name, "not relied on"), 1);
	assert_true(caps_of(md, &paced, now_us(&f)) == md->device->profile->rated_w);
	fixture_run(&f, 20);
	assert_true(md->knobs.target.pace_w == 0);
	assert_true(md->knobs.actual.pace_w == 0);
	assert_true(setting_mechanisms(&md->knobs.actual) & ~(unsigned)MECHANISM_PACING);
	assert_within_budget(&f);
	/* trusted again: a new plan has it */
	drive.uncontrolled = 0;
	md->workload.has_counters = false;
	fixture_run(&f, 275);
	assert_true(trust_is_uncontrolled(md, now_us(&f)));
	fixture_run(&f, 30);
	assert_false(trust_is_uncontrolled(md, now_us(&f)));
	assert_true(caps_of(md, &paced, now_us(&f)) < md->device->profile->rated_w);
	limit(&f, scope, scope == SCOPE_DEVICE ? md->device->name : NULL, 59);
	fixture_run(&f, 20);
	assert_true(md->knobs.actual.pace_w > 0);
	fixture_close(&f);
}

static void where_the_root_cgroup_passes_by_pacing_is_not_relied_on(void **state)
{
	(void)state;
	pacing_is_not_relied_on(SCOPE_NODE);
}

static void nor_is_it_relied_on_in_the_devices_own_limit(void **state)
{
	(void)state;
	pacing_is_not_relied_on(SCOPE_DEVICE);
}

static void what_is_within_five_percent_leaves_pacing_trusted(void **state)
{
	Managed *md;
	Drive drive;
	Fixture f;

	(void)state;
	md = open_paced(&f, &drive, SCOPE_NODE, 0.04);
	fixture_run(&f, 30);
	assert_false(trust_is_uncontrolled(md, now_us(&f)));
	assert_true(md->knobs.actual.pace_w > 0);
	assert_int_equal(count_decisions(&f, NULL, "not relied on"), 0);
	fixture_close(&f);
}

/* What the node file says of a meter is what the daemon reads, is told late and misses at times. */
static void a_nodes_own_sensor_is_read_like_one_that_is_configured(void **state)
{
	unsigned silent = 0;
	SensorState s;
	Fixture f;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") SIM_FLASH
			  "count = 2\ndemand = constant 800\nfamily_error = +10%\n"
			  "[sensor meter]\nof = node\nbias = +2%\nnoise = 0.1%\n"
			  "dropout = 10%\n");
	fixture_start(&f);
	fixture_set(&f, "100%");
	fixture_run(&f, 5);
	assert_int_equal(control_sensor_count(f.control), 1);
	for (int i = 0; i < 300; i++) {
		fixture_run(&f, 1);
		control_sensor(f.control, 0, &s);
		if (isnan(s.watts))
			silent += strstr(s.why_aside, "cannot be read") != NULL;
		else
			assert_float_equal(s.watts / sim_node_true_watts(f.node), 1.02, 0.005);
	}
	assert_string_equal(s.name, "meter");
	assert_string_equal(s.type, "built-in");
	assert_string_equal(s.of, "node");
	/* six outages of 5 s */
	assert_true(silent >= 20 && silent <= 40);
	fixture_close(&f);
}

/* While somebody looks. */
static DeviceReading reading_of_nvme0(Fixture *f)
{
	DeviceReading r;

	control_note_asked(f->control);
	fixture_run(f, 3);
	assert_int_equal(control_reading(f->control, "nvme0", &r), 0);
	return r;
}

static void a_device_is_read_by_a_sensor_of_its_own(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_DEVICE, .target = (char *)"nvme0" };
	DeviceReading r;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	r = reading_of_nvme0(&f);
	assert_true(r.watts == 12 && fabs(r.error_w - 0.24) < 1e-9);
	assert_string_equal(r.sensor, "shelf");
	assert_string_equal(r.of, "device");
	assert_int_equal(control_reading(f.control, "nvme9", &r), -ENOENT);
	fixture_close(&f);
}

static void else_by_one_of_several_less_what_the_others_draw(void **state)
{
	SensorConfig group = { .scope = SENSOR_OF_GROUP, .target = (char *)"flash" };
	SensorConfig node = { .scope = SENSOR_OF_NODE };
	SensorConfig *const sensors[] = { &group, &node };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(sensors); i++) {
		double other_w, unsure_w;
		DeviceReading r;
		Fixture f;

		open_sensed(&f, sensors[i]);
		r = reading_of_nvme0(&f);
		other_w = managed(&f, "nvme1")->trust.estimated_w;
		unsure_w = reading_model_error_w(managed(&f, "nvme1"));
		assert_true(other_w > 5 && fabs(r.watts - (12 - other_w)) < 1e-9);
		assert_true(unsure_w > 0.1 && fabs(r.error_w - (0.24 + unsure_w)) < 1e-9);
		assert_string_equal(r.of, i ? "node" : "group");
		fixture_close(&f);
	}
}

static void a_sensor_that_is_set_aside_reads_no_device(void **state)
{
	SensorConfig c = { .scope = SENSOR_OF_GROUP, .target = (char *)"flash" };
	DeviceReading r;
	Fixture f;

	(void)state;
	open_sensed(&f, &c);
	write_watts(&f, 1e5);
	r = reading_of_nvme0(&f);
	assert_true(isnan(r.watts) && isnan(r.error_w));
	assert_string_equal(r.sensor, "");
	assert_string_equal(r.of, "");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_from_before_the_last_lowering_is_no_excess),
		cmocka_unit_test(a_real_excess_raises_the_bias_and_is_planned_for),
		cmocka_unit_test(a_real_excess_is_planned_for_in_the_devices_own_limit),
		cmocka_unit_test(a_real_excess_is_planned_for_in_the_groups_limit),
		cmocka_unit_test(a_drive_that_does_not_measure_itself_is_asked_once),
		cmocka_unit_test(readings_that_cannot_be_are_set_aside),
		cmocka_unit_test(a_reading_that_stays_while_the_load_changes_is_set_aside),
		cmocka_unit_test(a_group_measured_above_its_limit_gets_less),
		cmocka_unit_test(what_was_kept_free_is_given_back_when_the_excess_is_over),
		cmocka_unit_test(a_group_within_its_limit_is_not_said_to_exceed_it),
		cmocka_unit_test(a_node_measured_above_its_budget_is_announced_once),
		cmocka_unit_test(the_end_of_an_overrun_is_told_with_its_seconds_and_joules),
		cmocka_unit_test(an_overrun_ends_with_its_claim),
		cmocka_unit_test(while_a_change_is_enforced_nothing_is_announced),
		cmocka_unit_test(where_the_root_cgroup_passes_by_pacing_is_not_relied_on),
		cmocka_unit_test(nor_is_it_relied_on_in_the_devices_own_limit),
		cmocka_unit_test(what_is_within_five_percent_leaves_pacing_trusted),
		cmocka_unit_test(a_nodes_own_sensor_is_read_like_one_that_is_configured),
		cmocka_unit_test(a_device_is_read_by_a_sensor_of_its_own),
		cmocka_unit_test(else_by_one_of_several_less_what_the_others_draw),
		cmocka_unit_test(a_sensor_that_is_set_aside_reads_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
