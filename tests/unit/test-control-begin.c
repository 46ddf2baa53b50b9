/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When something begins or ends by itself: claims that start later, leases, disks that IO wakes;
 * and looking, which changes nothing. */

#include "test-control.h"

#include "base/file.h"

#define TINY    "policies/nodes/tiny.node"
#define FLASH   "policies/nodes/flash.node"
#define ARCHIVE "policies/nodes/archive.node"

static void open_node(Fixture *f, const char *path)
{
	fixture_open(f, path);
	fixture_start(f);
	fixture_run(f, 5);
}

static uint64_t limit_later(Fixture *f, ClaimScope scope, const char *target, double percent,
			    ClaimClass class, double after_s)
{
	Claim c = { .class = class,
		    .scope = scope,
		    .target = (char *)target,
		    .limit = percent,
		    .unit = LIMIT_PERCENT,
		    .source = "test",
		    .reason = "",
		    .start_us = now_us(f) + (uint64_t)(after_s * USEC_PER_SEC),
		    .expiry_us = USEC_NEVER };

	return fixture_claim(f, &c);
}

static void a_devices_claim_that_starts_later_is_enforced_then(void **state)
{
	const Managed *md;
	Fixture f;

	(void)state;
	open_node(&f, TINY);
	md = managed(&f, "nvme0");
	limit_later(&f, SCOPE_DEVICE, "nvme0", 60, CLASS_OPERATOR, 10);
	fixture_run(&f, 9.5);
	assert_true(md->caps.now_w >= md->device->profile->rated_w - EPSILON_W);
	fixture_run(&f, 1.5);
	assert_true(md->caps.now_w <= 0.6 * md->trust.operating_w + EPSILON_W);
	assert_true(state_of(&f).enforcing);
	fixture_close(&f);
}

static void a_groups_claim_that_starts_later_is_enforced_then(void **state)
{
	double operating_w;
	Fixture f;

	(void)state;
	open_node(&f, TINY);
	limit_later(&f, SCOPE_GROUP, "flash", 60, CLASS_OPERATOR, 10);
	fixture_run(&f, 9.5);
	assert_true(group_w(&f, "flash", &operating_w) >= operating_w - EPSILON_W);
	fixture_run(&f, 1.5);
	assert_true(group_w(&f, "flash", &operating_w) <= 0.6 * operating_w + EPSILON_W);
	fixture_close(&f);
}

/* Also where the budget in watts stays the same: the emergency's policy rules from then on. */
static void an_emergency_that_starts_later_rules_then(void **state)
{
	Fixture f;

	(void)state;
	open_node(&f, TINY);
	fixture_set(&f, "70%");
	limit_later(&f, SCOPE_NODE, NULL, 70, CLASS_EMERGENCY, 10);
	fixture_run(&f, 9.5);
	assert_string_equal(gather_policy(f.control)->name, "balanced");
	fixture_run(&f, 1);
	assert_string_equal(gather_policy(f.control)->name, "emergency");
	assert_int_equal(count_decisions(&f, "", "a claim began"), 1);
	assert_within_budget(&f);
	fixture_close(&f);
}

static void an_expired_claim_is_reacted_to_once(void **state)
{
	Claim c = { .class = CLASS_OPERATOR,
		    .limit = 50,
		    .unit = LIMIT_PERCENT,
		    .source = "test",
		    .reason = "" };
	size_t plans;
	Fixture f;

	(void)state;
	open_node(&f, TINY);
	c.expiry_us = now_us(&f) + 3500 * USEC_PER_MSEC;
	fixture_claim(&f, &c);
	fixture_run(&f, 3.45);
	plans = count_decisions(&f, "", "devices can draw");
	fixture_run(&f, 0.1);
	assert_int_equal(count_decisions(&f, "", "devices can draw"), plans + 1);
	assert_int_equal(count_decisions(&f, "", "a claim expired"), 1);
	assert_null(claims_get(control_claims(f.control), 0));
	fixture_close(&f);
}

/* But for writes that a cache above it can hold back. */
static uint64_t ios_of(const Managed *md)
{
	DeviceCounters c;

	assert_int_equal(md->device->ops->counters(md->device, &c), 0);
	return c.ios[READ_IO] + (md->knobs.offer.redirects_writes ? 0 : c.ios[WRITE_IO]);
}

/* The IOs of each within a second, which passes; returns how many disks have any. */
static size_t busy_disks(Fixture *f, uint64_t ios[64])
{
	size_t n = 0;

	assert_in_range(f->control->fleet.n, 1, 64);
	for (size_t i = 0; i < f->control->fleet.n; i++)
		ios[i] = ios_of(f->control->fleet.devices[i]);
	fixture_run(f, 1);
	for (size_t i = 0; i < f->control->fleet.n; i++) {
		const Managed *md = f->control->fleet.devices[i];

		ios[i] = ios_of(md) - ios[i];
		n += ios[i] && md->device->kind == KIND_HDD;
	}
	return n;
}

