/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model-store.h"
#include "model/predict.h"

static const Profile *pm9a3(void)
{
	const Profile *p = profile_store_get(store, "samsung-pm9a3");

	assert_non_null(p);
	return p;
}

static Mix mix_of(const Point *q)
{
	return (Mix){ .read_share = q->direction == READ_IO,
		      .random_share = q->pattern == RANDOM_IO,
		      .read_kib = q->chunk_kib,
		      .write_kib = q->chunk_kib,
		      .depth = q->depth };
}

static void every_point_is_predicted_exactly(void **state)
{
	(void)state;
	for (size_t i = 0; i < store->n; i++) {
		const Profile *p = store->profiles[i];

		for (const Point *q = p->points; q < p->points + p->n_points; q++) {
			const Setting s = { .power_state = q->power_state };
			Mix mix = mix_of(q);
			Prediction r;

			predict(p, &mix, &s, &r);
			assert_float_equal(r.watts, q->watts, 1e-9);
			assert_float_equal(r.mb_s, q->mb_s, 1e-6 * q->mb_s);
			assert_float_equal(r.iops, q->mb_s * 1e6 / (q->chunk_kib * 1024),
					   1e-6 * r.iops);
			assert_float_equal(r.error, q->error, 1e-9);
			assert_int_equal(r.estimated, q->estimated);
		}
	}
}

static void shaping_a_deep_workload_is_the_shallow_workload(void **state)
{
	Mix deep = { .random_share = 1, .write_kib = 256, .depth = 64 };
	Mix shallow = { .random_share = 1, .write_kib = 64, .depth = 2 };
	Setting s = { .power_state = -1, .depth = 2, .chunk_kib = 64 };
	Prediction a, b;

	(void)state;
	predict(pm9a3(), &deep, &s, &a);
	predict(pm9a3(), &shallow, &SETTING_AS_FOUND, &b);
	assert_float_equal(a.watts, b.watts, 1e-9);
	assert_float_equal(a.mb_s, b.mb_s, 1e-6);
}

static void a_split_io_is_as_deep_as_its_parts_but_never_faster(void **state)
{
	Mix one = { .random_share = 1, .write_kib = 256, .depth = 1 };
	Mix four = { .random_share = 1, .write_kib = 64, .depth = 4 };
	Setting chunk = { .power_state = -1, .chunk_kib = 64 };
	Prediction a, b, whole;

	(void)state;
	predict(pm9a3(), &one, &chunk, &a);
	predict(pm9a3(), &four, &SETTING_AS_FOUND, &b);
	predict(pm9a3(), &one, &SETTING_AS_FOUND, &whole);
	assert_true(b.mb_s > whole.mb_s);
	assert_float_equal(a.mb_s, whole.mb_s, 1e-6);
	assert_float_equal(a.watts, b.watts, 1e-6);
	assert_float_equal(a.iops * 64 * 1024, a.mb_s * 1e6, 1);
}

static void a_cross_of_points_is_completed_by_ratios(void **state)
{
	Point points[] = {
		{ .depth = 64,
		  .chunk_kib = 256,
		  .watts = 12,
		  .mb_s = 1000,
		  .iops = 3815,
		  .error = 0.1 },
		{ .depth = 1,
		  .chunk_kib = 256,
		  .watts = 8,
		  .mb_s = 600,
		  .iops = 2289,
		  .error = 0.1 },
		{ .depth = 64,
		  .chunk_kib = 4,
		  .watts = 6,
		  .mb_s = 400,
		  .iops = 97656,
		  .error = 0.1 },
	};
	Profile p = { .rated_w = 20, .idle_w = 2, .error = 0.1, .points = points, .n_points = 3 };
	Mix mix = { .read_share = 1, .random_share = 1, .read_kib = 4, .depth = 1 };
	Prediction r;

	(void)state;
	predict(&p, &mix, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.watts, 2 + 10 * 0.6 * 0.4, 1e-9);
	assert_float_equal(r.mb_s, 1000 * 0.6 * 0.4, 1e-9);
	assert_true(r.estimated && r.error > 0.1);
	mix.depth = 8; /* half way from 1 to 64 in log2 */
	mix.read_kib = 256;
	predict(&p, &mix, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.watts, 10, 1e-9);
	assert_float_equal(r.mb_s, 800, 1e-9);
}

