/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A disk behind a cache: how many of its reads reach it is counted, and planned with. */

#include <errno.h>

#include "test-control.h"

#include "control/cache-hits.h"
#include "control/decide.h"

#define TIER(cached)                                                                               \
	SIM_NODE("balanced")                                                                       \
	"[devices fast]\nprofile = samsung-pm9a3\nqueues = 4\ndemand = idle\n"                     \
	"[devices disk]\ncount = 2\nprofile = seagate-exos-7e2000\nread = 100%\nrandom = 100%\n"   \
	"read_size = 16K\ndepth = 16\ndemand = constant 1\ncache = fast\ncached_reads = " cached   \
	"\n[devices bare]\nprofile = seagate-constellation-es2\nread = 100%\nrandom = 100%\n"      \
	"read_size = 16K\ndepth = 16\ndemand = constant 1\n"

static void open_tier(Fixture *f, const char *node, double seconds)
{
	fixture_open_text(f, node);
	fixture_start(f);
	fixture_set(f, "95%");
	fixture_run(f, seconds);
}

/* What the planner would do with a promise for all disks. */
static PlanReason reason_with(const Fixture *f, double p99_us, const char *device)
{
	PolicyRule rule = { .match = (char *)"sd*", .weight = 1, .p99_us = (uint64_t)p99_us };
	Policy policy = *gather_policy(f->control);
	_cleanup_(facts_done) Facts facts = {};
	_cleanup_(plan_freep) Plan *plan = NULL;

	policy.rules = &rule;
	policy.n_rules = 1;
	assert_int_equal(gather_facts(f->control, &policy, &facts), 0);
	assert_int_equal(decide_plan(&facts, 0.9 * facts.spendable_w, 0, &plan), 0);
	for (size_t i = 0; i < facts.n_devices; i++)
		if (streq(facts.devices[i].name, device))
			return plan->devices[i].reason;
	fail_msg("there is no device %s", device);
	return PLAN_HELD;
}

static void the_share_of_reads_that_reach_a_disk_is_counted(void **state)
{
	static const struct {
		const char *node;
		double missed;
	} cases[] = { { TIER("97%"), 0.03 }, { TIER("50%"), 0.5 }, { TIER("100%"), 0 } };

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(cases); k++) {
		Fixture f;

		open_tier(&f, cases[k].node, 300);
		assert_float_equal(cache_hits_missed(managed(&f, "sda")), cases[k].missed, 0.01);
		assert_float_equal(cache_hits_missed(managed(&f, "sdb")), cases[k].missed, 0.01);
		assert_true(isnan(cache_hits_missed(managed(&f, "sdc"))));
		assert_true(isnan(cache_hits_missed(managed(&f, "nvme0"))));
		fixture_close(&f);
	}
}

static void each_disk_is_planned_with_its_cache_once_enough_reads_were_seen(void **state)
{
	Fixture f;
	Facts facts;

	(void)state;
	open_tier(&f, TIER("97%"), 10);
	assert_int_equal(gather_facts(f.control, gather_policy(f.control), &facts), 0);
	assert_int_equal(facts.n_tiers, 0);
	facts_done(&facts);
	fixture_run(&f, 300);
	assert_int_equal(gather_facts(f.control, gather_policy(f.control), &facts), 0);
	assert_int_equal(facts.n_tiers, 2);
	for (size_t i = 0; i < facts.n_tiers; i++) {
		const PlanTier *t = &facts.tiers[i];

		assert_string_equal(facts.devices[t->cache].name, "nvme0");
		assert_string_equal(facts.devices[t->disk].name, i ? "sdb" : "sda");
		assert_float_equal(t->misses, 0.03, 0.01);
	}
	facts_done(&facts);
	fixture_close(&f);
}

/* In 2 ms no disk answers. */
static void
a_promise_that_a_disk_cannot_keep_is_kept_by_a_cache_that_serves_nearly_all(void **state)
{
	static const struct {
		const char *node;
		PlanReason reason; /* PLAN_SHARE: nothing is said to be slow */
	} cases[] = {
		{ TIER("99.7%"), PLAN_SHARE },
		{ TIER("90%"), PLAN_SLOW_MISSES },
	};

	(void)state;
	for (size_t k = 0; k < ELEMENTSOF(cases); k++) {
		PlanReason reason;
		Fixture f;

		open_tier(&f, cases[k].node, 10);
		assert_int_equal(reason_with(&f, 2000, "sda"), PLAN_SLOW);
		fixture_run(&f, 300);
		reason = reason_with(&f, 2000, "sda");
		if (cases[k].reason == PLAN_SHARE)
			assert_true(reason != PLAN_SLOW && reason != PLAN_SLOW_MISSES);
		else
			assert_int_equal(reason, cases[k].reason);
		fixture_close(&f);
	}
}

/* Without anything else that asks for a plan. */
static void the_plan_in_force_follows_what_is_counted(void **state)
{
	PolicyRule rule = { .match = (char *)"sd*", .weight = 1, .p99_us = 2000 };
	const Managed *md;
	Policy *policy;
	Fixture f;

	(void)state;
	fixture_open_text(&f, TIER("90%"));
	fixture_start(&f);
	policy = (Policy *)gather_policy(f.control);
	policy->rules = &rule;
	policy->n_rules = 1;
	fixture_set(&f, "80%");
	md = managed(&f, "sda");
	fixture_run(&f, 10);
	assert_int_equal(md->planned.device.reason, PLAN_SLOW);
	fixture_run(&f, 300);
	assert_int_equal(md->planned.device.reason, PLAN_SLOW_MISSES);
	policy->rules = NULL;
	policy->n_rules = 0;
	fixture_close(&f);
}

static int cannot_count(Device *d, const char *behind, CacheReads *ret)
{
	(void)d;
	(void)behind;
	(void)ret;
	return -ENODATA;
}

static void what_cannot_be_counted_any_more_is_unknown_again(void **state)
{
	const DeviceOps *own;
	DeviceOps ops;
	Managed *md;
	Fixture f;

	(void)state;
	open_tier(&f, TIER("97%"), 300);
	md = managed(&f, "sda");
	assert_false(isnan(cache_hits_missed(md)));
	own = replace_ops(md, &ops);
	ops.cache_reads = cannot_count;
	fixture_run(&f, 30);
	assert_true(isnan(cache_hits_missed(md)));
	md->device->ops = own;
	fixture_run(&f, 300);
	assert_float_equal(cache_hits_missed(md), 0.03, 0.01);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_share_of_reads_that_reach_a_disk_is_counted),
		cmocka_unit_test(each_disk_is_planned_with_its_cache_once_enough_reads_were_seen),
		cmocka_unit_test(
			a_promise_that_a_disk_cannot_keep_is_kept_by_a_cache_that_serves_nearly_all),
		cmocka_unit_test(the_plan_in_force_follows_what_is_counted),
		cmocka_unit_test(what_cannot_be_counted_any_more_is_unknown_again),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
