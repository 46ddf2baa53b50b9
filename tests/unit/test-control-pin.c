/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims that pin the NVMe power state of one device for the time of a measurement. */

#include <errno.h>

#include "test-control.h"

#define OWNER ":1.7"

static const char flashes[] = SIM_NODE("balanced") SIM_FLASH
	"count = 2\ndemand = saturate\n" SIM_DISK "demand = constant 20\n";
static const char idle_flashes[] = SIM_NODE("balanced") SIM_FLASH "count = 2\ndemand = idle\n";
static const char client[] = SIM_NODE("balanced") "[devices flash]\n"
						  "profile = dell-ps1010\n"
						  "demand = idle\n";

static void open_node(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
}

static Claim pin_of(const char *device, unsigned state)
{
	return (Claim){ .class = CLASS_OPERATOR,
			.scope = SCOPE_DEVICE,
			.target = (char *)device,
			.limit = 100,
			.unit = LIMIT_PERCENT,
			.source = (char *)"calibrate",
			.reason = (char *)"",
			.owner = (char *)OWNER,
			.bus = (char *)"0123456789abcdef",
			.expiry_us = USEC_NEVER,
			.pins = true,
			.power_state = state };
}

static uint64_t pin(Fixture *f, const char *device, unsigned state)
{
	const Claim c = pin_of(device, state);

	return fixture_claim(f, &c);
}

static void assert_refused(Fixture *f, const Claim *c, int error, const char *part)
{
	_cleanup_free_ char *why = NULL;
	uint64_t cookie;

	assert_int_equal(control_add_claim(f->control, c, NULL, &cookie, &why), error);
	if (!strstr(why, part))
		print_error("refused: %s\n", why);
	assert_non_null(strstr(why, part));
}

static bool is_in_force(Fixture *f, uint64_t cookie)
{
	const Claim *c = claims_find(control_claims(f->control), cookie);

	return c && control_claim_in_force(f->control, c);
}

static void assert_reason(Fixture *f, const char *device, const char *part)
{
	DeviceState d;

	assert_int_equal(control_device_by_name(f->control, device, &d), 0);
	if (!strstr(d.reason, part))
		print_error("%s: %s\n", device, d.reason);
	assert_non_null(strstr(d.reason, part));
}

static void assert_pinned(Fixture *f, const char *device, int state)
{
	const Setting pinned = { .power_state = state };
	char text[8];

	snprintf(text, sizeof(text), "%d", state);
	assert_true(setting_equal(&managed(f, device)->knobs.actual, &pinned));
	assert_string_equal(value_of(f, device, "nvme-power-state").text, text);
	assert_reason(f, device, "a claim pins its power state");
}

static void it_holds_the_state_and_touches_nothing_else(void **state)
{
	const Setting as_found = SETTING_AS_FOUND;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	cookie = pin(&f, "nvme0", 1);
	fixture_run(&f, 30);
	assert_pinned(&f, "nvme0", 1);
	assert_true(is_in_force(&f, cookie));
	assert_false(state_of(&f).enforcing);
	assert_true(isinf(state_of(&f).budget_w));
	assert_true(setting_equal(&managed(&f, "nvme1")->knobs.actual, &as_found));
	assert_true(setting_equal(&managed(&f, "sda")->knobs.actual, &as_found));
	assert_no_drift(&f);
	fixture_close(&f);
}

static void an_idle_device_is_pinned_and_does_not_rest(void **state)
{
	Fixture f;

	(void)state;
	open_node(&f, idle_flashes);
	pin(&f, "nvme1", 1);
	fixture_run(&f, 60);
	assert_pinned(&f, "nvme1", 1);
	fixture_close(&f);
}

static void what_it_pins_may_be_what_was_found(void **state)
{
	_cleanup_free_ char *before = NULL;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	before = fixture_dump(&f);
	pin(&f, "nvme0", 0);
	fixture_run(&f, 5);
	assert_as_found(&f, before);
	assert_reason(&f, "nvme0", "a claim pins its power state");
	fixture_close(&f);
}