/* Four IOs at once give four times as much as one, and so do two twice as much, not half of the
 * way. */
static void between_two_depths_no_io_is_served_sooner_than_alone(void **state)
{
	Point points[] = {
		{ .depth = 1, .chunk_kib = 4, .watts = 3, .mb_s = 100, .iops = 24414 },
		{ .depth = 4, .chunk_kib = 4, .watts = 6, .mb_s = 400, .iops = 97656 },
		{ .depth = 64, .chunk_kib = 4, .watts = 7, .mb_s = 500, .iops = 122070 },
	};
	Profile p = { .rated_w = 20, .idle_w = 2, .error = 0.1, .points = points, .n_points = 3 };
	Mix mix = { .read_share = 1, .random_share = 1, .read_kib = 4, .depth = 2 };
	Prediction r;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		points[i].direction = READ_IO;
	predict(&p, &mix, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.mb_s, 200, 1e-9);
	assert_float_equal(r.watts, 4, 1e-9);
	mix.depth = 16;
	predict(&p, &mix, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.mb_s, 450, 1e-9);
	points[1].mb_s = 500; /* the points say otherwise */
	mix.depth = 4;
	predict(&p, &mix, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.mb_s, 500, 1e-9);
	mix.depth = 2;
	predict(&p, &mix, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.mb_s, 100 * sqrt(5), 1e-9);
}

static void outside_the_points_values_are_clamped_and_errors_wider(void **state)
{
	Mix at = { .random_share = 1, .write_kib = 256, .depth = 64 }, deeper = at, tiny = at;
	Prediction a, b;

	(void)state;
	predict(pm9a3(), &at, &SETTING_AS_FOUND, &a);
	deeper.depth = 1000;
	predict(pm9a3(), &deeper, &SETTING_AS_FOUND, &b);
	assert_float_equal(a.watts, b.watts, 1e-9);
	assert_true(b.error > a.error && b.estimated);
	at.write_kib = 4;
	predict(pm9a3(), &at, &SETTING_AS_FOUND, &a);
	tiny.write_kib = 1;
	predict(pm9a3(), &tiny, &SETTING_AS_FOUND, &b);
	assert_float_equal(a.iops, b.iops, 1e-3 * a.iops);
	assert_float_equal(a.mb_s, 4 * b.mb_s, 1e-3 * a.mb_s);
}

static void a_mix_is_the_time_weighted_mean_with_a_wider_error(void **state)
{
	Mix mix = {
		.read_share = 0.7, .random_share = 1, .read_kib = 4, .write_kib = 256, .depth = 64
	};
	Mix reads = mix, writes = mix;
	Prediction m, r, w;
	double seconds;

	(void)state;
	reads.read_share = 1;
	writes.read_share = 0;
	predict(pm9a3(), &mix, &SETTING_AS_FOUND, &m);
	predict(pm9a3(), &reads, &SETTING_AS_FOUND, &r);
	predict(pm9a3(), &writes, &SETTING_AS_FOUND, &w);
	seconds = 0.7 / r.iops + 0.3 / w.iops;
	assert_float_equal(m.iops, 1 / seconds, 1e-6 * m.iops);
	assert_float_equal(m.watts, (0.7 / r.iops * r.watts + 0.3 / w.iops * w.watts) / seconds,
			   1e-9);
	assert_true(m.error > MIN(r.error, w.error));
	assert_float_equal(mix_mean_kib(&mix), 0.7 * 4 + 0.3 * 256, 1e-9);
}

