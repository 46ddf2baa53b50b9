/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From the kernel's counters to the figures of a device. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meter/meter-figures.h"

static const struct meter_counters counters = {
	.ios = { { 10, 20 }, { 30, 40 } },
	.bytes = { { 40960, 81920 }, { 15360, 163840 } },
	.timed_ios = 100,
	.latency_ns = 5000500,
};

static const Energy energy[_DIRECTION_MAX][_PATTERN_MAX] = {
	[READ_IO] = { [RANDOM_IO] = { 1, 0.1 }, [SEQUENTIAL_IO] = { 2, 0.2 } },
	[WRITE_IO] = { [RANDOM_IO] = { 4, 0.4 }, [SEQUENTIAL_IO] = { 8, 0.8 } },
};

static void patterns_add_up_and_are_told_apart(void **state)
{
	DeviceCounters c = { .time_us = 77 };

	(void)state;
	meter_figures(&counters, energy, &c);
	assert_int_equal(c.time_us, 77);
	assert_int_equal(c.ios[READ_IO], 30);
	assert_int_equal(c.ios[WRITE_IO], 70);
	assert_int_equal(c.bytes[READ_IO], 122880);
	assert_int_equal(c.bytes[WRITE_IO], 179200);
	assert_int_equal(c.sequential_ios, 60);
	assert_true(c.has_pattern);
	assert_float_equal(c.latency_us, 5000.5, 1e-9);
}

static void each_direction_and_pattern_is_priced_by_its_own_energies(void **state)
{
	DeviceCounters c;

	(void)state;
	meter_figures(&counters, energy, &c);
	assert_true(c.has_joules);
	/* 30 random writes of 512 bytes are 3.75 pages */
	assert_float_equal(c.joules,
			   10 * 1 + 10 * 0.1 + 20 * 2 + 20 * 0.2 + 30 * 4 + 3.75 * 0.4 + 40 * 8 +
				   40 * 0.8,
			   1e-9);
}

static void without_energies_there_are_no_joules(void **state)
{
	DeviceCounters c;

	(void)state;
	meter_figures(&counters, NULL, &c);
	assert_false(c.has_joules);
	assert_float_equal(c.joules, 0, 0);
	assert_int_equal(c.ios[READ_IO], 30);
}

static void without_times_the_latency_is_unknown_not_zero(void **state)
{
	struct meter_counters untimed = counters, idle = { 0 };
	DeviceCounters c;

	(void)state;
	untimed.timed_ios = untimed.latency_ns = 0;
	meter_figures(&untimed, energy, &c);
	assert_true(isnan(c.latency_us));
	assert_int_equal(c.ios[WRITE_IO], 70);

	meter_figures(&idle, energy, &c);
	assert_float_equal(c.latency_us, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_add_up_and_are_told_apart),
		cmocka_unit_test(each_direction_and_pattern_is_priced_by_its_own_energies),
		cmocka_unit_test(without_energies_there_are_no_joules),
		cmocka_unit_test(without_times_the_latency_is_unknown_not_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
