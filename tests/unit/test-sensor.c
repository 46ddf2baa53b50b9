/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sensors on a fake sysfs, and what is believed of them. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "sensor/sensor.h"

#define RATED_W 100.0

typedef struct Sysfs {
	char root[64];
} Sysfs;

static void put(const Sysfs *s, const char *file, const char *text)
{
	_cleanup_free_ char *path = text_printf("%s/%s", s->root, file), *folder = strdup(path);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static void drop(const Sysfs *s, const char *file)
{
	_cleanup_free_ char *path = text_printf("%s/%s", s->root, file);

	assert_int_equal(unlink(path), 0);
}

static int make_sysfs(void **state)
{
	Sysfs *s = calloc(1, sizeof(*s));

	snprintf(s->root, sizeof(s->root), "/tmp/storpower-sensor-XXXXXX");
	assert_non_null(mkdtemp(s->root));
	put(s, "class/hwmon/hwmon0/name", "coretemp\n");
	put(s, "class/hwmon/hwmon1/name", "ltc4215\n");
	put(s, "class/hwmon/hwmon1/power1_input", "12500000\n");
	*state = s;
	return 0;
}

static int remove_sysfs(void **state)
{
	Sysfs *s = *state;
	_cleanup_free_ char *command = text_printf("rm -r %s", s->root);

	assert_int_equal(system(command), 0);
	free(s);
	return 0;
}

static Sensor *open_hwmon(const Sysfs *s, const char *chip, const char *input)
{
	SensorConfig c = { .name = (char *)"x",
			   .type = SENSOR_HWMON,
			   .chip = (char *)chip,
			   .input = (char *)input,
			   .target = (char *)"" };
	Sensor *sensor;

	assert_int_equal(sensor_new(&c, s->root, &sensor), 0);
	return sensor;
}

static void a_chips_microwatts_are_watts(void **state)
{
	_cleanup_(sensor_freep) Sensor *sensor = open_hwmon(*state, "ltc4215", "power1");
	double w;

	assert_int_equal(sensor_read(sensor, &w), 0);
	assert_true(fabs(w - 12.5) < 1e-9);
}

/* Linux 6.12 and before: the ACPI power meter's files are below device/, and it has an average. */
static void an_acpi_power_meter_is_found_in_both_places(void **state)
{
	_cleanup_(sensor_freep) Sensor *sensor = open_hwmon(*state, "power_meter", "power1");
	double w;

	assert_int_equal(sensor_read(sensor, &w), -ENOENT);
	put(*state, "class/hwmon/hwmon2/device/name", "power_meter");
	put(*state, "class/hwmon/hwmon2/device/power1_average", "250000000");
	assert_int_equal(sensor_read(sensor, &w), 0);
	assert_true(fabs(w - 250) < 1e-9);
}

static void of_two_chips_alike_the_device_tells(void **state)
{
	Sysfs *s = *state;
	_cleanup_(sensor_freep) Sensor *sensor = open_hwmon(s, "ltc4215@2-0044", "power1");
	_cleanup_free_ char *link = text_printf("%s/class/hwmon/hwmon3/device", s->root);
	double w;

	assert_int_equal(sensor_read(sensor, &w), -ENOENT);
	put(s, "devices/i2c/2-0044/modalias", "");
	put(s, "class/hwmon/hwmon3/name", "ltc4215");
	put(s, "class/hwmon/hwmon3/power1_input", "7000000");
	assert_int_equal(symlink("../../../devices/i2c/2-0044", link), 0);
	assert_int_equal(sensor_read(sensor, &w), 0);
	assert_true(fabs(w - 7) < 1e-9);
}

static void a_chip_that_comes_back_under_another_number_is_found_again(void **state)
{
	_cleanup_(sensor_freep) Sensor *sensor = open_hwmon(*state, "ltc4215", "power1");
	double w;

	assert_int_equal(sensor_read(sensor, &w), 0);
	drop(*state, "class/hwmon/hwmon1/power1_input");
	drop(*state, "class/hwmon/hwmon1/name");
	assert_true(sensor_read(sensor, &w) < 0);
	assert_int_equal(sensor_read(sensor, &w), -ENOENT);
	put(*state, "class/hwmon/hwmon7/name", "ltc4215");
	put(*state, "class/hwmon/hwmon7/power1_input", "3000000");
	assert_int_equal(sensor_read(sensor, &w), 0);
	assert_true(fabs(w - 3) < 1e-9);
}

static void rubbish_in_a_sensor_file_is_an_error(void **state)
{
	_cleanup_(sensor_freep) Sensor *sensor = open_hwmon(*state, "ltc4215", "power1");
	double w;

	put(*state, "class/hwmon/hwmon1/power1_input", "N/A");
	assert_true(sensor_read(sensor, &w) < 0);
	put(*state, "class/hwmon/hwmon1/power1_input", "nan");
	assert_true(sensor_read(sensor, &w) < 0);
}

static void rapl_counts_across_its_wrap(void **state)
{
	SensorConfig c = { .name = (char *)"cpu",
			   .type = SENSOR_RAPL,
			   .input = (char *)"intel-rapl:0",
			   .scope = SENSOR_OF_HOST,
			   .target = (char *)"" };
	_cleanup_(sensor_freep) Sensor *sensor = NULL;
	double w;

	assert_int_equal(sensor_new(&c, ((Sysfs *)*state)->root, &sensor), 0);
	assert_int_equal(sensor_read(sensor, &w), -ENOENT);
	put(*state, "class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850");
	put(*state, "class/powercap/intel-rapl:0/energy_uj", "262143328000");
	assert_int_equal(sensor_read(sensor, &w), -EAGAIN);
	usleep(20000);
	put(*state, "class/powercap/intel-rapl:0/energy_uj", "999150");
	assert_int_equal(sensor_read(sensor, &w), 0);
	/* 1 J over at least 20 ms */
	assert_true(w > 0 && w <= 50);
}

static void errors_and_impossible_numbers_are_set_aside_with_a_reason(void **state)
{
	SensorHealth h = {};

	(void)state;
	assert_true(sensor_judge(&h, 0, 60, 50, RATED_W));
	assert_string_equal(h.why_aside, "");
	assert_false(sensor_judge(&h, -ENOENT, 0, 50, RATED_W));
	assert_non_null(strstr(h.why_aside, "cannot be read"));
	assert_false(sensor_judge(&h, 0, -3, 50, RATED_W));
	assert_non_null(strstr(h.why_aside, "negative"));
	assert_false(sensor_judge(&h, 0, NAN, 50, RATED_W));
	assert_non_null(strstr(h.why_aside, "no number"));
	assert_false(sensor_judge(&h, 0, 2.01 * RATED_W, 50, RATED_W));
	assert_non_null(strstr(h.why_aside, "possible"));
	assert_true(sensor_judge(&h, 0, 61, 50, RATED_W));
}

static void a_reading_that_ignores_the_load_is_stuck_until_it_moves(void **state)
{
	SensorHealth h = {};
	bool believed = true;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		believed = sensor_judge(&h, 0, 42, i < 20 ? 30 : 90, RATED_W);
	assert_false(believed);
	assert_non_null(strstr(h.why_aside, "while the load changes"));
	assert_true(sensor_judge(&h, 0, 43, 90, RATED_W));
}

static void a_steady_reading_under_a_steady_load_is_believed(void **state)
{
	SensorHealth h = {};

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_true(sensor_judge(&h, 0, 42, 41 + (i & 1), RATED_W));
}

/* The expectation was a guess at first, and once for a second later on. */
static void a_steady_reading_is_believed_whatever_was_expected_before(void **state)
{
	SensorHealth h = {};

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_true(sensor_judge(&h, 0, 42, i < 3 || i == 100 ? 5 : 41, RATED_W));
	/* and is stuck all the same when the load changes for good */
	for (unsigned i = 0; i < 20; i++)
		(void)sensor_judge(&h, 0, 42, 90, RATED_W);
	assert_non_null(strstr(h.why_aside, "while the load changes"));
}

static void a_load_that_comes_and_goes_shows_what_is_stuck(void **state)
{
	SensorHealth h = {};
	bool believed = true;

	(void)state;
	for (unsigned i = 0; i < 120; i++)
		believed = sensor_judge(&h, 0, 42, i / 10 % 2 ? 20 : 80, RATED_W);
	assert_false(believed);
}

static void of_the_host_nothing_is_expected(void **state)
{
	SensorHealth h = {};

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_true(sensor_judge(&h, 0, 180, INFINITY, INFINITY));
}

#define ON_SYSFS(test) cmocka_unit_test_setup_teardown(test, make_sysfs, remove_sysfs)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SYSFS(a_chips_microwatts_are_watts),
		ON_SYSFS(an_acpi_power_meter_is_found_in_both_places),
		ON_SYSFS(of_two_chips_alike_the_device_tells),
		ON_SYSFS(a_chip_that_comes_back_under_another_number_is_found_again),
		ON_SYSFS(rubbish_in_a_sensor_file_is_an_error),
		ON_SYSFS(rapl_counts_across_its_wrap),
		cmocka_unit_test(errors_and_impossible_numbers_are_set_aside_with_a_reason),
		cmocka_unit_test(a_reading_that_ignores_the_load_is_stuck_until_it_moves),
		cmocka_unit_test(a_steady_reading_under_a_steady_load_is_believed),
		cmocka_unit_test(a_steady_reading_is_believed_whatever_was_expected_before),
		cmocka_unit_test(a_load_that_comes_and_goes_shows_what_is_stuck),
		cmocka_unit_test(of_the_host_nothing_is_expected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