/* Nobody looks while there is no claim: what was seen an hour ago says nothing. */
static void a_claim_after_a_quiet_time_puts_no_busy_disk_to_sleep(void **state)
{
	uint64_t ios[64];
	size_t busy = 0;
	Fixture f;

	(void)state;
	open_node(&f, ARCHIVE);
	fixture_run(&f, 4000);
	for (unsigned i = 0; i < 1000 && !busy_disks(&f, ios); i++)
		fixture_run(&f, 60);
	fixture_set(&f, "50%");
	fixture_run(&f, 2);
	for (size_t i = 0; i < f.control->fleet.n; i++) {
		const Managed *md = f.control->fleet.devices[i];

		if (!ios[i] || md->device->kind != KIND_HDD)
			continue;
		busy++;
		assert_true(md->knobs.actual.condition <= CONDITION_IDLE_B);
		assert_true(md->knobs.target.condition <= CONDITION_IDLE_B);
	}
	assert_true(busy > 0);
	fixture_close(&f);
}

static void a_policys_rule_for_a_group_needs_no_claim_on_it(void **state)
{
	static const char rule[] = "[policy]\ndescription = x\n\n[devices bulk]\nprotect = yes\n";
	_cleanup_free_ char *path = NULL;
	const char *directories[] = { NULL, "policies", NULL };
	ControlConfig config;
	DeviceState d;
	Fixture f;

	(void)state;
	fixture_open(&f, TINY);
	path = text_printf("%s/grouped.policy", f.dir);
	assert_int_equal(write_file_atomic(path, rule, 0644), 0);
	directories[0] = f.dir;
	config = (ControlConfig){ .profiles = f.profiles,
				  .policy.directories = directories,
				  .policy.name = "grouped",
				  .claims_path = f.claims,
				  .journal_path = f.journal,
				  SLEEP_DEFAULTS };
	assert_int_equal(control_new(&config, f.loop, f.node, &f.control), 0);
	assert_int_equal(control_start(f.control), 0);
	fixture_run(&f, 5);
	fixture_set(&f, "70%");
	fixture_run(&f, 5);
	for (size_t i = 0; control_device(f.control, i, &d) >= 0; i++)
		assert_int_equal(d.planned.reason == PLAN_PROTECTED,
				 streq(d.device->group, "bulk"));
	fixture_close(&f);
}

static size_t count_draining(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += f->control->fleet.devices[i]->cache.draining;
	return n;
}

/* The knob that slept it is given back when IO has undone it, not only when the daemon ends. */
static void a_disk_that_io_woke_is_given_back(void **state)
{
	_cleanup_free_ char *before = NULL;
	size_t held = 0, woken = 0;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, ARCHIVE);
	before = fixture_dump(&f);
	fixture_run(&f, 600);
	cookie = fixture_set(&f, "60%");
	fixture_run(&f, 5400);
	for (size_t i = 0; i < f.control->fleet.n; i++) {
		const Managed *md = f.control->fleet.devices[i];
		const HeldKnob *mk;

		if (md->device->kind != KIND_HDD)
			continue;
		mk = managed_knob(&f, md->device->name, "condition");
		woken += md->waking.woke_us && !managed_asleep(md);
		held += mk->touched && !mk->pending && !md->errands.busy &&
			md->knobs.actual.condition == CONDITION_ACTIVE;
	}
	assert_true(woken > 0);
	assert_int_equal(held, 0);
	fixture_release(&f, cookie);
	fixture_run(&f, 600);
	/* caches that are still being drained are all that is left */
	assert_true(cache_watch_any_draining(&f.control->fleet));
	assert_int_equal(journal_size(f.control->tools.journal), count_draining(&f));
	for (unsigned h = 0; h < 48 && cache_watch_any_draining(&f.control->fleet); h++)
		fixture_run(&f, 3600);
	fixture_run(&f, 10);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	assert_given_back(&f, before);
	fixture_close(&f);
}

/* What waits for its turn is held where it is on purpose. */
static void verifying_finds_no_drift_while_a_raise_waits(void **state)
{
	size_t waiting = 0;
	uint64_t low;
	Fixture f;

	(void)state;
	open_node(&f, FLASH);
	fixture_set(&f, "80%");
	low = fixture_set(&f, "55%");
	fixture_run(&f, 2);
	fixture_release(&f, low);
	fixture_run(&f, 1);
	for (size_t i = 0; i < f.control->fleet.n; i++)
		for (size_t k = 0; k < knob_count(); k++)
			waiting += f.control->fleet.devices[i]->knobs.knobs[k].pending;
	assert_true(waiting > 0);
	assert_no_drift(&f);
	fixture_close(&f);
}

