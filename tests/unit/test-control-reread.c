/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a device's knobs say when they are read again: what is lost is set anew, and nothing else
 * happens. */

#include "test-control.h"

static const char busy_flash[] = SIM_NODE("balanced") SIM_FLASH "demand = saturate\n";

static const Setting depth_32 = { .power_state = -1, .depth = 32 };
static const Setting depth_one = { .power_state = -1, .depth = 1 };

static void aim(Fixture *f, const Setting *s)
{
	aim_at(f, f->control->fleet.devices[0], s);
}

static void a_reading_that_finds_nothing_lost_changes_nothing(void **state)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	const Setting set = { .power_state = 1, .depth = 32, .chunk_kib = 64 };
	FaultyDevice nvme;
	Managed *md;
	size_t decisions;
	Setting actual;
	double cap_w;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	aim(&f, &set);
	fixture_run(&f, 5);
	before = fixture_dump(&f);
	decisions = f.control->diary.decisions.n_ever;
	nvme.n_writes = 0;
	cap_w = md->caps.now_w;
	actual = md->knobs.actual;
	reread(&f, md);
	assert_true(md->errands.busy);
	fixture_run(&f, 1);
	assert_false(md->errands.busy);
	assert_int_equal(f.control->diary.decisions.n_ever, decisions);
	assert_int_equal(nvme.n_writes, 0);
	assert_true(setting_equal(&md->knobs.actual, &actual));
	assert_true(md->caps.now_w == cap_w);
	after = fixture_dump(&f);
	assert_string_equal(before, after);
	fixture_close(&f);
}

static void a_reading_that_finds_something_lost_has_it_set_again(void **state)
{
	_cleanup_free_ char *before = NULL;
	FaultyDevice nvme;
	Managed *md;
	KnobValue held;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	limit(&f, SCOPE_DEVICE, md->device->name, 60);
	fixture_run(&f, 20);
	before = fixture_dump(&f);
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs.knobs[i].touched) {
			held = value_of(&f, md->device->name, md->knobs.knobs[i].knob->name);
			assert_int_equal(knob_apply(md->knobs.knobs[i].knob, md->device,
						    &md->knobs.knobs[i].original, NULL),
					 0);
			assert_string_not_equal(
				held.text,
				value_of(&f, md->device->name, md->knobs.knobs[i].knob->name).text);
		}
	reread(&f, md);
	fixture_run(&f, 5);
	assert_int_equal(count_decisions(&f, md->device->name, "is set again"), 1);
	assert_as_found(&f, before);
	assert_no_drift(&f);
	fixture_close(&f);
}

/* What it is to have next is not what it had. */
static void a_knob_that_waits_for_its_turn_has_lost_nothing(void **state)
{
	const Setting as_found = SETTING_AS_FOUND;
	FaultyDevice nvme;
	Managed *md;
	size_t pending = 0;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	limit(&f, SCOPE_DEVICE, md->device->name, 60);
	fixture_run(&f, 20);
	knob_set_aim(md, &as_found, &f.control->tools);
	for (size_t i = 0; i < knob_count(); i++)
		pending += md->knobs.knobs[i].pending;
	assert_true(pending > 0);
	reread(&f, md);
	fixture_run(&f, 0.001);
	assert_int_equal(count_decisions(&f, md->device->name, "lost is set again"), 0);
	fixture_close(&f);
}

/* nr-requests cannot be given back while bfq holds depth 1; then somebody puts both back. What
 * nr-requests holds is not depth 1. The plan leaves the device as it is meanwhile, because yet
 * another knob waits for its retry. */
