/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was learned of some settings corrects them, and tells of others what explains it best. */

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

static double io_us(Setting s)
{
	return 1e6 * s.depth / predicted(NULL, s).iops;
}

static Learned learned_of(double factor)
{
	return (Learned){ .of = { { measured, factor, io_us(measured) } }, .n = 1 };
}

static void assert_factor(const Learned *l, Setting s, double factor, double within)
{
	double is = predicted(l, s).mb_s / predicted(NULL, s).mb_s;

	assert_true(fabs(is - factor) <= within * factor);
}

/* What a drive serves of what its profile says, if what serves its IOs takes so much longer. */
typedef struct Slower {
	double fixed_us, per_io_us, part;
} Slower;

static double true_factor(const Slower *t, Setting s)
{
	double us = io_us(s);

	return us / (us + t->fixed_us + t->per_io_us * s.depth + t->part * us);
}

static void measure(Learned *l, const Slower *t, Setting s)
{
	l->of[l->n++] = (LearnedFactor){ s, true_factor(t, s), io_us(s) };
}

static void from_three_settings_others_are_known_to_a_fifth(void **state)
{
	static const Slower drives[] = {
		{ 90, 0, 0 }, { 0, 20, 0 }, { 0, 0, 0.8 }, { 60, 10, 0.3 }
	};
	static const Setting others[] = { { .power_state = -1, .depth = 2, .chunk_kib = 8 },
					  { .power_state = -1, .depth = 16, .chunk_kib = 64 },
					  { .power_state = -1, .depth = 8, .chunk_kib = 16 } };

	(void)state;
	for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
		Learned l = {};

		measure(&l, &drives[i], shaped(1, 32));
		measure(&l, &drives[i], shaped(32, 4));
		measure(&l, &drives[i], shaped(64, 128));
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
			assert_factor(&l, others[k], true_factor(&drives[i], others[k]), 0.2);
	}
}

static void
of_one_short_io_the_same_time_is_missed_elsewhere_and_of_a_long_one_the_same_part(void **state)
{
	const Slower late = { 90, 0, 0 }, slow = { 0, 0, 0.5 };
	Learned l = {};

	(void)state;
	measure(&l, &late, shaped(1, 16));
	assert_factor(&l, shaped(1, 256), true_factor(&late, shaped(1, 256)), 0.1);
	l.n = 0;
	measure(&l, &slow, shaped(64, 256));
	assert_factor(&l, shaped(32, 256), true_factor(&slow, shaped(32, 256)), 0.1);
}

/* Long IOs that were slow, and one that is less so, do not make short ones free. */
static void what_missed_least_makes_no_other_faster(void **state)
{
	Setting found = SETTING_AS_FOUND;
	Learned l = {};

	(void)state;
	l.of[l.n++] = (LearnedFactor){ found, 0.35, 6000, 64 };
	measure(&l, &(Slower){ 0, 0, 0.7 }, shaped(16, 64));
	assert_true(predicted(&l, shaped(4, 4)).learned < 0.75);
}

static void as_found_it_tells_of_what_is_set(void **state)
{
	const Slower slow = { 0, 0, 1.2 };
	Learned l = {};

	(void)state;
	l.of[l.n++] = (LearnedFactor){ SETTING_AS_FOUND, 1 / 2.2, 9000, 64 };
	assert_factor(&l, shaped(64, 128), true_factor(&slow, shaped(64, 128)), 0.2);
	assert_factor(&l, shaped(16, 128), true_factor(&slow, shaped(16, 128)), 0.2);
}

static void of_as_found_and_of_looser_states_nothing_is_told(void **state)
{
	Learned l = learned_of(0.3);

	(void)state;
	assert_factor(&l, SETTING_AS_FOUND, 1, 0);
	l.of[0].setting.power_state = 2;
	assert_factor(&l, shaped(4, 16), 1, 0);
	assert_true(
		predicted(&l, (Setting){ .power_state = 2, .depth = 1, .chunk_kib = 16 }).learned <
		0.9);
}

static void what_serves_more_is_believed_of_itself_alone(void **state)
{
	const Learned l = learned_of(1.4);

	(void)state;
	assert_factor(&l, measured, 1.4, 1e-9);
	assert_factor(&l, shaped(1, 16), 1, 0);
	assert_factor(&l, shaped(8, 16), 1, 0);
}

static void its_own_measurement_counts_before_what_others_tell(void **state)
{
	Learned l = learned_of(0.2);

	(void)state;
	l.of[l.n++] = (LearnedFactor){ shaped(1, 16), 0.9, io_us(shaped(1, 16)) };
	assert_factor(&l, shaped(1, 16), 0.9, 1e-9);
	assert_factor(&l, measured, 0.2, 1e-9);
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
		cmocka_unit_test(from_three_settings_others_are_known_to_a_fifth),
		cmocka_unit_test(
			of_one_short_io_the_same_time_is_missed_elsewhere_and_of_a_long_one_the_same_part),
		cmocka_unit_test(what_missed_least_makes_no_other_faster),
		cmocka_unit_test(as_found_it_tells_of_what_is_set),
		cmocka_unit_test(of_as_found_and_of_looser_states_nothing_is_told),
		cmocka_unit_test(what_serves_more_is_believed_of_itself_alone),
		cmocka_unit_test(its_own_measurement_counts_before_what_others_tell),
		cmocka_unit_test(who_serves_less_draws_less_and_may_draw_as_much),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
