/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was learned of one setting corrects it, those that are tighter and, as far as that bounds
 * them, those that are looser. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model-store.h"
#include "model/frontier.h"

static const Setting measured = { .power_state = -1, .depth = 4, .chunk_kib = 16 };

static Setting shaped(unsigned depth, unsigned chunk_kib)
{
	return (Setting){ .power_state = -1, .depth = depth, .chunk_kib = chunk_kib };
}

static const Profile *drive(void)
{
	return profile_store_get(store, "samsung-pm9a3");
}

static Prediction predicted(const Learned *l, Setting s)
{
	Mix mix = { .random_share = 1, .write_kib = 256, .depth = 64, .learned = l };
	Prediction p;

	predict(drive(), &mix, &s, &p);
	return p;
}

static Learned learned_of(double factor)
{
	return (Learned){ .of = { { measured, factor, factor * predicted(NULL, measured).mb_s } },
			  .n = 1 };
}

static void assert_factor(const Learned *l, Setting s, double factor)
{
	double mb_s = predicted(l, s).mb_s / predicted(NULL, s).mb_s;

	assert_true(fabs(mb_s - factor) < 1e-9);
}

static void what_a_looser_setting_misses_a_tighter_one_misses_too(void **state)
{
	const Learned l = learned_of(0.3);

	(void)state;
	assert_factor(&l, measured, 0.3);
	assert_factor(&l, shaped(1, 16), 0.3);
	assert_factor(&l, shaped(4, 4), 0.3);
	assert_factor(&l, (Setting){ .power_state = 2, .depth = 4, .chunk_kib = 16 }, 0.3);
	/* neither tighter nor looser */
	assert_factor(&l, shaped(1, 256), 1);
	assert_factor(&l, shaped(64, 4), 1);
	assert_factor(&l, SETTING_AS_FOUND, 1);
}

static void twice_the_depth_or_chunk_serves_at_most_twice_as_much(void **state)
{
	const Learned l = learned_of(0.1);
	double mb_s = predicted(&l, measured).mb_s;

	(void)state;
	assert_true(fabs(predicted(&l, shaped(8, 16)).mb_s - 2 * mb_s) < 1e-9);
	assert_true(fabs(predicted(&l, shaped(4, 32)).mb_s - 2 * mb_s) < 1e-9);
	assert_true(fabs(predicted(&l, shaped(8, 32)).mb_s - 4 * mb_s) < 1e-9);
	assert_factor(&l, shaped(512, 256), 1);
}

static void what_serves_more_is_believed_of_itself_alone(void **state)
{
	const Learned l = learned_of(1.4);

	(void)state;
	assert_factor(&l, measured, 1.4);
	assert_factor(&l, shaped(1, 16), 1);
	assert_factor(&l, shaped(8, 16), 1);
}

static void its_own_measurement_counts_before_that_of_a_looser_one(void **state)
{
	Learned l = learned_of(0.2);

	(void)state;
	l.of[l.n++] =
		(LearnedFactor){ shaped(1, 16), 0.9, 0.9 * predicted(NULL, shaped(1, 16)).mb_s };
	assert_factor(&l, shaped(1, 16), 0.9);
	assert_factor(&l, shaped(1, 4), 0.2);
}

static void who_serves_less_draws_less_and_may_draw_as_much(void **state)
{
	const Learned l = learned_of(0.25);
	double idle_w = drive()->idle_w;
	Prediction was = predicted(NULL, measured), is = predicted(&l, measured);
	Offer o = { .mechanisms = MECHANISM_DEPTH | MECHANISM_CHUNK,
		    .depth_one = true,
		    .depth_min = 2,
		    .depth_max = 1023,
		    .chunk_min_kib = 4,
		    .chunk_max_kib = 1280 };
	Mix mix = { .random_share = 1, .write_kib = 256, .depth = 64, .learned = &l };
	Candidate c[FRONTIER_MAX];
	size_t n;

	(void)state;
	assert_true(fabs(is.watts - idle_w - (was.watts - idle_w) / 4) < 1e-9);
	assert_true(is.p99_us > was.p99_us);
	frontier_build(drive(), &mix, &o, 0, CONDITION_ACTIVE, c, &n);
	assert_true(n > 2);
	for (size_t i = 0; i + 1 < n; i++) {
		assert_true(c[i].cap_w == cap_watts(drive(), &c[i].setting));
		assert_true(fabs(c[i].mb_s - predicted(&l, c[i].setting).mb_s) < 1e-9);
		assert_false(setting_equal(&c[i].setting, &measured));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_looser_setting_misses_a_tighter_one_misses_too),
		cmocka_unit_test(twice_the_depth_or_chunk_serves_at_most_twice_as_much),
		cmocka_unit_test(what_serves_more_is_believed_of_itself_alone),
		cmocka_unit_test(its_own_measurement_counts_before_that_of_a_looser_one),
		cmocka_unit_test(who_serves_less_draws_less_and_may_draw_as_much),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
