/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rates between two readings of the counters. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "meter/meter.h"

#define NEAR 1e-9

static const DeviceCounters start = {
	.time_us = 5000000,
	.ios = { 100, 200 },
	.bytes = { 1000000, 2000000 },
	.sequential_ios = 50,
	.latency_us = 30000,
	.joules = 7,
	.has_pattern = true,
	.has_joules = true,
};

/* Two seconds later: 300 reads of 4 KiB, 100 writes of 64 KiB, 100 of the 400 sequential. */
static DeviceCounters later(void)
{
	DeviceCounters c = start;

	c.time_us += 2000000;
	c.ios[READ_IO] += 300;
	c.ios[WRITE_IO] += 100;
	c.bytes[READ_IO] += 300 * 4096;
	c.bytes[WRITE_IO] += 100 * 65536;
	c.sequential_ios += 100;
	c.latency_us += 1000000;
	c.joules += 3;
	return c;
}

static void rates_are_differences_over_time(void **state)
{
	DeviceCounters end = later();
	MeterRates r;

	(void)state;
	assert_int_equal(meter_rates(&start, &end, &r), 0);
	assert_float_equal(r.seconds, 2, NEAR);
	assert_float_equal(r.iops[READ_IO], 150, NEAR);
	assert_float_equal(r.iops[WRITE_IO], 50, NEAR);
	assert_float_equal(r.mb_s[READ_IO], 0.6144, NEAR);
	assert_float_equal(r.mb_s[WRITE_IO], 3.2768, NEAR);
	assert_float_equal(r.read_share, 0.75, NEAR);
	assert_float_equal(r.random_share, 0.75, NEAR);
	assert_float_equal(r.read_kib, 4, NEAR);
	assert_float_equal(r.write_kib, 64, NEAR);
	assert_float_equal(r.depth, 0.5, NEAR);
	assert_float_equal(r.latency_us, 2500, NEAR);
	assert_float_equal(r.joules_per_s, 1.5, NEAR);
}

static void waits_are_percentiles_of_what_came_between(void **state)
{
	DeviceCounters begin = start, end = later();
	MeterRates r;

	(void)state;
	begin.waits[20] = end.waits[20] = 1000; /* earlier, and of no interest */
	end.waits[4] = 90;                      /* 8.192 to 16.384 us */
	end.waits[11] = 10;                     /* 1048.576 to 2097.152 us */
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_true(isnan(r.wait_p50_us) && isnan(r.wait_p99_us));
	begin.has_waits = end.has_waits = true;
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_float_equal(r.wait_p50_us, 8.192 * (1 + 50.0 / 90), 1e-6);
	assert_float_equal(r.wait_p99_us, 1048.576 * 1.9, 1e-6);
	assert_int_equal(meter_rates(&begin, &begin, &r), -EAGAIN);
	end.waits[20]--;
	assert_int_equal(meter_rates(&begin, &end, &r), -ESTALE);
}

static void the_shortest_and_the_longest_waits_have_places(void **state)
{
	uint64_t none[WAITS_MAX] = { 0 }, some[WAITS_MAX] = { [0] = 1 };

	(void)state;
	assert_true(isnan(waits_percentile_us(none, none, 0.5)));
	assert_float_equal(waits_percentile_us(none, some, 1), 1.024, 1e-9);
	some[0] = 0;
	some[WAITS_MAX - 1] = 1;
	assert_true(waits_percentile_us(none, some, 0.5) > 0x1p30);
}

static void a_still_device_has_rates_of_zero_and_no_shares(void **state)
{
	DeviceCounters end = start;
	MeterRates r;

	(void)state;
	end.time_us++;
	assert_int_equal(meter_rates(&start, &end, &r), 0);
	assert_float_equal(r.iops[READ_IO] + r.iops[WRITE_IO], 0, 0);
	assert_float_equal(r.mb_s[READ_IO] + r.mb_s[WRITE_IO], 0, 0);
	assert_float_equal(r.depth, 0, 0);
	assert_float_equal(r.joules_per_s, 0, 0);
	assert_true(isnan(r.read_share));
	assert_true(isnan(r.random_share));
	assert_true(isnan(r.read_kib));
	assert_true(isnan(r.write_kib));
	assert_true(isnan(r.latency_us));
}

