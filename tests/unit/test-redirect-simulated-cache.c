/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bcache knob on a simulated disk: what it holds and drains there, and that it puts back. */

#include "test-sim.h"

#include "redirect/knob-registry.h"

#define NODE                                                                                       \
	NODE_HEAD "[devices landing]\nprofile = samsung-pm9a3\ndemand = idle\n"                    \
		  "[devices ingest]\nprofile = seagate-constellation-es2\nread = 0%\n"             \
		  "random = 10%\nwrite_size = 256K\ndepth = 8\ncache = landing\n"                  \
		  "cache_size = 100G\ndemand = constant 20\n"

static void turn(const Knob *k, Device *d, Redirect redirect, const KnobValue *original)
{
	Setting s = SETTING_AS_FOUND;
	KnobValue v;

	s.redirect = redirect;
	assert_int_equal(knob_want(k, d, &s, &MIX_UNKNOWN, original, &v), 0);
	assert_int_equal(knob_apply(k, d, &v, NULL), 0);
}

static void the_bcache_knob_holds_drains_and_restores_a_simulated_disk(void **state)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	const Knob *k = knob_find("redirect-bcache");
	char *why = NULL;
	KnobValue original;
	CacheState empty, full, drained;
	Offer offer = {};
	Condition c;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE);
	d = rig_device(&r, "sda");
	assert_int_equal(sim_node_dump(r.node, &before), 0);
	assert_int_equal(k->probe(d, &offer, &why), 0);
	assert_true(offer.redirects_writes);
	assert_int_equal(k->read(d, &original), 0);
	assert_int_equal(k->cache(d, &empty), 0);
	assert_int_equal(empty.size_bytes, 100ULL << 30);
	assert_true(empty.room_bytes > 38ULL << 30);

	turn(k, d, REDIRECT_HOLD, &original);
	rig_pass(&r, 5);
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
	rig_pass(&r, 1000);
	assert_int_equal(d->ops->condition_get(d, &c), 0);
	assert_int_equal(c, CONDITION_STANDBY_Z);
	assert_int_equal(k->cache(d, &full), 0);
	assert_true(full.dirty_bytes > 1000 * 20e6 && full.dirty_bytes < 1010 * 20e6 * 1.01);
	assert_true(full.room_bytes < empty.room_bytes - (uint64_t)(1000 * 20e6 * 0.99));

	turn(k, d, REDIRECT_DRAIN, &original);
	rig_pass(&r, 300);
	assert_int_equal(k->cache(d, &drained), 0);
	assert_true(drained.dirty_bytes < 2e6);

	turn(k, d, REDIRECT_AS_FOUND, &original);
	assert_int_equal(sim_node_dump(r.node, &after), 0);
	assert_string_equal(before, after);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bcache_knob_holds_drains_and_restores_a_simulated_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
