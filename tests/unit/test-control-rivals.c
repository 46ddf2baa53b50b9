/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Somebody else sets what is set here: that is noticed soon, said, and answered as configured. */

#include "test-control.h"

#define NVME "nvme0"

static void open_held_by(Fixture *f, unsigned mechanisms)
{
	fixture_open_text(f, SIM_NODE("balanced") SIM_FLASH "demand = saturate\n");
	fixture_start(f);
	fixture_run(f, 5);
	managed(f, NVME)->knobs.offer.mechanisms &= mechanisms;
	fixture_set(f, "60%");
	fixture_run(f, 10);
	assert_true(managed(f, NVME)->knobs.actual.pace_w > 0);
}

static void open_held(Fixture *f)
{
	open_held_by(f, ~0U);
}

/* As systemd's udev rule does. */
static void take(Fixture *f)
{
	const HeldKnob *hk = managed_knob(f, NVME, "io-cost");
	KnobValue now;

	assert_int_equal(hk->knob->write(managed(f, NVME)->device, &hk->original), 0);
	now = value_of(f, NVME, "io-cost");
	assert_string_equal(now.text, hk->original.text);
}

static bool is_held(Fixture *f)
{
	const HeldKnob *hk = managed_knob(f, NVME, "io-cost");
	KnobValue now = value_of(f, NVME, "io-cost");

	return knob_fulfils(hk->knob, managed(f, NVME)->device, &hk->wanted, &now) &&
	       strcmp(now.text, hk->original.text) != 0;
}

static void what_somebody_else_sets_is_set_again_within_two_seconds(void **state)
{
	Fixture f;

	(void)state;
	open_held(&f);
	take(&f);
	assert_false(is_held(&f));
	fixture_run(&f, 2.1);
	assert_true(is_held(&f));
	assert_within_budget(&f);
	assert_int_equal(count_decisions(&f, NVME, "io-cost is set again"), 1);
	fixture_close(&f);
}

static void to_a_rival_that_goes_on_the_knob_is_left(void **state)
{
	ControlState s;
	Fixture f;

	(void)state;
	open_held(&f);
	for (unsigned i = 0; i < 3; i++) {
		take(&f);
		fixture_run(&f, 3);
	}
	assert_false(is_held(&f));
	assert_int_equal(count_decisions(&f, NVME, "io-cost is left to them"), 1);
	assert_problem(&f, NVME, "somebody else has set it 3 times");
	s = state_of(&f);
	assert_true(s.degraded);
	/* the budget is held by what else there is */
	fixture_run(&f, 5);
	assert_within_budget(&f);
	assert_true(managed(&f, NVME)->knobs.actual.pace_w == 0);
	fixture_close(&f);
}

static void once_the_limits_are_lifted_it_may_be_set_again(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_held(&f);
	for (unsigned i = 0; i < 3; i++) {
		take(&f);
		fixture_run(&f, 3);
	}
	cookie = claims_get(control_claims(f.control), 0)->cookie;
	fixture_release(&f, cookie);
	fixture_run(&f, 5);
	assert_problem(&f, NVME, "");
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_set(&f, "60%");
	fixture_run(&f, 5);
	assert_true(is_held(&f));
	fixture_close(&f);
}

/* Nothing else was set, so that nothing is given back that would be a reason to look again. */
static void the_problem_ends_with_the_limits(void **state)
{
	Fixture f;

	(void)state;
	open_held_by(&f, MECHANISM_PACING);
	for (unsigned i = 0; i < 3; i++) {
		take(&f);
		fixture_run(&f, 3);
	}
	assert_problem(&f, NVME, "somebody else has set it 3 times");
	fixture_release(&f, claims_get(control_claims(f.control), 0)->cookie);
	fixture_run(&f, 1);
	assert_problem(&f, NVME, "");
	fixture_close(&f);
}

static void whoever_insists_sets_it_for_ever(void **state)
{
	Fixture f;

	(void)state;
	open_held(&f);
	f.control->config.insists = true;
	for (unsigned i = 0; i < 10; i++) {
		take(&f);
		fixture_run(&f, 3);
		assert_true(is_held(&f));
	}
	assert_int_equal(count_decisions(&f, NVME, "io-cost is left to them"), 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_somebody_else_sets_is_set_again_within_two_seconds),
		cmocka_unit_test(to_a_rival_that_goes_on_the_knob_is_left),
		cmocka_unit_test(once_the_limits_are_lifted_it_may_be_set_again),
		cmocka_unit_test(the_problem_ends_with_the_limits),
		cmocka_unit_test(whoever_insists_sets_it_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
