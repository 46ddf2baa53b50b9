/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "model-store.h"
#include "model/frontier.h"

/* All that a drive could offer. */
static Offer full_offer(const Profile *p)
{
	Offer o = {
		.mechanisms = MECHANISM_ALL & ~MECHANISM_POWER_LIMIT,
		.depth_one = true,
		.depth_min = 2,
		.depth_max = p->kind == KIND_NVME ? 1023 : 32,
		.chunk_min_kib = 4,
		.chunk_max_kib = 1280,
		.pace_min_w = 0.1,
	};

	for (unsigned i = 0; i < p->n_states; i++)
		if (p->states[i].present && p->states[i].operational)
			o.power_states |= 1u << i;
	for (unsigned c = 1; c < _CONDITION_MAX; c++)
		if (p->conditions[c].present)
			o.conditions |= 1u << c;
	return o;
}

static const Mix case_study = { .read_share = 0, .random_share = 1, .write_kib = 256, .depth = 64 };

static const Candidate *best_within(const Candidate *c, size_t n, double budget_w)
{
	const Candidate *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (c[i].cap_w <= budget_w && (!best || c[i].mb_s > best->mb_s))
			best = &c[i];
	assert_non_null(best);
	return best;
}

static void print_frontier(const Candidate *c, size_t n)
{
	char text[128];

	for (size_t i = 0; i < n; i++)
		print_message(
			"  cap %5.2f to %5.2f W, expect %5.2f W, %4.0f to %4.0f MB/s, p99 %6.0f us: %s\n",
			c[i].cap_w, c[i].cap_hi_w, c[i].expect_w, c[i].mb_s, c[i].mb_s_hi,
			c[i].p99_us, setting_text(text, sizeof(text), &c[i].setting));
}

/* Xie et al., HotStorage 2024: shed 20 % of a PM9A3's power under random writes of 256 KiB,
 * depth 64. */
static void the_case_study_leads_to_depth_1_and_chunk_256_at_40_percent_less(void **state)
{
	const Profile *p = profile_store_get(store, "samsung-pm9a3");
	const unsigned shaping = MECHANISM_DEPTH | MECHANISM_CHUNK;

	(void)state;
	for (unsigned chunk_max = 512; chunk_max <= 1280; chunk_max += 768) {
		Candidate c[FRONTIER_MAX];
		const Candidate *best;
		Offer o = full_offer(p);
		Prediction free;
		size_t n;

		o.mechanisms = shaping;
		o.chunk_max_kib = chunk_max;
		frontier_build(p, &case_study, &o, 0, CONDITION_ACTIVE, c, &n);
		predict(p, &case_study, &SETTING_AS_FOUND, &free);
		best = best_within(c, n, 0.8 * p->rated_w);
		print_message("PM9A3, shaping alone, chunks up to %u KiB:\n", chunk_max);
		print_frontier(c, n);
		assert_int_equal(best->setting.depth, 1);
		assert_int_equal(best->setting.chunk_kib, 256);
		assert_int_equal(setting_mechanisms(&best->setting), shaping);
		assert_float_equal(best->mb_s / free.mb_s, 0.60, 0.005);
		assert_true(cap_watts(p, &(Setting){ -1, .depth = 2, .chunk_kib = 256 }) >
			    0.8 * p->rated_w);
	}
}

static double most_mb_s(const Profile *p, const Mix *mix, const Candidate *c, size_t n,
			double budget_w)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		Candidate at;

		if (c[i].cap_w > budget_w)
			continue;
		candidate_at(p, mix, &c[i], budget_w, &at);
		most = MAX(most, at.mb_s);
	}
	return most;
}

