/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From the kernel's counters to the figures of a device. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meter/meter-figures.h"
#include "meter/meter.h"

static const struct meter_counters counters = {
	.ios = { { 10, 20 }, { 30, 40 } },
	.bytes = { { 40960, 81920 }, { 15360, 163840 } },
	.timed_ios = 100,
	.latency_ns = 5000500,
	.joules = 15000000000,
};

static const Profile profile = { .energy = {
					 [READ_IO] = { [RANDOM_IO] = { 200e-6, 4e-6 },
						       [SEQUENTIAL_IO] = { 100e-6, 3e-6 } },
					 [WRITE_IO] = { [RANDOM_IO] = { 0.06, 1e-9 },
							[SEQUENTIAL_IO] = { 99, -1 } },
				 } };

static void patterns_add_up_and_are_told_apart(void **state)
{
	DeviceCounters c = { .time_us = 77 };

	(void)state;
	meter_figures(&counters, true, &c);
	assert_int_equal(c.time_us, 77);
	assert_int_equal(c.ios[READ_IO], 30);
	assert_int_equal(c.ios[WRITE_IO], 70);
	assert_int_equal(c.bytes[READ_IO], 122880);
	assert_int_equal(c.bytes[WRITE_IO], 179200);
	assert_int_equal(c.sequential_ios, 60);
	assert_true(c.has_pattern);
	assert_float_equal(c.latency_us, 5000.5, 1e-9);
}

static void joules_are_the_kernels(void **state)
{
	DeviceCounters c;

	(void)state;
	meter_figures(&counters, true, &c);
	assert_true(c.has_joules);
	assert_float_equal(c.joules, 1.5, 1e-12);
	meter_figures(&counters, false, &c);
	assert_false(c.has_joules);
	assert_float_equal(c.joules, 0, 0);
	assert_int_equal(c.ios[READ_IO], 30);
}

static void energies_become_whole_numbers_within_what_is_possible(void **state)
{
	struct meter_terms t;

	(void)state;
	assert_true(meter_energies(&profile, &t));
	assert_int_equal(t.io[READ_IO][RANDOM_IO], 2000000);
	assert_int_equal(t.page[READ_IO][RANDOM_IO], 40000);
	assert_int_equal(t.io[READ_IO][SEQUENTIAL_IO], 1000000);
	assert_int_equal(t.page[READ_IO][SEQUENTIAL_IO], 30000);
	assert_int_equal(t.io[WRITE_IO][RANDOM_IO], 600000000);
	assert_int_equal(t.page[WRITE_IO][RANDOM_IO], 10);
	/* more than any IO costs, and less than nothing */
	assert_int_equal(t.io[WRITE_IO][SEQUENTIAL_IO], 4000000000);
	assert_int_equal(t.page[WRITE_IO][SEQUENTIAL_IO], 0);
	assert_true(t.window_joules == METER_NO_LIMIT);
}

static void one_unknown_energy_makes_all_unknown(void **state)
{
	Profile p = profile;
	struct meter_terms t;

	(void)state;
	p.energy[WRITE_IO][RANDOM_IO].page_j = NAN;
	assert_false(meter_energies(&p, &t));
	assert_int_equal(t.io[READ_IO][RANDOM_IO], 0);
	assert_false(meter_energies(NULL, &t));
	assert_true(t.window_joules == METER_NO_LIMIT);
}

static void a_windows_limit_is_the_caps_part_and_infinity_none(void **state)
{
	(void)state;
	assert_int_equal(meter_window_joules(5, 100000), 5000000000);
	assert_int_equal(meter_window_joules(0, 100000), 0);
	assert_int_equal(meter_window_joules(-3, 100000), 0);
	assert_true(meter_window_joules(INFINITY, 100000) == METER_NO_LIMIT);
	assert_true(meter_window_joules(NAN, 100000) == METER_NO_LIMIT);
	assert_true(meter_window_joules(1e12, USEC_PER_SEC) == METER_NO_LIMIT);
}

static void without_times_the_latency_is_unknown_not_zero(void **state)
{
	struct meter_counters untimed = counters, idle = { 0 };
	DeviceCounters c;

	(void)state;
	untimed.timed_ios = untimed.latency_ns = 0;
	meter_figures(&untimed, true, &c);
	assert_true(isnan(c.latency_us));
	assert_int_equal(c.ios[WRITE_IO], 70);

	meter_figures(&idle, true, &c);
	assert_float_equal(c.latency_us, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_add_up_and_are_told_apart),
		cmocka_unit_test(joules_are_the_kernels),
		cmocka_unit_test(energies_become_whole_numbers_within_what_is_possible),
		cmocka_unit_test(one_unknown_energy_makes_all_unknown),
		cmocka_unit_test(a_windows_limit_is_the_caps_part_and_infinity_none),
		cmocka_unit_test(without_times_the_latency_is_unknown_not_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
