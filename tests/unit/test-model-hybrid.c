/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices that share a workload. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model-store.h"
#include "model/hybrid.h"
#include "model/response.h"
#include "model/service.h"

static const Profile *profile(const char *name)
{
	const Profile *p = profile_store_get(store, name);

	assert_non_null(p);
	return p;
}

static HybridPrediction of(const HybridMember *members, size_t n, double depth)
{
	Mix mix = MIX_UNKNOWN;
	HybridPrediction p;

	mix.depth = depth;
	assert_int_equal(hybrid_predict(members, n, &mix, &p), 0);
	return p;
}

static HybridPrediction cached(double hits, unsigned disks, double depth)
{
	const HybridMember members[] = { { profile("samsung-pm9a3"), 1, hits },
					 { profile("seagate-exos-7e2000"), disks, 1 - hits } };

	return of(members, 2, depth);
}

static void a_device_by_itself_is_what_it_is_without_others(void **state)
{
	static const char *const names[] = { "samsung-pm9a3", "seagate-exos-7e2000" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		for (unsigned depth = 1; depth <= 64; depth *= 4) {
			HybridPrediction p =
				of(&(HybridMember){ profile(names[i]), 1, 1 }, 1, depth);
			Mix mix = MIX_UNKNOWN;
			Prediction at;
			Response r;

			mix.depth = depth;
			predict(profile(names[i]), &mix, &SETTING_AS_FOUND, &at);
			assert_int_equal(
				response_predict(profile(names[i]), &mix, &SETTING_AS_FOUND, &r),
				0);
			assert_float_equal(p.iops / at.iops, 1, 1e-6);
			assert_float_equal(p.watts, at.watts, 1e-6);
			assert_float_equal(p.of[0].depth, depth, 1e-6);
			assert_float_equal(p.p50_us / r.p50_us, 1, 0.1);
			assert_true(p.p99_us / r.p99_us > 0.85 && p.p99_us / r.p99_us < 1.2);
		}
}

static void what_the_devices_do_adds_up(void **state)
{
	(void)state;
	for (unsigned depth = 1; depth <= 1024; depth = depth * 7 + 1) {
		HybridPrediction p = cached(0.95, 4, depth);

		assert_float_equal((p.of[0].iops + 4 * p.of[1].iops) / p.iops, 1, 1e-9);
		assert_float_equal(p.of[0].iops / p.iops, 0.95, 1e-9);
		assert_float_equal((p.of[0].depth + 4 * p.of[1].depth) / depth, 1, 1e-6);
		assert_float_equal(p.of[0].watts + 4 * p.of[1].watts, p.watts, 1e-9);
		assert_float_equal(p.mean_us * p.iops / 1e6 / depth, 1, 1e-9);
		assert_true(p.of[1].busy > 0 && p.of[1].busy <= 1);
	}
}

#define DEPTH 24

/* Mean value analysis (M. Reiser and S. S. Lavenberg, 1980) comes to the same by another way. */
static double iops_by_mean_values(double hits)
{
	const Profile *of[] = { profile("samsung-pm9a3"), profile("seagate-exos-7e2000") };
	const double share[] = { hits, 1 - hits };
	double chance[2][DEPTH + 1] = { { 1 }, { 1 } }, iops = 0;

	for (unsigned n = 1; n <= DEPTH; n++) {
		double rate[2][DEPTH + 1], time_s = 0;

		for (size_t i = 0; i < 2; i++)
			for (unsigned k = 1; k <= n; k++) {
				Mix mix = MIX_UNKNOWN;
				Prediction at;

				mix.depth = k;
				predict(of[i], &mix, &SETTING_AS_FOUND, &at);
				rate[i][k] = at.iops;
				time_s += share[i] * k / at.iops * chance[i][k - 1];
			}
		iops = n / time_s;
		for (size_t i = 0; i < 2; i++) {
			double sum = 0;

			for (unsigned k = n; k > 0; k--) {
				chance[i][k] = share[i] * iops / rate[i][k] * chance[i][k - 1];
				sum += chance[i][k];
			}
			chance[i][0] = 1 - sum;
		}
	}
	return iops;
}

static void throughput_is_that_of_mean_value_analysis(void **state)
{
	(void)state;
	for (double hits = 0.5; hits < 1; hits += 0.16)
		assert_float_equal(cached(hits, 1, DEPTH).iops / iops_by_mean_values(hits), 1,
				   1e-5);
}

/* The disk answers one IO in ten: the median is the cache's, the 99th percentile the disk's. */
static void few_misses_are_enough_for_the_99th_percentile(void **state)
{
	HybridPrediction all_hit = cached(0.9999, 1, 16), some_miss = cached(0.9, 1, 16);
	Mix mix = MIX_UNKNOWN;
	Prediction disk;

	(void)state;
	mix.depth = 1;
	predict(profile("seagate-exos-7e2000"), &mix, &SETTING_AS_FOUND, &disk);
	assert_true(some_miss.p50_us < all_hit.p50_us);
	assert_true(all_hit.p99_us < 1e6 / disk.iops);
	assert_true(some_miss.p99_us > 2e6 / disk.iops);
	assert_true(some_miss.half >= 0 && some_miss.half < 0.1);
}

/* In the closed form, at the depth that the device has in the mean. */
static double slower_than(double us, const char *name, const HybridPart *part)
{
	Mix mix = MIX_UNKNOWN;
	Prediction at;
	double mean_us;

	mix.depth = MAX(part->depth, 1.0);
	predict(profile(name), &mix, &SETTING_AS_FOUND, &at);
	mean_us = 1e6 * at.depth / at.iops;
	return service_slower(at.p99_us / mean_us, us / mean_us);
}

static double slower_of_both(double us, double misses, const HybridPrediction *p)
{
	return (1 - misses) * slower_than(us, "samsung-pm9a3", &p->of[0]) +
	       misses * slower_than(us, "seagate-exos-7e2000", &p->of[1]);
}

/* Not at one IO alone, because the net's service times differ by 0.3 of their mean at least, and a
 * disk's by less; and not where as many IOs miss as may be slow, because the percentile falls
 * between those of the cache and those of the disk, where there are none. */
static void the_99th_percentile_of_a_cache_and_a_disk_has_a_closed_form(void **state)
{
	static const double misses[] = { 0.002, 0.005, 0.02, 0.05, 0.1, 0.3, 0.7 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(misses); i++)
		for (unsigned depth = 4; depth <= (misses[i] < 0.01 ? 16 : 64); depth *= 4) {
			HybridPrediction p = cached(1 - misses[i], 1, depth);

			assert_true(slower_of_both(p.p99_us / 1.2, misses[i], &p) > 0.01);
			assert_true(slower_of_both(p.p99_us * 1.2, misses[i], &p) < 0.01);
		}
}

/* What the closed form says of the 99th percentile is what it is told. */
static void one_io_in_a_hundred_is_slower_than_the_99th_percentile(void **state)
{
	(void)state;
	for (double tail = 1.05; tail < 30; tail *= 1.3) {
		double before = 1;

		assert_float_equal(service_slower(tail, tail), 0.01, 1e-4);
		for (double times = 0.05; times < 100; times *= 1.5) {
			double slower = service_slower(tail, times);

			assert_true(slower >= 0 && slower <= before);
			before = slower;
		}
	}
}

static void more_disks_serve_more_and_answer_sooner(void **state)
{
	HybridPrediction before = cached(0.9, 1, 32);

	(void)state;
	for (unsigned disks = 2; disks <= 7; disks += 2) {
		HybridPrediction p = cached(0.9, disks, 32);

		assert_true(p.iops > before.iops);
		assert_true(p.p99_us < before.p99_us * 1.1);
		assert_true(p.watts > before.watts);
		before = p;
	}
}

static int refused(const HybridMember *members, size_t n, double depth)
{
	Mix mix = MIX_UNKNOWN;
	HybridPrediction p;

	mix.depth = depth;
	return hybrid_predict(members, n, &mix, &p);
}

static void what_makes_no_sense_is_refused(void **state)
{
	const Profile *p = profile("samsung-pm9a3");

	(void)state;
	assert_int_equal(refused(NULL, 0, 1), -EINVAL);
	assert_int_equal(refused(&(HybridMember){ p, 1, 0.9 }, 1, 1), -EINVAL);
	assert_int_equal(refused(&(HybridMember){ p, 0, 1 }, 1, 1), -EINVAL);
	assert_int_equal(refused(&(HybridMember){ p, TIER_STATIONS_MAX + 1, 1 }, 1, 1), -EINVAL);
	assert_int_equal(refused((const HybridMember[]){ { p, 1, 1 }, { p, 1, 0 } }, 2, 1),
			 -EINVAL);
	assert_int_equal(refused(&(HybridMember){ p, 1, 1 }, 1, 0), -EINVAL);
	assert_int_equal(refused(&(HybridMember){ p, 1, 1 }, 1, HYBRID_DEPTH_MAX + 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_by_itself_is_what_it_is_without_others),
		cmocka_unit_test(what_the_devices_do_adds_up),
		cmocka_unit_test(throughput_is_that_of_mean_value_analysis),
		cmocka_unit_test(few_misses_are_enough_for_the_99th_percentile),
		cmocka_unit_test(the_99th_percentile_of_a_cache_and_a_disk_has_a_closed_form),
		cmocka_unit_test(one_io_in_a_hundred_is_slower_than_the_99th_percentile),
		cmocka_unit_test(more_disks_serve_more_and_answer_sooner),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
