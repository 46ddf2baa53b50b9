/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* decide() and admit() with nothing but the pure rooms behind them, under random events. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "cases.h"

#define PURE_CHECK(x) assert_true(x)
#include "../fuzz/pure-node.h"

/* xorshift64*: the same events on every machine */
static uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545F4914F6CDD1DULL;
}

static void whatever_happens_caps_are_within_the_limit_or_falling(void **state)
{
	unsigned long n = cases_of(CASES_BY_DEFAULT / 100);
	uint64_t seed = 42;
	uint8_t bytes[200];

	(void)state;
	log_set_max_level(-1);
	for (unsigned long i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = draw(&seed) >> 32;
		pure_node_run(bytes, sizeof(bytes));
	}
	print_message("# %lu nodes of %zu events\n", n, sizeof(bytes) / 2);
}

static DeviceInForce two_knobs(Profile *p, KnobInForce knobs[2])
{
	knobs[0] = (KnobInForce){ .mechanism = MECHANISM_POWER_STATE, .pending = true };
	knobs[1] = (KnobInForce){ .mechanism = MECHANISM_DEPTH, .pending = true };
	return (DeviceInForce){ .profile = p,
				.actual = SETTING_AS_FOUND,
				.target = { .power_state = 2, .depth = 4 },
				.cap_w = p->rated_w,
				.bias = 1,
				.group = PLAN_NO_GROUP,
				.knobs = knobs };
}

static void a_busy_device_is_left_alone_and_others_take_one_step_each(void **state)
{
	KnobInForce knobs[2][2];
	Profile *p = pure_profile(false);
	DeviceInForce devices[2] = { two_knobs(p, knobs[0]), two_knobs(p, knobs[1]) };
	InForce f = { .devices = devices, .n_devices = 2, .n_knobs = 2, .limit_w = 10 };
	Admitted admitted[2];

	(void)state;
	devices[0].busy = true;
	assert_int_equal(admit(&f, admitted), 1);
	assert_int_equal(admitted[0].device, 1);
	assert_int_equal(admitted[0].knob, 0);
	assert_false(admitted[0].raises);
	profile_free(p);
}

static void raises_wait_for_room_and_for_the_dwell(void **state)
{
	KnobInForce knobs[2];
	Profile *p = pure_profile(false);
	DeviceInForce d = two_knobs(p, knobs);
	InForce f = { .devices = &d, .n_devices = 1, .n_knobs = 1, .now_us = 10 };
	Admitted a;

	(void)state;
	d.actual = (Setting){ .power_state = 2 };
	d.target = SETTING_AS_FOUND;
	d.cap_w = admit_cap_w(&d, &d.actual);
	f.limit_w = d.cap_w + 1;
	assert_int_equal(admit(&f, &a), 0);
	f.limit_w = p->rated_w;
	d.may_rise_us = 11;
	assert_int_equal(admit(&f, &a), 0);
	f.now_us = 11;
	assert_int_equal(admit(&f, &a), 1);
	assert_true(a.raises);
	profile_free(p);
}

/* Of one kind only both knobs would be moved at once. */
static void an_exchange_is_made_whole_or_waits_whole(void **state)
{
	static const Setting few_large = { .power_state = -1, .depth = 1, .chunk_kib = 256 };
	static const Setting many_small = { .power_state = -1, .depth = 64, .chunk_kib = 4 };
	KnobInForce knobs[2] = { { .mechanism = MECHANISM_DEPTH, .pending = true },
				 { .mechanism = MECHANISM_CHUNK, .pending = true } };
	Profile *p = pure_profile(false);
	DeviceInForce d = { .profile = p, .group = PLAN_NO_GROUP, .knobs = knobs };
	InForce f = { .devices = &d, .n_devices = 1, .n_knobs = 2, .now_us = 10, .limit_w = 1e3 };
	Admitted a;

	(void)state;
	d.actual = few_large;
	d.target = many_small;
	d.cap_w = admit_cap_w(&d, &d.actual);
	d.may_rise_us = 11;
	assert_true(admit_cap_w(&d, &d.target) > d.cap_w);
	assert_int_equal(admit(&f, &a), 0);
	f.now_us = 11;
	assert_int_equal(admit(&f, &a), 1);
	assert_int_equal(a.knob, 1);
	assert_false(a.raises);

	d.actual = (Setting){ .power_state = -1, .depth = 1, .chunk_kib = 4 };
	d.cap_w = admit_cap_w(&d, &d.actual);
	knobs[1].pending = false;
	d.may_rise_us = 12;
	assert_int_equal(admit(&f, &a), 0);
	d.exchanges = true;
	assert_int_equal(admit(&f, &a), 1);
	assert_int_equal(a.knob, 0);
	assert_true(a.raises);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_caps_are_within_the_limit_or_falling),
		cmocka_unit_test(a_busy_device_is_left_alone_and_others_take_one_step_each),
		cmocka_unit_test(raises_wait_for_room_and_for_the_dwell),
		cmocka_unit_test(an_exchange_is_made_whole_or_waits_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
