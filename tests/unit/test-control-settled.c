/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When a claim is told to be held. */

#include "control/knob-set.h"
#include "test-control.h"

#define TINY "policies/nodes/tiny.node"

static const char unmeasured_flash[] = SIM_NODE("balanced") SIM_FLASH "demand = saturate\n";

typedef struct Told {
	Fixture *f;
	unsigned n;
	Settled last; /* its cookies are gone */
	uint64_t cookies[8];
} Told;

/* What is told has to be true when it is. */
static void on_settled(const Settled *s, void *userdata)
{
	Told *t = userdata;

	assert_int_equal(t->f->control->outbox.counted_out, 0);
	assert_true(s->n > 0 && s->n <= ELEMENTSOF(t->cookies));
	assert_true(s->held == (s->drawn_w <= s->limit_w));
	t->n++;
	t->last = *s;
	memcpy(t->cookies, s->cookies, s->n * sizeof(*s->cookies));
}

static void listen(Fixture *f, Told *t)
{
	const ControlEvents events = { .settled = on_settled, .userdata = t };

	*t = (Told){ .f = f };
	control_set_events(f->control, &events);
}

static void open_node(Fixture *f, const char *text, Told *t)
{
	if (text)
		fixture_open_text(f, text);
	else
		fixture_open(f, TINY);
	fixture_start(f);
	fixture_run(f, 5);
	listen(f, t);
}

static void change_to(Fixture *f, uint64_t cookie, double percent)
{
	const ClaimChange c = { .sets_limit = true,
				.limit = percent,
				.unit = LIMIT_PERCENT,
				.class = -1,
				.tolerance_s = NAN };
	_cleanup_free_ char *text = NULL;

	assert_int_equal(control_change_claim(f->control, cookie, &c, NULL, &text), 0);
}

static void a_claim_is_told_to_be_held_once(void **state)
{
	uint64_t cookie;
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	cookie = limit(&f, SCOPE_NODE, NULL, 80);
	assert_int_equal(t.n, 0);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.last.n, 1);
	assert_int_equal(t.cookies[0], cookie);
	assert_true(t.last.held);
	assert_true(t.last.drawn_w > 0);
	assert_true(t.last.took_s >= 2 && t.last.took_s < 5);
	assert_true(fabs(t.last.limit_w - 0.8 * fixture_operating_w(&f)) < EPSILON_W);
	fixture_run(&f, 60);
	assert_int_equal(t.n, 1);
	fixture_close(&f);
}

static void and_once_more_for_each_change_of_its_limit(void **state)
{
	uint64_t cookie;
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	cookie = limit(&f, SCOPE_NODE, NULL, 90);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 1);
	change_to(&f, cookie, 75);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.cookies[0], cookie);
	assert_true(fabs(t.last.limit_w - 0.75 * fixture_operating_w(&f)) < EPSILON_W);
	assert_true(t.last.held);
	fixture_close(&f);
}

static void and_when_it_is_released(void **state)
{
	uint64_t cookie;
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	cookie = limit(&f, SCOPE_NODE, NULL, 75);
	fixture_run(&f, 10);
	fixture_release(&f, cookie);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.cookies[0], cookie);
	assert_true(isinf(t.last.limit_w) && t.last.held);
	assert_true(t.last.took_s < 2);
	for_each_device(const Managed, md, &f.control->fleet) assert_false(knob_set_touched(md));
	fixture_run(&f, 60);
	assert_int_equal(t.n, 2);
	fixture_close(&f);
}

/* They sleep on, and what is to be given back to them waits until they wake. */
static void the_end_of_a_limit_settles_at_once_while_disks_sleep(void **state)
{
	uint64_t cookie;
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, SIM_NODE("archive") SIM_DISK "count = 4\ndemand = idle\n", &t);
	cookie = fixture_set(&f, "8 W");
	fixture_run(&f, 120);
	assert_int_equal(count_asleep(&f), 4);
	assert_int_equal(t.n, 1);
	fixture_release(&f, cookie);
	fixture_run(&f, 15);
	assert_int_equal(count_asleep(&f), 4);
	assert_int_equal(t.n, 2);
	assert_true(t.last.held && t.last.took_s < 2);
	fixture_close(&f);
}

