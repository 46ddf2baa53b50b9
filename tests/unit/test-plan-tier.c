/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A disk and its cache: what the policy promises of their response times is promised of both
 * together. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/service.h"
#include "plan-nodes.h"

enum { CACHE, DISK };

static PolicyRule rule;
static Policy fair;

static int read_fair(void **state)
{
	if (read_files(state) < 0)
		return -1;
	fair = fair_policy();
	fair.rules = &rule;
	fair.n_rules = 1;
	return 0;
}

static const Mix read_mix = {
	.read_share = 1, .random_share = 1, .read_kib = 16, .write_kib = 16, .depth = 16
};

static void tiered(Node *n, PlanTier *tier, double misses)
{
	start(n, 0);
	n->in.policy = &fair;
	add(n, "samsung-pm9a3", INFINITY);
	add(n, "seagate-exos-7e2000", INFINITY);
	for (size_t i = 0; i < 2; i++)
		n->devices[i].mix = read_mix;
	*tier = (PlanTier){ .disk = DISK, .cache = CACHE, .misses = misses };
	n->in.tiers = tier;
	n->in.n_tiers = !isnan(misses);
}

static Plan *plan_for(Node *n, const char *match, double p99_us, int percent)
{
	rule = (PolicyRule){ .match = (char *)match, .weight = 1, .p99_us = (uint64_t)p99_us };
	n->in.budget_w = rated(n) * percent / 100;
	return checked(n);
}

static double slower_than(double us, const PlanDevice *d, const Setting *s)
{
	Prediction p;
	double mean_us;

	predict(d->profile, &d->mix, s, &p);
	mean_us = 1e6 * p.depth / p.iops;
	return service_slower(p.p99_us / mean_us, us / mean_us);
}

static double p99_as_found(const PlanDevice *d)
{
	Prediction p;

	predict(d->profile, &d->mix, &SETTING_AS_FOUND, &p);
	return p.p99_us;
}

static bool is_slow(const PlannedDevice *d)
{
	return d->reason == PLAN_SLOW || d->reason == PLAN_SLOW_MISSES ||
	       d->reason == PLAN_SLOW_HITS;
}

static void one_read_in_a_hundred_of_both_together_may_be_slower(void **state)
{
	static const double misses[] = { 0, 0.005, 0.0095, 0.02, 0.1, 0.5, 1 };
	size_t n_kept = 0, n_slow_disks = 0;

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(misses); k++)
		for (double part = 0.25; part < 4; part *= 1.25)
			for (int percent = 90; percent >= 50; percent -= 10) {
				_cleanup_(plan_freep) Plan *p = NULL;
				const PlannedDevice *d;
				PlanTier tier;
				double us;
				Node n;

				tiered(&n, &tier, misses[k]);
				us = floor(part * p99_as_found(&n.devices[DISK]));
				p = plan_for(&n, "sda", us, percent);
				d = p->devices;
				if (is_slow(&d[DISK]) || is_slow(&d[CACHE]))
					continue;
				n_kept++;
				n_slow_disks += d[DISK].p99_us > us;
				assert_true(misses[k] * slower_than(us, &n.devices[DISK],
								    &d[DISK].setting) +
						    (1 - misses[k]) *
							    slower_than(us, &n.devices[CACHE],
									&d[CACHE].setting) <=
					    0.01 + 1e-4);
			}
	assert_true(n_kept > 50 && n_slow_disks > 10);
}

/* Then no promise keeps it from saving watts. */
static void a_disk_that_hardly_ever_serves_a_read_may_be_as_slow_as_any(void **state)
{
	size_t n_freed = 0;

	(void)state;
	for (int percent = 90; percent >= 40; percent -= 5)
		for (double part = 0.4; part < 3; part *= 1.2) {
			_cleanup_(plan_freep) Plan *held = NULL, *cached = NULL, *without = NULL;
			PlanTier tier;
			double us;
			Node n;

			tiered(&n, &tier, 0.005);
			us = part * p99_as_found(&n.devices[DISK]);
			cached = plan_for(&n, "sda", us, percent);
			without = plan_for(&n, "nobody", us, percent);
			tiered(&n, &tier, NAN);
			held = plan_for(&n, "sda", us, percent);
			assert_true(setting_equal(&cached->devices[DISK].setting,
						  &without->devices[DISK].setting));
			n_freed += without->devices[DISK].p99_us > us &&
				   held->devices[DISK].p99_us <= us;
		}
	assert_true(n_freed > 0);
}

