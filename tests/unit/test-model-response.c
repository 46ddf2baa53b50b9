/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cases.h"
#include "model-store.h"
#include "model/response.h"

static const Mix mixes[] = {
	{ 0.7, 1, 16, 16, 0, NULL }, { 1, 1, 4, 4, 0, NULL },       { 0, 1, 256, 256, 0, NULL },
	{ 1, 0, 256, 256, 0, NULL }, { 0.5, 0.5, 4, 128, 0, NULL }, { 0, 0, 4, 4, 0, NULL },
};

static void assert_within(double found, double expected, double relative)
{
	if (!(fabs(found - expected) <= relative * expected))
		fail_msg("%.9g is not %.9g within %g of it", found, expected, relative);
}

static Response of_queue(double depth, unsigned servers, double deviation_s)
{
	Response r;

	assert_int_equal(response_of_queue(&(ResponseQueue){ .depth = depth,
							     .servers = servers,
							     .service_s = 1,
							     .deviation_s = deviation_s,
							     .iops = servers },
					   &r),
			 0);
	return r;
}

/* As found, under a workload of this shape that keeps so many IOs outstanding. */
static Response predicted(const Profile *p, const Mix *shape, unsigned depth, Prediction *ret_at)
{
	Mix mix = *shape;
	Response r;

	mix.depth = depth;
	predict(p, &mix, &SETTING_AS_FOUND, ret_at);
	assert_int_equal(response_predict(p, &mix, &SETTING_AS_FOUND, &r), 0);
	return r;
}

static void the_mean_is_by_littles_law_what_predict_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < store->n; i++)
		for (size_t k = 0; k < ELEMENTSOF(mixes); k++)
			for (unsigned depth = 1; depth <= 256; depth = depth * 3 + 1) {
				Prediction at;
				Response r = predicted(store->profiles[i], &mixes[k], depth, &at);

				assert_within(r.mean_us * at.iops / 1e6, depth, 0.01);
				assert_true(r.p50_us > 0 && r.p50_us < r.p99_us);
				assert_true(r.p99_us > r.mean_us);
				assert_true(r.servers >= 1 && r.servers <= depth);
			}
}

static void the_99th_percentile_never_falls_with_depth(void **state)
{
	const unsigned deepest = cases_share() < 1 ? 128 : 1024; /* a deep queue has a large net */

	(void)state;
	for (size_t i = 0; i < store->n; i++)
		for (size_t k = 0; k < ELEMENTSOF(mixes); k++) {
			double before_us = 0;

			for (unsigned depth = 1; depth <= deepest; depth *= 2) {
				Prediction at;
				Response r = predicted(store->profiles[i], &mixes[k], depth, &at);

				if (r.p99_us < before_us * (1 - 1e-6))
					fail_msg("%s, mix %zu: %g us at depth %u, %g us before",
						 store->profiles[i]->name, k, r.p99_us, depth,
						 before_us);
				before_us = r.p99_us;
			}
		}
}

/* The net's times differ by a third at least, as it has few phases: disks' differ less. */
static void what_is_planned_with_is_near_what_the_net_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < store->n; i++)
		for (size_t k = 0; k < ELEMENTSOF(mixes); k++)
			for (unsigned depth = 1; depth <= 256; depth *= 2) {
				const Profile *p = store->profiles[i];
				Prediction at;
				Response r = predicted(p, &mixes[k], depth, &at);

				if (p->kind != KIND_HDD)
					assert_within(at.p99_us, r.p99_us, 0.2);
				else
					assert_true(at.p99_us <= 1.15 * r.p99_us &&
						    at.p99_us >= r.mean_us);
			}
}

/* The probability that the sum of n exponential times of mean 1 is above t. */
static double erlang_above(unsigned n, double t)
{
	double term = exp(-t), sum = 0;

	for (unsigned k = 0; k < n; k++, term *= t / k)
		sum += term;
	return sum;
}