static void what_somebody_else_changed_is_found_and_set_again(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	open_node(&f, FLASH);
	fixture_set(&f, "60%");
	fixture_run(&f, 60);
	assert_no_drift(&f);
	md = f.control->fleet.devices[0];
	for (size_t k = 0; k < knob_count(); k++)
		if (md->knobs.knobs[k].touched)
			md->knobs.knobs[k].knob->write(md->device, &md->knobs.knobs[k].original);
	assert_true(verify_all(&f).n > 0);
	/* and it is set again */
	fixture_run(&f, 5);
	assert_no_drift(&f);
	assert_within_budget(&f);
	fixture_close(&f);
}

static void dry_runs_change_nothing(void **state)
{
	_cleanup_free_ char *before = NULL;
	size_t decisions;
	const Plan *plan;
	double cap_w;
	Fixture f;

	(void)state;
	open_node(&f, TINY);
	fixture_set(&f, "60%");
	fixture_run(&f, 30);
	(void)state_of(&f);
	before = fixture_dump(&f);
	plan = f.control->enforcement.plan;
	decisions = f.control->diary.decisions.n_ever;
	cap_w = caps_sum_w(&f.control->fleet);
	f.control->gauges.guard_w = 3;
	for (unsigned i = 0; i < 100; i++) {
		_cleanup_(plan_freep) Plan *p = NULL;
		_cleanup_free_ char *why = NULL;

		assert_int_equal(
			control_plan(f.control,
				     &(PlanQuery){ .budget_w = i % 30,
						   .forbidden = i % 2 ? MECHANISM_PACING : 0,
						   .policy = i % 3 ? "archive" : NULL },
				     &p, &why),
			0);
	}
	assert_ptr_equal(f.control->enforcement.plan, plan);
	assert_int_equal(f.control->diary.decisions.n_ever, decisions);
	assert_true(f.control->gauges.guard_w == 3 && caps_sum_w(&f.control->fleet) == cap_w);
	assert_string_equal(control_policy(f.control), "balanced");
	assert_as_found(&f, before);
	fixture_close(&f);
}

/* Frontiers of all devices, which a thousand devices' state would else cost at each call. */
static void the_floor_is_made_once_a_look(void **state)
{
	double floor_w;
	Fixture f;

	(void)state;
	open_node(&f, FLASH);
	fixture_set(&f, "80%");
	fixture_run(&f, 10);
	floor_w = state_of(&f).watts.floor_w;
	assert_true(floor_w > 0 && floor_w < f.control->limits.budget_w);
	/* a value that cannot be made: seen again, it was kept */
	f.control->enforcement.floor_w = -1;
	assert_true(state_of(&f).watts.floor_w == -1);
	fixture_run(&f, 2);
	assert_true(state_of(&f).watts.floor_w > 0);
	fixture_close(&f);
}

static void hold_low(Fixture *f)
{
	fixture_run(f, 5);
	fixture_set(f, "50%");
	fixture_run(f, 30);
}

/* What the killed one held is neither given back nor changed before it is known what is to be held:
 * for as long as a device keeps the start waiting. */
static void nothing_is_written_before_the_claims_are_known(void **state)
{
	FaultyDevice nvme;
	uint64_t began_us;
	Device *d;
	Fixture f;

	(void)state;
	fixture_open(&f, TINY);
	live_and_be_killed(f.dir, TINY, hold_low);
	d = (Device *)sim_node_device(f.node, 0);
	faulty_device_wrap(&nvme, d, &f.loop->clock);
	assert_int_equal(sim_node_inject(f.node, sim_node_device(f.node, 1)->name, SIM_HANG), 0);
	began_us = now_us(&f);
	fixture_start(&f);
	fixture_run(&f, 30);
	assert_true(managed(&f, d->name)->knobs.probed);
	assert_true(nvme.n_writes > 0);
	assert_true(nvme.wrote_us[0] >= began_us + 2 * USEC_PER_SEC);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_devices_claim_that_starts_later_is_enforced_then),
		cmocka_unit_test(a_groups_claim_that_starts_later_is_enforced_then),
		cmocka_unit_test(an_emergency_that_starts_later_rules_then),
		cmocka_unit_test(an_expired_claim_is_reacted_to_once),
		cmocka_unit_test(a_claim_after_a_quiet_time_puts_no_busy_disk_to_sleep),
		cmocka_unit_test(a_policys_rule_for_a_group_needs_no_claim_on_it),
		cmocka_unit_test(a_disk_that_io_woke_is_given_back),
		cmocka_unit_test(verifying_finds_no_drift_while_a_raise_waits),
		cmocka_unit_test(what_somebody_else_changed_is_found_and_set_again),
		cmocka_unit_test(dry_runs_change_nothing),
		cmocka_unit_test(the_floor_is_made_once_a_look),
		cmocka_unit_test(nothing_is_written_before_the_claims_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