/* Where nothing is known of the cache, or it serves no read. */
static void a_disk_that_serves_all_reads_keeps_the_promise_by_itself(void **state)
{
	(void)state;
	for (double part = 0.5; part < 3; part *= 1.2) {
		_cleanup_(plan_freep) Plan *alone = NULL, *cached = NULL;
		PlanTier tier;
		double us;
		Node n;

		tiered(&n, &tier, NAN);
		us = part * p99_as_found(&n.devices[DISK]);
		alone = plan_for(&n, "sda", us, 70);
		tiered(&n, &tier, 1);
		cached = plan_for(&n, "sda", us, 70);
		for (size_t i = 0; i < 2; i++) {
			assert_true(setting_equal(&alone->devices[i].setting,
						  &cached->devices[i].setting));
			assert_int_equal(alone->devices[i].reason, cached->devices[i].reason);
		}
	}
}

static void where_no_setting_is_left_it_is_said_whose_reads_are_slow(void **state)
{
	static const struct {
		double misses, of_disk; /* the promise, over what the disk's p99 is */
		bool misses_slow, hits_slow;
	} cases[] = {
		{ 0.3, 0.1, true, false },
		{ 0.3, 0.001, true, true },
		{ 0.005, 0.001, false, true },
		{ 0.005, 0.1, false, false },
	};

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(cases); k++) {
		_cleanup_(plan_freep) Plan *p = NULL;
		PlanTier tier;
		Node n;

		tiered(&n, &tier, cases[k].misses);
		p = plan_for(&n, "sda", cases[k].of_disk * p99_as_found(&n.devices[DISK]), 80);
		assert_int_equal(p->devices[DISK].reason == PLAN_SLOW_MISSES, cases[k].misses_slow);
		assert_int_equal(p->devices[CACHE].reason == PLAN_SLOW_HITS, cases[k].hits_slow);
		assert_int_equal(is_slow(&p->devices[DISK]), cases[k].misses_slow);
		assert_int_equal(is_slow(&p->devices[CACHE]), cases[k].hits_slow);
	}
}

/* It keeps what is promised of each, and what it is promised for itself. */
static void a_cache_of_two_disks_keeps_the_promises_of_both(void **state)
{
	PolicyRule rules[2] = { { .match = "sda", .weight = 1, .p99_us = 100000 },
				{ .match = "sdb", .weight = 1 } };
	PlanTier tiers[2];
	Node n;

	(void)state;
	tiered(&n, tiers, 0.2);
	add(&n, "seagate-exos-7e2000", INFINITY)->mix = read_mix;
	n.devices[2].name = "sdb";
	tiers[1] = (PlanTier){ .disk = 2, .cache = CACHE, .misses = 0.001 };
	n.in.n_tiers = 2;
	fair.rules = rules;
	fair.n_rules = 2;
	for (double part = 4; part > 0.5; part *= 0.9) {
		_cleanup_(plan_freep) Plan *p = NULL;
		double us = floor(part * p99_as_found(&n.devices[CACHE]));
		const PlannedDevice *d;

		rules[1].p99_us = (uint64_t)us;
		n.in.budget_w = 0.6 * rated(&n);
		p = checked(&n);
		d = &p->devices[CACHE];
		if (d->reason != PLAN_SLOW_HITS)
			assert_true(slower_than(us, &n.devices[CACHE], &d->setting) <= 0.001 / 0.8);
		else
			assert_true(setting_equal(&d->setting, &SETTING_AS_FOUND));
		assert_true(part > 0.6 || d->reason == PLAN_SLOW_HITS);
	}
	fair.rules = &rule;
	fair.n_rules = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_read_in_a_hundred_of_both_together_may_be_slower),
		cmocka_unit_test(a_disk_that_hardly_ever_serves_a_read_may_be_as_slow_as_any),
		cmocka_unit_test(a_disk_that_serves_all_reads_keeps_the_promise_by_itself),
		cmocka_unit_test(where_no_setting_is_left_it_is_said_whose_reads_are_slow),
		cmocka_unit_test(a_cache_of_two_disks_keeps_the_promises_of_both),
	};

	return cmocka_run_group_tests(tests, read_fair, free_files);
}