static void ios_at_one_exponential_server_wait_for_all_before_them(void **state)
{
	(void)state;
	assert_within(of_queue(1, 1, 1).p99_us, 1e6 * log(100), 1e-3);
	assert_within(of_queue(1, 1, 1).p50_us, 1e6 * log(2), 1e-3);
	for (unsigned n = 2; n <= 64; n *= 2) {
		Response r = of_queue(n, 1, 1);

		assert_within(r.mean_us, 1e6 * n, 1e-9);
		assert_within(erlang_above(n, r.p99_us / 1e6), 0.01, 0.02);
		assert_within(erlang_above(n, r.p50_us / 1e6), 0.5, 0.02);
	}
}

static void nobody_waits_where_there_are_as_many_servers_as_ios(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 512; n *= 8) {
		assert_within(of_queue(n, n, 1).p99_us, 1e6 * log(100), 1e-3);
		assert_within(of_queue(n, n, 0.5).p99_us, of_queue(1, 1, 0.5).p99_us, 1e-9);
	}
}

/* All servers are busy, and what waits is served at one steady rate. */
static void the_wait_at_many_exponential_servers_is_that_of_one_fast_one(void **state)
{
	Response r = of_queue(96, 32, 1);
	double above = 0, step = 1e-3, t = r.p99_us / 1e6;

	(void)state;
	/* the wait behind 64 at 32 a second, and then an own service */
	for (double own = step / 2; own < 40; own += step)
		above += step * exp(-own) * (own > t ? 1 : erlang_above(64, 32 * (t - own)));
	assert_within(above, 0.01, 0.03);
}

static void times_that_differ_less_have_a_shorter_tail(void **state)
{
	(void)state;
	assert_true(of_queue(8, 2, 0.3).p99_us < of_queue(8, 2, 0.5).p99_us);
	assert_true(of_queue(8, 2, 0.5).p99_us < of_queue(8, 2, 1).p99_us);
	assert_true(of_queue(8, 2, 1).p99_us < of_queue(8, 2, 2).p99_us);
}

/* Nets of many states are made smaller. */
static void a_device_of_many_servers_is_safe_and_near(void **state)
{
	Response r = of_queue(512, 128, 0.5), exponential = of_queue(512, 128, 1);

	(void)state;
	assert_within(r.mean_us, 4e6, 1e-9);
	/* the wait hardly differs with so many before one: an own service of 2.25 at the 99th */
	assert_true(r.p99_us > 4.9e6 && r.p99_us < 1.1 * exponential.p99_us);
}

static Point *find_point(Profile *p, unsigned depth, unsigned chunk_kib)
{
	for (Point *q = p->points; q < p->points + p->n_points; q++)
		if (q->depth == depth && q->chunk_kib == chunk_kib && q->direction == WRITE_IO &&
		    q->pattern == RANDOM_IO && q->power_state == 0)
			return q;
	fail_msg("%s has no such point", p->name);
	return NULL;
}

static void a_measured_99th_percentile_comes_first(void **state)
{
	Profile *p = (Profile *)profile_store_get(store, "samsung-pm9a3");
	Point *q = find_point(p, 4, 256);
	Prediction at;
	Response r;

	(void)state;
	for (double us = 10; us < 1e6; us *= 100) {
		q->p99_us = us;
		r = predicted(p, &mixes[2], 4, &at);
		assert_true(r.p99_measured && r.p99_us == us);
		assert_false(predicted(p, &mixes[1], 4, &at).p99_measured);
		r = predicted(p, &mixes[2], 3, &at);
		assert_true(!r.p99_measured && r.p99_us <= us);
		r = predicted(p, &mixes[2], 5, &at);
		assert_true(!r.p99_measured && r.p99_us >= us);
	}
	q->p99_us = 0;
	assert_false(predicted(p, &mixes[2], 4, &at).p99_measured);
}

