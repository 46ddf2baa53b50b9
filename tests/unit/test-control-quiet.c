/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Idle means asleep: where nothing is to be enforced and nobody asks, nothing is woken for. */

#include "test-control.h"

static void open_quiet(Fixture *f)
{
	fixture_open_text(f, SIM_NODE("balanced") SIM_FLASH "demand = saturate\n");
	fixture_start(f);
	fixture_run(f, 15);
}

static void assert_nothing_is_awaited(const Fixture *f)
{
	assert_false(virtual_loop_step(f->loop));
}

static bool has_looked(const Fixture *f)
{
	return now_us(f) - f->control->attention.looked_us <= 2 * LOOK_US;
}

static void without_a_claim_nobody_looks(void **state)
{
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_quiet(&f);
	assert_nothing_is_awaited(&f);
	cookie = fixture_set(&f, "60%");
	fixture_run(&f, 60);
	assert_true(has_looked(&f));
	fixture_release(&f, cookie);
	fixture_run(&f, 60);
	assert_nothing_is_awaited(&f);
	fixture_close(&f);
}

static void whoever_asks_is_looked_for_and_ten_seconds_longer(void **state)
{
	Fixture f;

	(void)state;
	open_quiet(&f);
	(void)state_of(&f);
	fixture_run(&f, 9);
	assert_true(has_looked(&f));
	fixture_run(&f, 2);
	assert_nothing_is_awaited(&f);
	fixture_close(&f);
}

/* What happens otherwise is dealt with, and that is all. */
static void what_happens_while_nobody_looks_makes_nobody_look(void **state)
{
	uint64_t looked_us;
	Fixture f;

	(void)state;
	open_quiet(&f);
	looked_us = f.control->attention.looked_us;
	f.node->handler(f.control->fleet.devices[0]->device, DEVICE_CHANGED, f.node->userdata);
	control_devices_ready(f.control);
	fixture_run(&f, 5);
	assert_int_equal(count_decisions(&f, NULL, "asked anew"), 1);
	assert_int_equal(f.control->attention.looked_us, looked_us);
	assert_nothing_is_awaited(&f);
	fixture_close(&f);
}

static bool is_offered(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->offered) return true;
	return false;
}

static void a_device_that_could_not_be_asked_is_asked_again(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	open_quiet(&f);
	md = f.control->fleet.devices[0];
	md->device->protected_why = strdup("holds swap space");
	f.node->handler(md->device, DEVICE_CHANGED, f.node->userdata);
	virtual_loop_refuse(f.loop, 1);
	control_devices_ready(f.control);
	assert_true(md->errands.refused && is_offered(md));
	fixture_run(&f, 5);
	assert_false(is_offered(md));
	fixture_run(&f, 5);
	assert_nothing_is_awaited(&f);
	fixture_close(&f);
}

/* While it is being given back, which waits for that. */
static void a_reset_device_that_could_not_be_read_is_read_again(void **state)
{
	const Setting low = { .power_state = 1 };
	Managed *md;
	Fixture f;

	(void)state;
	open_quiet(&f);
	md = f.control->fleet.devices[0];
	aim_at(&f, md, &low);
	fixture_run(&f, 1);
	assert_nothing_is_awaited(&f);
	assert_int_equal(sim_node_inject(f.node, md->device->name, SIM_RESET), 0);
	virtual_loop_refuse(f.loop, 1);
	control_devices_ready(f.control);
	assert_true(md->errands.refused && md->errands.next & ERRAND_RESET);
	fixture_run(&f, 5);
	assert_int_equal(md->errands.next, 0);
	assert_false(knob_set_touched(md));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_claim_nobody_looks),
		cmocka_unit_test(whoever_asks_is_looked_for_and_ten_seconds_longer),
		cmocka_unit_test(what_happens_while_nobody_looks_makes_nobody_look),
		cmocka_unit_test(a_device_that_could_not_be_asked_is_asked_again),
		cmocka_unit_test(a_reset_device_that_could_not_be_read_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