static void a_power_state_caps_watts_and_hurts_random_writes_most(void **state)
{
	Setting ps1 = { .power_state = 1 };
	Mix writes = { .random_share = 1, .write_kib = 256, .depth = 64 };
	Mix reads = { .read_share = 1, .read_kib = 256, .depth = 64 };
	Prediction w0, w1, r0, r1;

	(void)state;
	predict(pm9a3(), &writes, &SETTING_AS_FOUND, &w0);
	predict(pm9a3(), &writes, &ps1, &w1);
	predict(pm9a3(), &reads, &SETTING_AS_FOUND, &r0);
	predict(pm9a3(), &reads, &ps1, &r1);
	assert_float_equal(w1.watts, 8, 1e-9);
	assert_float_equal(r1.watts, 8, 1e-9);
	/* by points of its own, which are estimated, or by what the state leaves of those of PS0 */
	assert_true(w1.estimated && w1.error > w0.error);
	assert_true(w1.mb_s / w0.mb_s < r1.mb_s / r0.mb_s);
	assert_true(w1.p99_us > w0.p99_us);
	assert_float_equal(cap_watts(pm9a3(), &ps1), 8, 1e-9);
}

static void pacing_follows_the_energies_and_never_speeds_up(void **state)
{
	const Profile *p = pm9a3();
	Mix mix = MIX_UNKNOWN;
	Setting s = { .power_state = -1, .pace_w = 2 };
	Prediction free, paced;

	(void)state;
	predict(p, &mix, &SETTING_AS_FOUND, &free);
	predict(p, &mix, &s, &paced);
	assert_float_equal(paced.iops, 2 / mix_io_joules(p, &mix), 1e-6 * paced.iops);
	assert_true(paced.mb_s < free.mb_s && paced.watts < free.watts);
	assert_true(paced.watts <= cap_watts(p, &s));
	s.pace_w = 100;
	predict(p, &mix, &s, &paced);
	assert_float_equal(paced.mb_s, free.mb_s, 1e-9);
}

static void what_is_left_of_a_pace_is_neither_served_nor_drawn(void **state)
{
	const Profile *p = pm9a3();
	const Setting s = { .power_state = -1, .pace_w = 2 };
	Mix mix = MIX_UNKNOWN;
	Prediction all, some, free;

	(void)state;
	predict(p, &mix, &s, &all);
	mix.pace_left = 0.25;
	predict(p, &mix, &s, &some);
	assert_float_equal(some.mb_s, 0.75 * all.mb_s, 1e-9 * all.mb_s);
	assert_float_equal(some.watts - p->idle_w, 0.75 * (all.watts - p->idle_w), 1e-9);
	predict(p, &mix, &SETTING_AS_FOUND, &free);
	mix.pace_left = 0;
	predict(p, &mix, &SETTING_AS_FOUND, &all);
	assert_true(free.mb_s == all.mb_s && free.watts == all.watts);
}

static void a_sleeping_disk_gives_nothing_and_idle_conditions_save_at_rest(void **state)
{
	const Profile *p = profile_store_get(store, "seagate-constellation-es2");
	Setting standby = { .power_state = -1, .condition = CONDITION_STANDBY_Z };
	Setting idle_b = { .power_state = -1, .condition = CONDITION_IDLE_B };
	Mix mix = MIX_UNKNOWN;
	Prediction r;

	(void)state;
	predict(p, &mix, &standby, &r);
	assert_float_equal(r.watts, 1.5, 1e-9);
	assert_float_equal(r.mb_s, 0, 0);
	assert_float_equal(r.p99_us, 15e6, 1);
	assert_float_equal(cap_watts(p, &standby), 1.5 * 1.05, 1e-9);
	assert_float_equal(cap_watts(p, &idle_b), p->rated_w, 1e-9);
	predict_demand(p, &mix, &idle_b, 0, &r);
	assert_float_equal(r.watts, 5.4, 1e-9);
	predict_demand(p, &mix, &SETTING_AS_FOUND, 0, &r);
	assert_float_equal(r.watts, 7, 1e-9);
}