static void its_release_puts_the_state_back(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	before = fixture_dump(&f);
	cookie = pin(&f, "nvme0", 1);
	fixture_run(&f, 5);
	assert_int_equal(journal_size(f.control->tools.journal), 1);
	fixture_release(&f, cookie);
	fixture_run(&f, 1);
	assert_as_found(&f, before);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

static void its_owner_s_leaving_puts_the_state_back(void **state)
{
	_cleanup_free_ char *before = NULL;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	before = fixture_dump(&f);
	pin(&f, "nvme0", 1);
	fixture_run(&f, 5);
	assert_int_equal(control_drop_owner(f.control, OWNER), 1);
	fixture_run(&f, 1);
	assert_as_found(&f, before);
	fixture_close(&f);
}

static void its_expiry_puts_the_state_back(void **state)
{
	_cleanup_free_ char *before = NULL;
	Claim c = pin_of("nvme0", 1);
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	before = fixture_dump(&f);
	c.expiry_us = now_us(&f) + 10 * USEC_PER_SEC;
	fixture_claim(&f, &c);
	fixture_run(&f, 9);
	assert_pinned(&f, "nvme0", 1);
	fixture_run(&f, 2);
	assert_as_found(&f, before);
	fixture_close(&f);
}

static void a_restart_of_the_daemon_ends_it(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	before = fixture_dump(&f);
	cookie = pin(&f, "nvme0", 1);
	fixture_run(&f, 5);
	fixture_stop(&f);
	assert_as_found(&f, before);
	fixture_start(&f);
	fixture_run(&f, 5);
	assert_null(claims_find(control_claims(f.control), cookie));
	assert_as_found(&f, before);
	fixture_close(&f);
}

/* scope and target: what the limit is of. */
static void assert_comes_first(ClaimScope scope, const char *target)
{
	uint64_t cookie, lower;
	Fixture f;

	open_node(&f, flashes);
	cookie = pin(&f, "nvme0", 1);
	fixture_run(&f, 5);
	lower = limit(&f, scope, target, 100);
	fixture_run(&f, 5);
	assert_false(is_in_force(&f, cookie));
	assert_true(is_in_force(&f, lower));
	assert_int_equal(managed(&f, "nvme0")->knobs.actual.power_state, -1);
	assert_reason(&f, "nvme0", "which pins its power state, waits");
	fixture_release(&f, lower);
	fixture_run(&f, 5);
	assert_true(is_in_force(&f, cookie));
	assert_pinned(&f, "nvme0", 1);
	fixture_close(&f);
}

static void a_limit_on_the_node_comes_first(void **state)
{
	(void)state;
	assert_comes_first(SCOPE_NODE, NULL);
}

static void a_limit_on_its_group_comes_first(void **state)
{
	(void)state;
	assert_comes_first(SCOPE_GROUP, "flash");
}

static void a_limit_on_the_device_comes_first(void **state)
{
	(void)state;
	assert_comes_first(SCOPE_DEVICE, "nvme0");
}

static void a_limit_elsewhere_leaves_it_alone(void **state)
{
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	pin(&f, "nvme0", 1);
	limit(&f, SCOPE_DEVICE, "nvme1", 50);
	limit(&f, SCOPE_GROUP, "bulk", 90);
	fixture_run(&f, 10);
	assert_pinned(&f, "nvme0", 1);
	fixture_close(&f);
}

static void under_a_budget_the_caps_hold_it_whatever_is_pinned(void **state)
{
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	pin(&f, "nvme0", 0);
	fixture_set(&f, "60%");
	fixture_run(&f, 10);
	assert_within_budget(&f);
	fixture_close(&f);
}

static void where_limits_are_only_advised_nothing_is_pinned(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	before = fixture_dump(&f);
	control_set_mode(f.control, true);
	cookie = pin(&f, "nvme0", 1);
	fixture_run(&f, 5);
	assert_as_found(&f, before);
	assert_false(is_in_force(&f, cookie));
	assert_reason(&f, "nvme0", "waits");
	fixture_close(&f);
}

static void a_second_one_on_the_device_is_refused_unless_it_replaces_the_first(void **state)
{
	Claim again = pin_of("nvme0", 0), stranger = pin_of("nvme0", 0);
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	pin(&f, "nvme0", 1);
	pin(&f, "nvme1", 1);
	assert_refused(&f, &again, -EBUSY, "claim 1 pins nvme0 to power state 1 already");
	stranger.owner = (char *)":1.8";
	stranger.replaces = true;
	assert_refused(&f, &stranger, -EBUSY, "already");
	again.replaces = true;
	fixture_claim(&f, &again);
	fixture_run(&f, 5);
	assert_pinned(&f, "nvme0", 0);
	assert_pinned(&f, "nvme1", 1);
	fixture_close(&f);
}

/* A limit of the same source is another wish. */
static void a_limit_does_not_replace_it(void **state)
{
	Claim lower = pin_of("nvme0", 0);
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, flashes);
	cookie = pin(&f, "nvme0", 1);
	lower.pins = false;
	lower.replaces = true;
	fixture_claim(&f, &lower);
	assert_non_null(claims_find(control_claims(f.control), cookie));
	fixture_close(&f);
}

static void a_state_that_cannot_be_pinned_is_refused(void **state)
{
	Claim missing = pin_of("nvme0", 7), disk = pin_of("sda", 0), standing = pin_of("nvme0", 1);
	Fixture f;

	(void)state;
	standing.owner = NULL;
	open_node(&f, flashes);
	assert_refused(&f, &missing, -EINVAL,
		       "power state 7 of nvme0 does not exist: it can be pinned to 0, 1");
	assert_refused(&f, &disk, -EINVAL,
		       "power state 0 of sda cannot be pinned: it has no NVMe power management");
	assert_refused(&f, &standing, -EINVAL, "");
	assert_null(claims_get(control_claims(f.control), 0));
	fixture_close(&f);
}

static void a_state_that_serves_no_io_is_refused(void **state)
{
	Claim parked = pin_of("nvme0", 4);
	Fixture f;

	(void)state;
	open_node(&f, client);
	assert_refused(&f, &parked, -EINVAL, "power state 4 of nvme0 is not an operational one");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_holds_the_state_and_touches_nothing_else),
		cmocka_unit_test(an_idle_device_is_pinned_and_does_not_rest),
		cmocka_unit_test(what_it_pins_may_be_what_was_found),
		cmocka_unit_test(its_release_puts_the_state_back),
		cmocka_unit_test(its_owner_s_leaving_puts_the_state_back),
		cmocka_unit_test(its_expiry_puts_the_state_back),
		cmocka_unit_test(a_restart_of_the_daemon_ends_it),
		cmocka_unit_test(a_limit_on_the_node_comes_first),
		cmocka_unit_test(a_limit_on_its_group_comes_first),
		cmocka_unit_test(a_limit_on_the_device_comes_first),
		cmocka_unit_test(a_limit_elsewhere_leaves_it_alone),
		cmocka_unit_test(under_a_budget_the_caps_hold_it_whatever_is_pinned),
		cmocka_unit_test(where_limits_are_only_advised_nothing_is_pinned),
		cmocka_unit_test(
			a_second_one_on_the_device_is_refused_unless_it_replaces_the_first),
		cmocka_unit_test(a_limit_does_not_replace_it),
		cmocka_unit_test(a_state_that_cannot_be_pinned_is_refused),
		cmocka_unit_test(a_state_that_serves_no_io_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