static void what_is_planned_with_at_a_measured_point_is_what_was_measured(void **state)
{
	Profile *p = (Profile *)profile_store_get(store, "samsung-pm9a3");
	Point *q = find_point(p, 4, 256);
	Mix mix = mixes[2];
	Prediction at;

	(void)state;
	mix.depth = 4;
	for (double tail = 1; tail < 20; tail *= 2) {
		q->p99_us = tail * 4e6 / q->iops;
		predict(p, &mix, &SETTING_AS_FOUND, &at);
		assert_within(at.p99_us, q->p99_us, 1e-3);
	}
	q->p99_us = 0;
}

static void what_is_assumed_is_marked_estimated(void **state)
{
	Profile *p = (Profile *)profile_store_get(store, "samsung-pm9a3");
	Point *q = find_point(p, 64, 256);
	Prediction at;

	(void)state;
	/* as if it were measured */
	q->estimated = false;
	assert_true(predicted(p, &mixes[2], 64, &at).estimated);
	assert_false(at.estimated);
	q->estimated = true;
	predicted(p, &mixes[2], 64, &at);
	assert_true(at.estimated);
}

/* It is told by the point that is the nearest in size. Times that differ by less than some 0.3 of
 * their mean are beyond the phases: that is on the safe side. */
static void a_99th_percentile_at_depth_one_tells_how_much_service_times_differ(void **state)
{
	static const struct {
		double tail, within;
	} rows[] = { { 1.9, 0.08 }, { 2.51, 0.08 }, { 4.61, 0.08 }, { 7, 0.12 } };
	static const Mix near = { 0, 1, 192, 192, 0, NULL };
	Profile *p = (Profile *)profile_store_get(store, "samsung-pm9a3");
	Point *q = find_point(p, 1, 256);
	Prediction at;
	Response r;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		q->p99_us = rows[i].tail * 1e6 / q->iops;
		r = predicted(p, &near, 1, &at);
		assert_false(r.p99_measured);
		assert_true(r.estimated == at.estimated);
		assert_within(r.p99_us / r.mean_us, rows[i].tail, rows[i].within);
	}
	q->p99_us = 1.05e6 / q->iops;
	r = predicted(p, &near, 1, &at);
	assert_true(r.p99_us / r.mean_us > 1.05 && r.p99_us / r.mean_us < 2);
	q->p99_us = 0;
}

static void who_sleeps_answers_nothing(void **state)
{
	const Profile *p = profile_store_get(store, "seagate-exos-7e2000");
	const Setting asleep = { .power_state = -1, .condition = CONDITION_STANDBY_Z };
	Response r;

	(void)state;
	assert_int_equal(response_predict(p, &MIX_UNKNOWN, &asleep, &r), -ENODATA);
}

static void queues_that_make_no_sense_are_refused(void **state)
{
	static const ResponseQueue wrong[] = {
		{ 0, 1, 1, 1, 1 }, { 1, 0, 1, 1, 1 },   { 1, 1, 0, 1, 1 },
		{ 1, 1, 1, 1, 0 }, { NAN, 1, 1, 1, 1 }, { 1, 1, 1, NAN, 1 },
	};
	Response r;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(response_of_queue(&wrong[i], &r), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mean_is_by_littles_law_what_predict_says),
		cmocka_unit_test(the_99th_percentile_never_falls_with_depth),
		cmocka_unit_test(what_is_planned_with_is_near_what_the_net_says),
		cmocka_unit_test(what_is_planned_with_at_a_measured_point_is_what_was_measured),
		cmocka_unit_test(ios_at_one_exponential_server_wait_for_all_before_them),
		cmocka_unit_test(nobody_waits_where_there_are_as_many_servers_as_ios),
		cmocka_unit_test(the_wait_at_many_exponential_servers_is_that_of_one_fast_one),
		cmocka_unit_test(times_that_differ_less_have_a_shorter_tail),
		cmocka_unit_test(a_device_of_many_servers_is_safe_and_near),
		cmocka_unit_test(a_measured_99th_percentile_comes_first),
		cmocka_unit_test(what_is_assumed_is_marked_estimated),
		cmocka_unit_test(
			a_99th_percentile_at_depth_one_tells_how_much_service_times_differ),
		cmocka_unit_test(who_sleeps_answers_nothing),
		cmocka_unit_test(queues_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