static void demand_moves_watts_between_rest_and_saturation(void **state)
{
	const Profile *p = profile_store_get(store, "intel-d3-s4510");
	Setting link = { .power_state = -1, .link = LINK_MEDIUM_DIPM };
	Mix mix = MIX_UNKNOWN;
	Prediction full, half, r;

	(void)state;
	predict(p, &mix, &SETTING_AS_FOUND, &full);
	predict_demand(p, &mix, &SETTING_AS_FOUND, full.mb_s / 2, &half);
	assert_float_equal(half.watts, (p->idle_w + full.watts) / 2, 1e-9);
	assert_float_equal(half.mb_s, full.mb_s / 2, 1e-9);
	predict_demand(p, &mix, &SETTING_AS_FOUND, INFINITY, &r);
	assert_float_equal(r.watts, full.watts, 1e-9);
	predict_demand(p, &mix, &link, NAN, &r);
	assert_float_equal(r.watts, 0.55, 1e-9);
	assert_float_equal(r.mb_s, 0, 0);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	return *seed ^= *seed << 17;
}

static double between(uint64_t *seed, double lo, double hi)
{
	return lo + (hi - lo) * (double)(next_random(seed) >> 11) / 0x1p53;
}

static Setting random_setting(uint64_t *seed, const Profile *p)
{
	Setting s = SETTING_AS_FOUND;

	if (next_random(seed) % 3 == 0 && p->n_states)
		s.power_state = (int)(next_random(seed) % p->n_states);
	if (next_random(seed) % 2)
		s.depth = 1u << next_random(seed) % 11;
	if (next_random(seed) % 2)
		s.chunk_kib = 1u << next_random(seed) % 13;
	if (next_random(seed) % 4 == 0)
		s.pace_w = between(seed, 0.01, p->rated_w);
	if (next_random(seed) % 6 == 0)
		s.limit_w = between(seed, p->idle_w, p->rated_w);
	if (next_random(seed) % 6 == 0)
		s.condition = (Condition)(next_random(seed) % _CONDITION_MAX);
	return s;
}

static void no_workload_is_expected_to_draw_more_than_its_settings_cap(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		const Profile *p = store->profiles[next_random(&seed) % store->n];
		Setting s = random_setting(&seed, p);
		Mix mix = { between(&seed, 0, 1), between(&seed, 0, 1), exp2(between(&seed, 0, 12)),
			    exp2(between(&seed, 0, 12)), exp2(between(&seed, 0, 10)) };
		double cap = cap_watts(p, &s);
		Prediction r;

		if (next_random(&seed) % 3 == 0)
			mix.read_share = (double)(next_random(&seed) % 2);
		if (next_random(&seed) % 3 == 0)
			mix.random_share = (double)(next_random(&seed) % 2);
		predict(p, &mix, &s, &r);
		if (!(r.watts <= cap + 1e-9) || !(cap <= p->rated_w) || !(r.mb_s >= 0)) {
			char text[128];

			fail_msg("%s, %s: %.3f W expected, cap %.3f W, %.1f MB/s", p->name,
				 setting_text(text, sizeof(text), &s), r.watts, cap, r.mb_s);
		}
	}
}

static void a_wider_setting_never_has_a_lower_cap(void **state)
{
	(void)state;
	for (size_t i = 0; i < store->n; i++)
		for (unsigned d = 1; d <= 256; d *= 2)
			for (unsigned c = 4; c <= 1024; c *= 2) {
				const Profile *p = store->profiles[i];
				double cap =
					cap_watts(p, &(Setting){ -1, .depth = d, .chunk_kib = c });

				assert_true(cap <= cap_watts(p, &(Setting){ -1, .depth = 2 * d,
									    .chunk_kib = c }));
				assert_true(cap <= cap_watts(p, &(Setting){ -1, .depth = d,
									    .chunk_kib = 2 * c }));
				assert_true(cap <= cap_watts(p, &(Setting){ -1, .depth = d }));
				assert_true(cap <= cap_watts(p, &(Setting){ -1, .chunk_kib = c }));
			}
}