static Managed *lose_depth_one(Fixture *f, FaultyDevice *nvme)
{
	Managed *md = open_faulty(f, busy_flash, nvme);
	const char *name = md->device->name;

	aim(f, &depth_32);
	fixture_run(f, 0.1);
	aim(f, &depth_one);
	/* bfq is written by now, and comes first */
	nvme->of = "nr_requests";
	nvme->refuse = true;
	fixture_run(f, 0.1);
	assert_int_equal(md->knobs.target.depth, 1);
	assert_true(managed_knob(f, name, "nr-requests")->touched);
	assert_true(managed_knob(f, name, "bfq-strict")->touched);
	assert_int_equal(md->knobs.actual.depth, 1);
	obedience_of(managed(f, name), managed_knob(f, name, "nvme-power-state"))->retry_at_us =
		now_us(f) + 60 * USEC_PER_SEC;
	nvme->refuse = false;
	assert_int_equal(knob_apply(knob_find("bfq-strict"), md->device,
				    &managed_knob(f, name, "bfq-strict")->original, NULL),
			 0);
	assert_int_equal(knob_apply(knob_find("nr-requests"), md->device,
				    &managed_knob(f, name, "nr-requests")->original, NULL),
			 0);
	return md;
}

static void what_another_knob_of_the_mechanism_holds_is_not_what_was_lost(void **state)
{
	FaultyDevice nvme;
	Managed *md;
	Fixture f;

	(void)state;
	md = lose_depth_one(&f, &nvme);
	nvme.of = "scheduler";
	nvme.refuse = true;
	reread(&f, md);
	fixture_run(&f, 0.1);
	assert_non_null(md->knobs.problem);
	print_message("# depth %u is believed, %.2f W\n", md->knobs.actual.depth, md->caps.now_w);
	assert_int_equal(md->knobs.actual.depth, 0);
	assert_true(md->caps.now_w >= md->device->profile->rated_w - EPSILON_W);
	fixture_close(&f);
}

static void a_mechanism_of_two_knobs_that_is_lost_is_set_again(void **state)
{
	FaultyDevice nvme;
	Managed *md;
	Fixture f;

	(void)state;
	md = lose_depth_one(&f, &nvme);
	reread(&f, md);
	fixture_run(&f, 0.05);
	assert_int_equal(count_decisions(&f, md->device->name, "is set again"), 1);
	assert_non_null(strstr(value_of(&f, md->device->name, "bfq-strict").text, "bfq strict"));
	assert_int_equal(md->knobs.actual.depth, 1);
	fixture_close(&f);
}

/* Its reads take so long from now on that it is seen what is believed meanwhile. */
static void answer_late(FaultyDevice *nvme)
{
	nvme->of = "feature";
	nvme->read_us = 500 * USEC_PER_MSEC;
}

static void reset_device(Fixture *f, const Managed *md)
{
	assert_int_equal(sim_node_inject(f->node, md->device->name, SIM_RESET), 0);
	control_devices_ready(f->control);
	assert_true(md->errands.busy && md->errands.next & ERRAND_RESET);
}

/* Once what was out has come back, and its knobs are read for the reset. */
static void assert_reset_known_lost(Fixture *f, const Managed *md)
{
	while (md->errands.next & ERRAND_RESET)
		assert_true(virtual_loop_step(f->loop));
	assert_true(md->errands.busy);
	assert_int_equal(md->knobs.actual.power_state, -1);
	assert_true(md->caps.now_w >= md->device->profile->rated_w - EPSILON_W);
	while (md->errands.busy)
		assert_true(virtual_loop_step(f->loop));
	assert_int_equal(count_decisions(f, md->device->name, "is set again"), 1);
}

static const Setting power_state_one = { .power_state = 1 };

static void what_was_read_before_a_reset_is_not_believed_after_it(void **state)
{
	FaultyDevice nvme;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	aim(&f, &power_state_one);
	fixture_run(&f, 1);
	assert_true(md->caps.now_w < md->device->profile->rated_w - EPSILON_W);
	answer_late(&nvme);
	reread(&f, md);
	reset_device(&f, md);
	assert_reset_known_lost(&f, md);
	fixture_close(&f);
}

static void what_a_step_did_before_a_reset_is_not_believed_after_it(void **state)
{
	FaultyDevice nvme;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	answer_late(&nvme);
	aim(&f, &power_state_one);
	reset_device(&f, md);
	assert_reset_known_lost(&f, md);
	fixture_close(&f);
}