static void with_everything_allowed_the_case_study_does_at_least_as_well(void **state)
{
	const Profile *p = profile_store_get(store, "samsung-pm9a3");
	Candidate c[FRONTIER_MAX];
	Offer o = full_offer(p);
	size_t n, m;
	double shaped, all;

	(void)state;
	frontier_build(p, &case_study, &o, ~(unsigned)(MECHANISM_DEPTH | MECHANISM_CHUNK),
		       CONDITION_ACTIVE, c, &n);
	shaped = most_mb_s(p, &case_study, c, n, 0.8 * p->rated_w);
	frontier_build(p, &case_study, &o, 0, CONDITION_ACTIVE, c, &m);
	all = most_mb_s(p, &case_study, c, m, 0.8 * p->rated_w);
	print_message("PM9A3, random writes of 256 KiB, depth 64, everything allowed:\n");
	print_frontier(c, m);
	print_message("at 80 %%: shaping %.0f MB/s, everything %.0f MB/s\n", shaped, all);
	assert_true(all >= shaped);
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

static Mix random_mix(uint64_t *seed)
{
	Mix mix = { between(seed, 0, 1), between(seed, 0, 1), exp2(between(seed, 0, 11)),
		    exp2(between(seed, 0, 11)), exp2(between(seed, 0, 9)) };

	if (next_random(seed) % 3 == 0)
		mix.read_share = (double)(next_random(seed) % 2);
	if (next_random(seed) % 3 == 0)
		mix.random_share = (double)(next_random(seed) % 2);
	return mix;
}

static Offer random_offer(uint64_t *seed, const Profile *p)
{
	Offer o = full_offer(p);

	o.mechanisms = (unsigned)next_random(seed) & MECHANISM_ALL;
	o.power_states &= (uint32_t)next_random(seed);
	o.conditions &= (unsigned)next_random(seed);
	o.depth_one = next_random(seed) % 2;
	o.depth_min = (unsigned)(next_random(seed) % 5);
	o.depth_max = 1 + (unsigned)(next_random(seed) % 1024);
	o.chunk_min_kib = (unsigned)(next_random(seed) % 128);
	o.chunk_max_kib = (unsigned)(next_random(seed) % 2048);
	o.pace_min_w = between(seed, 0, 3);
	o.limit_min_w = between(seed, p->idle_w, p->rated_w);
	o.limit_max_w = between(seed, o.limit_min_w, p->rated_w);
	return o;
}

static bool within_offer(const Setting *s, const Offer *o, unsigned allowed, Condition deepest)
{
	if (setting_mechanisms(s) & ~allowed)
		return false;
	if (s->power_state >= 0 && !(o->power_states & 1u << s->power_state))
		return false;
	if (s->condition && (!(o->conditions & 1u << s->condition) || s->condition > deepest))
		return false;
	if (s->depth == 1 && !o->depth_one)
		return false;
	if (s->depth > 1 && (!o->depth_min || s->depth < o->depth_min || s->depth >= o->depth_max))
		return false; /* the depth as found is somebody else's to change: no cap */
	if (s->chunk_kib && !s->depth)
		return false; /* all parts of every split IO would be outstanding at once */
	if (s->chunk_kib && (s->chunk_kib < o->chunk_min_kib || s->chunk_kib > o->chunk_max_kib))
		return false;
	return !(s->pace_w > 0 && s->pace_w < o->pace_min_w - 1e-9);
}

static void check_segment(const Profile *p, const Mix *mix, const Candidate *c)
{
	assert_true(c->cap_hi_w > c->cap_w && c->mb_s_hi > c->mb_s);
	for (int i = 0; i <= 8; i++) {
		double watts = c->cap_w + i * (c->cap_hi_w - c->cap_w) / 8;
		double line = c->mb_s + i * (c->mb_s_hi - c->mb_s) / 8;
		Candidate at;

		candidate_at(p, mix, c, watts, &at);
		assert_false(at.paced);
		assert_float_equal(at.cap_w, watts, 1e-9);
		assert_true(at.cap_w >= cap_watts(p, &at.setting) - 1e-9);
		assert_float_equal(at.mb_s, line, 1e-6 * line + 1e-9);
		assert_true(at.expect_w <= at.cap_w + 1e-9);
	}
}

/* In order, each better than the one before, and every one what predict and cap_watts say. */
static void check_frontier(const Profile *p, const Mix *mix, const Candidate *c, size_t n)
{
	Candidate at;

	for (size_t i = 0; i < n; i++) {
		Prediction r;

		assert_true(isfinite(c[i].cap_w) && c[i].cap_w <= p->rated_w &&
			    c[i].cap_hi_w <= p->rated_w);
		assert_float_equal(c[i].cap_w, cap_watts(p, &c[i].setting), 1e-9);
		predict(p, mix, &c[i].setting, &r);
		assert_float_equal(c[i].mb_s, r.mb_s, 1e-6 * r.mb_s + 1e-12);
		assert_float_equal(c[i].expect_w, r.watts, 1e-9);
		if (c[i].paced)
			check_segment(p, mix, &c[i]);
		else
			assert_true(c[i].cap_hi_w == c[i].cap_w && c[i].mb_s_hi == c[i].mb_s);
		/* the last is as found, whatever else is as good */
		if (i > 0 && i < n - 1)
			assert_true(c[i].cap_w >= c[i - 1].cap_hi_w - 1e-6 &&
				    c[i].mb_s >= c[i - 1].mb_s_hi * (1 - 1e-6));
	}
	assert_true(setting_equal(&c[n - 1].setting, &SETTING_AS_FOUND));
	assert_float_equal(c[n - 1].cap_w, p->rated_w, 0);
	candidate_at(p, mix, &c[n - 1], 1, &at);
	assert_memory_equal(&at, &c[n - 1], sizeof(at));
}

/* No setting of the grid beats the frontier at its watts. */
static void check_complete(const Profile *p, const Mix *mix, const Offer *o, unsigned allowed,
			   const Candidate *c, size_t n)
{
	for (unsigned d = 1; d <= 1024; d *= 2)
		for (unsigned k = 1; k <= 2048; k *= 2) {
			Setting s = { -1, .depth = d, .chunk_kib = k };
			Prediction r;
			double cap = cap_watts(p, &s);

			if (!within_offer(&s, o, allowed, CONDITION_ACTIVE) || cap >= p->rated_w)
				continue;
			predict(p, mix, &s, &r);
			assert_true(c[0].cap_w <= cap + 1e-9);
			if (!(most_mb_s(p, mix, c, n, cap + 1e-9) >= r.mb_s * (1 - 1e-6)))
				fail_msg(
					"%s: depth %u, chunk %u gives %.3f MB/s at %.6f W, the frontier %.3f",
					p->name, d, k, r.mb_s, cap,
					most_mb_s(p, mix, c, n, cap + 1e-9));
		}
}

static void every_frontier_is_sorted_pareto_within_the_offer_and_complete(void **state)
{
	uint64_t seed = 7;
	size_t most = 0;

	(void)state;
	for (size_t i = 0; i < store->n; i++)
		for (int j = 0; j < 50; j++) {
			const Profile *p = store->profiles[i];
			Mix mix = random_mix(&seed);
			Offer o = j % 2 ? random_offer(&seed, p) : full_offer(p);
			unsigned forbidden =
				j % 5 ? 0 : (unsigned)next_random(&seed) & MECHANISM_ALL;
			Condition deepest = (Condition)(next_random(&seed) % _CONDITION_MAX);
			Candidate c[FRONTIER_MAX];
			size_t n = 0;

			frontier_build(p, &mix, &o, forbidden, deepest, c, &n);
			assert_true(n >= 1 && n <= FRONTIER_MAX);
			most = MAX(most, n);
			check_frontier(p, &mix, c, n);
			for (size_t k = 0; k < n; k++)
				assert_true(within_offer(&c[k].setting, &o,
							 o.mechanisms & ~forbidden, deepest));
			check_complete(p, &mix, &o, o.mechanisms & ~forbidden, c, n);
		}
	print_message("largest frontier: %zu\n", most);
}

static void a_disk_may_sleep_as_deep_as_allowed_and_no_deeper(void **state)
{
	const Profile *p = profile_store_get(store, "seagate-constellation-es2");
	Offer o = full_offer(p);
	Candidate c[FRONTIER_MAX];
	size_t n;

	(void)state;
	frontier_build(p, &MIX_UNKNOWN, &o, 0, CONDITION_STANDBY_Z, c, &n);
	assert_int_equal(c[0].setting.condition, CONDITION_STANDBY_Z);
	assert_float_equal(c[0].mb_s, 0, 0);
	frontier_build(p, &MIX_UNKNOWN, &o, 0, CONDITION_IDLE_C, c, &n);
	assert_int_equal(c[0].setting.condition, CONDITION_IDLE_C);
	frontier_build(p, &MIX_UNKNOWN, &o, 0, CONDITION_ACTIVE, c, &n);
	assert_int_equal(c[0].setting.condition, CONDITION_ACTIVE);
	assert_true(c[0].cap_w >= p->idle_w);
}

static void a_device_that_offers_nothing_is_left_as_found(void **state)
{
	Candidate c[FRONTIER_MAX];
	size_t n;

	(void)state;
	frontier_build(store->profiles[0], &MIX_UNKNOWN, &(Offer){}, 0, CONDITION_STANDBY_Z, c, &n);
	assert_int_equal(n, 1);
	assert_true(setting_equal(&c[0].setting, &SETTING_AS_FOUND));
}

static void a_power_limit_fills_the_frontier_in_steps(void **state)
{
	const Profile *p = profile_store_get(store, "samsung-pm9a3");
	Offer o = { .mechanisms = MECHANISM_POWER_LIMIT, .limit_min_w = 7, .limit_max_w = 14 };
	Candidate c[FRONTIER_MAX];
	size_t n;

	(void)state;
	frontier_build(p, &case_study, &o, 0, CONDITION_ACTIVE, c, &n);
	assert_true(n >= 7);
	assert_float_equal(c[0].cap_w, 7, 1e-9);
	assert_float_equal(c[0].setting.limit_w, 7, 1e-9);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Prints; fails only where ten devices would take a second, so that valgrind may watch. */
static void a_frontier_is_cheap_enough_for_a_thousand_devices(void **state)
{
	const int rounds = 100;
	double start, us;
	Candidate c[FRONTIER_MAX];
	size_t n;

	(void)state;
	for (size_t i = 0; i < store->n; i++) {
		Offer o = full_offer(store->profiles[i]);

		start = seconds_now();
		for (int j = 0; j < rounds; j++)
			frontier_build(store->profiles[i], &MIX_UNKNOWN, &o, 0, CONDITION_STANDBY_Z,
				       c, &n);
		us = (seconds_now() - start) / rounds * 1e6;
		print_message("%-28s %2zu candidates, %.1f us\n", store->profiles[i]->name, n, us);
		assert_true(us < 100000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_case_study_leads_to_depth_1_and_chunk_256_at_40_percent_less),
		cmocka_unit_test(with_everything_allowed_the_case_study_does_at_least_as_well),
		cmocka_unit_test(every_frontier_is_sorted_pareto_within_the_offer_and_complete),
		cmocka_unit_test(a_disk_may_sleep_as_deep_as_allowed_and_no_deeper),
		cmocka_unit_test(a_device_that_offers_nothing_is_left_as_found),
		cmocka_unit_test(a_power_limit_fills_the_frontier_in_steps),
		cmocka_unit_test(a_frontier_is_cheap_enough_for_a_thousand_devices),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