static void as_found_the_cap_is_the_rated_power(void **state)
{
	(void)state;
	for (size_t i = 0; i < store->n; i++)
		assert_float_equal(cap_watts(store->profiles[i], &SETTING_AS_FOUND),
				   store->profiles[i]->rated_w, 0);
}

/* Of each profile, what is predicted as found and saturated: never more, and by some workload
 * almost as much. */
static void the_operating_power_is_the_highest_that_is_predicted(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < store->n; i++) {
		const Profile *p = store->profiles[i];
		double operating_w = profile_operating_w(p), most_w = 0;

		for (int n = 0; n < 20000; n++) {
			Mix mix = { .read_share = (double)(next_random(&seed) % 2),
				    .random_share = (double)(next_random(&seed) % 2),
				    .read_kib = exp2(between(&seed, 2, 12)),
				    .write_kib = exp2(between(&seed, 2, 12)),
				    .depth = exp2(between(&seed, 0, 10)) };
			Prediction r;

			predict(p, &mix, &SETTING_AS_FOUND, &r);
			most_w = MAX(most_w, r.watts);
		}
		assert_true(most_w <= operating_w + 1e-9);
		assert_true(p->estimated || most_w >= 0.99 * operating_w);
		assert_true(operating_w <= p->rated_w);
	}
	assert_float_equal(profile_operating_w(profile_store_get(store, "samsung-pm1733")), 14,
			   1e-9);
}

static void a_senseless_mix_still_gives_finite_figures(void **state)
{
	const Mix mixes[] = { { NAN, NAN, NAN, NAN, NAN },
			      { -1, 2, 0, -5, 0 },
			      { 1, 0, INFINITY, 1, INFINITY },
			      {} };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(mixes); i++) {
		Prediction r;

		predict(pm9a3(), &mixes[i], &SETTING_AS_FOUND, &r);
		assert_true(isfinite(r.watts) && isfinite(r.mb_s) && isfinite(r.p99_us) &&
			    r.watts <= 14);
		assert_true(isfinite(mix_io_joules(pm9a3(), &mixes[i])));
	}
}

static void a_profile_without_points_counts_as_rated(void **state)
{
	Profile p = { .rated_w = 9, .idle_w = 3 };
	Prediction r;

	(void)state;
	predict(&p, &MIX_UNKNOWN, &SETTING_AS_FOUND, &r);
	assert_float_equal(r.watts, 9, 0);
	assert_float_equal(cap_watts(&p, &(Setting){ .power_state = -1, .depth = 1 }), 9, 0);
	assert_float_equal(profile_operating_w(&p), 9, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_point_is_predicted_exactly),
		cmocka_unit_test(shaping_a_deep_workload_is_the_shallow_workload),
		cmocka_unit_test(a_split_io_is_as_deep_as_its_parts_but_never_faster),
		cmocka_unit_test(a_cross_of_points_is_completed_by_ratios),
		cmocka_unit_test(between_two_depths_no_io_is_served_sooner_than_alone),
		cmocka_unit_test(outside_the_points_values_are_clamped_and_errors_wider),
		cmocka_unit_test(a_mix_is_the_time_weighted_mean_with_a_wider_error),
		cmocka_unit_test(a_power_state_caps_watts_and_hurts_random_writes_most),
		cmocka_unit_test(pacing_follows_the_energies_and_never_speeds_up),
		cmocka_unit_test(what_is_left_of_a_pace_is_neither_served_nor_drawn),
		cmocka_unit_test(a_sleeping_disk_gives_nothing_and_idle_conditions_save_at_rest),
		cmocka_unit_test(demand_moves_watts_between_rest_and_saturation),
		cmocka_unit_test(no_workload_is_expected_to_draw_more_than_its_settings_cap),
		cmocka_unit_test(a_wider_setting_never_has_a_lower_cap),
		cmocka_unit_test(as_found_the_cap_is_the_rated_power),
		cmocka_unit_test(the_operating_power_is_the_highest_that_is_predicted),
		cmocka_unit_test(a_senseless_mix_still_gives_finite_figures),
		cmocka_unit_test(a_profile_without_points_counts_as_rated),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