static void a_direction_without_io_has_no_mean_size(void **state)
{
	DeviceCounters end = later();
	MeterRates r;

	(void)state;
	end.ios[WRITE_IO] = start.ios[WRITE_IO];
	end.bytes[WRITE_IO] = start.bytes[WRITE_IO];
	assert_int_equal(meter_rates(&start, &end, &r), 0);
	assert_float_equal(r.read_share, 1, 0);
	assert_float_equal(r.read_kib, 4, NEAR);
	assert_true(isnan(r.write_kib));
}

static void what_the_source_does_not_know_is_nan_and_never_zero(void **state)
{
	DeviceCounters begin = start, end = later();
	MeterRates r;

	(void)state;
	begin.has_pattern = begin.has_joules = end.has_pattern = end.has_joules = false;
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_true(isnan(r.random_share));
	assert_true(isnan(r.joules_per_s));
	assert_float_equal(r.read_share, 0.75, NEAR);

	end.latency_us = NAN;
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_true(isnan(r.depth));
	assert_true(isnan(r.latency_us));
	assert_float_equal(r.iops[READ_IO], 150, NEAR);
}

static void the_root_cgroups_part_of_the_bytes_is_uncontrolled(void **state)
{
	DeviceCounters begin = start, end = later();
	uint64_t bytes = end.bytes[READ_IO] + end.bytes[WRITE_IO] - start.bytes[READ_IO] -
			 start.bytes[WRITE_IO];
	MeterRates r;

	(void)state;
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_true(isnan(r.uncontrolled_share));
	begin.has_uncontrolled = end.has_uncontrolled = true;
	begin.uncontrolled_bytes = 512;
	end.uncontrolled_bytes = 512 + bytes / 4;
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_float_equal(r.uncontrolled_share, 0.25, NEAR);
	/* what the root did after the device was read */
	end.uncontrolled_bytes = 512 + 2 * bytes;
	assert_int_equal(meter_rates(&begin, &end, &r), 0);
	assert_float_equal(r.uncontrolled_share, 1, 0);
	end.uncontrolled_bytes = 0;
	assert_int_equal(meter_rates(&begin, &end, &r), -ESTALE);
}

static void two_readings_at_one_time_say_to_try_again(void **state)
{
	DeviceCounters end = later();
	MeterRates r = { .seconds = -1 };

	(void)state;
	end.time_us = start.time_us;
	assert_int_equal(meter_rates(&start, &end, &r), -EAGAIN);
	assert_float_equal(r.seconds, -1, 0);
}

static void assert_stale(const DeviceCounters *end)
{
	MeterRates r = { .seconds = -1 };

	assert_int_equal(meter_rates(&start, end, &r), -ESTALE);
	assert_float_equal(r.seconds, -1, 0);
}

static void any_counter_that_ran_backwards_is_stale(void **state)
{
	DeviceCounters end;

	(void)state;
	for (int i = 0; i < _DIRECTION_MAX; i++) {
		end = later();
		end.ios[i] = start.ios[i] - 1;
		assert_stale(&end);
		end = later();
		end.bytes[i] = start.bytes[i] - 1;
		assert_stale(&end);
	}
	end = later();
	end.sequential_ios = 0;
	assert_stale(&end);
	end = later();
	end.latency_us = 0;
	assert_stale(&end);
	end = later();
	end.joules = 0;
	assert_stale(&end);
	end = later();
	end.time_us = start.time_us - 1;
	assert_stale(&end);
}

static void readings_of_two_sources_are_never_mixed(void **state)
{
	DeviceCounters end = later();

	(void)state;
	end.has_pattern = false;
	assert_stale(&end);
	end = later();
	end.has_joules = false;
	assert_stale(&end);
	end = later();
	end.has_uncontrolled = true;
	assert_stale(&end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_differences_over_time),
		cmocka_unit_test(waits_are_percentiles_of_what_came_between),
		cmocka_unit_test(the_shortest_and_the_longest_waits_have_places),
		cmocka_unit_test(a_still_device_has_rates_of_zero_and_no_shares),
		cmocka_unit_test(a_direction_without_io_has_no_mean_size),
		cmocka_unit_test(what_the_source_does_not_know_is_nan_and_never_zero),
		cmocka_unit_test(the_root_cgroups_part_of_the_bytes_is_uncontrolled),
		cmocka_unit_test(two_readings_at_one_time_say_to_try_again),
		cmocka_unit_test(any_counter_that_ran_backwards_is_stale),
		cmocka_unit_test(readings_of_two_sources_are_never_mixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