static void changes_that_follow_each_other_at_once_come_as_one(void **state)
{
	uint64_t first, second;
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	first = limit(&f, SCOPE_NODE, NULL, 90);
	fixture_run(&f, 1);
	second = limit(&f, SCOPE_NODE, NULL, 80);
	fixture_release(&f, first);
	change_to(&f, second, 75);
	fixture_run(&f, 20);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.last.n, 2);
	assert_int_equal(t.cookies[0], first);
	assert_int_equal(t.cookies[1], second);
	assert_true(fabs(t.last.limit_w - 0.75 * fixture_operating_w(&f)) < EPSILON_W);
	fixture_close(&f);
}

static void a_limit_that_cannot_be_reached_is_told_once_and_not_to_be_held(void **state)
{
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	limit(&f, SCOPE_NODE, NULL, 1);
	fixture_run(&f, 60);
	assert_true(state_of(&f).degraded);
	assert_int_equal(t.n, 1);
	assert_false(t.last.held);
	fixture_run(&f, 120);
	assert_int_equal(t.n, 1);
	fixture_close(&f);
}

static void nothing_is_told_while_limits_are_only_advised(void **state)
{
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	control_set_mode(f.control, true);
	limit(&f, SCOPE_NODE, NULL, 100);
	fixture_run(&f, 20);
	assert_int_equal(t.n, 0);
	control_set_mode(f.control, false);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 1);
	assert_true(isfinite(t.last.limit_w));
	control_set_mode(f.control, true);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 2);
	assert_true(isinf(t.last.limit_w));
	fixture_close(&f);
}

static void a_claim_of_later_is_told_when_it_has_begun(void **state)
{
	Fixture f;
	Told t;
	Claim c = { .class = CLASS_OPERATOR,
		    .limit = 90,
		    .unit = LIMIT_PERCENT,
		    .source = (char *)"test",
		    .reason = (char *)"",
		    .expiry_us = USEC_NEVER };

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	c.start_us = now_us(&f) + 30 * USEC_PER_SEC;
	fixture_claim(&f, &c);
	fixture_run(&f, 29);
	assert_int_equal(t.n, 0);
	fixture_run(&f, 15);
	assert_int_equal(t.n, 1);
	fixture_close(&f);
}

static void of_a_device_or_group_its_own_watts_are_told(void **state)
{
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, unmeasured_flash, &t);
	limit(&f, SCOPE_GROUP, "flash", 90);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 1);
	limit(&f, SCOPE_DEVICE, f.control->fleet.devices[0]->device->name, 85);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 2);
	assert_true(t.last.drawn_w <= f.control->fleet.devices[0]->trust.operating_w);
	fixture_close(&f);
}

/* Who restarted cannot know what was told before. */
static void it_is_told_again_after_a_restart(void **state)
{
	Fixture f;
	Told t;

	(void)state;
	open_node(&f, NULL, &t);
	fixture_set(&f, "90%");
	fixture_run(&f, 10);
	assert_int_equal(t.n, 1);
	fixture_stop(&f);
	fixture_start(&f);
	listen(&f, &t);
	fixture_run(&f, 10);
	assert_int_equal(t.n, 1);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_is_told_to_be_held_once),
		cmocka_unit_test(and_once_more_for_each_change_of_its_limit),
		cmocka_unit_test(and_when_it_is_released),
		cmocka_unit_test(the_end_of_a_limit_settles_at_once_while_disks_sleep),
		cmocka_unit_test(changes_that_follow_each_other_at_once_come_as_one),
		cmocka_unit_test(a_limit_that_cannot_be_reached_is_told_once_and_not_to_be_held),
		cmocka_unit_test(nothing_is_told_while_limits_are_only_advised),
		cmocka_unit_test(a_claim_of_later_is_told_when_it_has_begun),
		cmocka_unit_test(of_a_device_or_group_its_own_watts_are_told),
		cmocka_unit_test(it_is_told_again_after_a_restart),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