/* One knob that is held, as it was found. */
static void somebody_else_gives_back(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->touched && !hk->pending)
	{
		assert_int_equal(knob_apply(hk->knob, md->device, &hk->original, NULL), 0);
		return;
	}
	fail_msg("nothing is held");
}

/* A device that is held, with a step out that takes so long, behind which somebody has meddled. */
static Managed *open_busy_and_changed(Fixture *f, FaultyDevice *nvme, uint64_t step_us)
{
	const Setting chunk_too = { .power_state = 1, .chunk_kib = 64 };
	Managed *md = open_faulty(f, busy_flash, nvme);

	aim(f, &power_state_one);
	fixture_run(f, 1);
	nvme->hang_us = step_us;
	aim(f, &chunk_too);
	assert_true(md->errands.busy);
	nvme->hang_us = 0;
	somebody_else_gives_back(md);
	return md;
}

static void verifying_waits_for_a_device_that_is_busy(void **state)
{
	FaultyDevice nvme;
	Verified v;
	Fixture f;

	(void)state;
	(void)open_busy_and_changed(&f, &nvme, 800 * USEC_PER_MSEC);
	v = verify_all(&f);
	assert_int_equal(v.n, 1);
	assert_null(strstr(v.first, "does not answer"));
	fixture_close(&f);
}

static void verifying_waits_for_no_device_for_more_than_ten_seconds(void **state)
{
	FaultyDevice nvme;
	uint64_t began_us;
	Verified v;
	Fixture f;

	(void)state;
	(void)open_busy_and_changed(&f, &nvme, 60 * USEC_PER_SEC);
	began_us = now_us(&f);
	v = verify_all(&f);
	assert_int_equal(now_us(&f) - began_us, 10 * USEC_PER_SEC);
	assert_int_equal(v.n, 1);
	assert_non_null(strstr(v.first, "does not answer"));
	fixture_close(&f);
}

static void emergency(Fixture *f, double percent)
{
	const Claim c = { .class = CLASS_EMERGENCY,
			  .limit = percent,
			  .unit = LIMIT_PERCENT,
			  .source = "test",
			  .reason = "test",
			  .expiry_us = USEC_NEVER };

	fixture_claim(f, &c);
}

/* As many as there are threads for what is fast. */
static void devices_that_cannot_be_read_keep_no_emergency_from_the_others(void **state)
{
	enum { HUNG = 4 };
	Fixture f;

	(void)state;
	fixture_open(&f, "policies/nodes/flash.node");
	fixture_start(&f);
	fixture_set(&f, "80%");
	fixture_run(&f, 60);
	virtual_loop_limit_fast(f.loop, HUNG);
	for (size_t i = 0; i < HUNG; i++) {
		const char *name = f.control->fleet.devices[i]->device->name;

		assert_int_equal(sim_node_inject(f.node, name, SIM_HANG), 0);
		reread(&f, f.control->fleet.devices[i]);
		assert_true(f.control->fleet.devices[i]->errands.busy);
	}
	emergency(&f, 60);
	fixture_run(&f, 2);
	for (size_t i = 0; i < HUNG; i++)
		assert_true(f.control->fleet.devices[i]->errands.busy);
	assert_within_budget(&f);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reading_that_finds_nothing_lost_changes_nothing),
		cmocka_unit_test(a_reading_that_finds_something_lost_has_it_set_again),
		cmocka_unit_test(a_knob_that_waits_for_its_turn_has_lost_nothing),
		cmocka_unit_test(what_another_knob_of_the_mechanism_holds_is_not_what_was_lost),
		cmocka_unit_test(a_mechanism_of_two_knobs_that_is_lost_is_set_again),
		cmocka_unit_test(what_was_read_before_a_reset_is_not_believed_after_it),
		cmocka_unit_test(what_a_step_did_before_a_reset_is_not_believed_after_it),
		cmocka_unit_test(verifying_waits_for_a_device_that_is_busy),
		cmocka_unit_test(verifying_waits_for_no_device_for_more_than_ten_seconds),
		cmocka_unit_test(devices_that_cannot_be_read_keep_no_emergency_from_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
