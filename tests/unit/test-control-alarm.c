/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What eBPF tells of an overrun between two looks: where a limit tolerates a moment above it, what
 * the devices can draw is held within it at once. The meter's event is this test's; all that
 * follows from it is not. */

#include "test-control.h"

#include <sys/sysmacros.h>

#include "meter/meter.h"

#define TOLERANCE_S 3
#define LIMIT_W     45.0 /* of four drives that draw 36 W and can draw 56 W */
#define SOON_S      0.2  /* the next look is a second away */

static const char node[] = SIM_NODE("balanced") SIM_FLASH "count = 4\ndemand = constant 900\n";

/* What the meter tells next. */
static struct {
	dev_t devnum; /* 0: nothing */
	double watts;
} event;

int __wrap_meter_process(Meter *m, MeterOverrun overrun, MeterWoken woken, void *userdata);
int __wrap_meter_process(Meter *m, MeterOverrun overrun, MeterWoken woken, void *userdata)
{
	dev_t devnum = event.devnum;

	(void)m;
	(void)woken;
	event.devnum = 0;
	if (!devnum)
		return 0;
	overrun(devnum, event.watts * 0.1, 0.1, userdata);
	return 1;
}

static void open_limited(Fixture *f, double tolerance_s)
{
	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 30);
	managed(f, "nvme0")->device->devnum = makedev(259, 1);
	fixture_claim(f, &(Claim){ .class = CLASS_OPERATOR,
				   .limit = LIMIT_W,
				   .unit = LIMIT_WATTS,
				   .tolerance_s = tolerance_s,
				   .source = "test",
				   .reason = "",
				   .expiry_us = USEC_NEVER });
	fixture_run(f, 30.5); /* between two looks */
}

/* Of nvme0, above idle. */
static void tell_overrun(Fixture *f, double watts)
{
	event.watts = watts;
	event.devnum = makedev(259, 1);
	f->loop->wake_at(f->loop, now_us(f));
	fixture_run(f, SOON_S);
	assert_true(event.devnum == 0); /* it was heard */
}

static bool caps_count(const Fixture *f)
{
	return f->control->gauges.overload.strict_until_us > now_us(f);
}

static void
a_grave_overrun_brings_what_can_be_drawn_within_the_limit_before_the_next_look(void **state)
{
	Fixture f;

	(void)state;
	open_limited(&f, TOLERANCE_S);
	assert_true(state_of(&f).watts.cap_w > LIMIT_W);
	assert_false(caps_count(&f));
	tell_overrun(&f, LIMIT_W);
	assert_true(caps_count(&f));
	assert_false(f.control->enforcement.plan->at_once);
	assert_true(state_of(&f).watts.cap_w <= LIMIT_W + EPSILON_W);
	fixture_close(&f);
}

static void what_the_limit_tolerates_changes_nothing(void **state)
{
	Fixture f;
	double cap_w;

	(void)state;
	open_limited(&f, TOLERANCE_S);
	cap_w = state_of(&f).watts.cap_w;
	tell_overrun(&f, managed(&f, "nvme0")->trust.estimated_w + 1);
	assert_false(caps_count(&f));
	assert_true(state_of(&f).watts.cap_w == cap_w);
	fixture_close(&f);
}

static void an_overrun_of_a_device_that_is_not_managed_changes_nothing(void **state)
{
	Fixture f;

	(void)state;
	open_limited(&f, TOLERANCE_S);
	managed(&f, "nvme0")->device->devnum = makedev(259, 2);
	tell_overrun(&f, LIMIT_W);
	assert_false(caps_count(&f));
	fixture_close(&f);
}

static void without_a_tolerance_what_can_be_drawn_is_within_the_limit_already(void **state)
{
	Fixture f;

	(void)state;
	open_limited(&f, 0);
	assert_true(state_of(&f).watts.cap_w <= LIMIT_W + EPSILON_W);
	tell_overrun(&f, LIMIT_W);
	assert_false(caps_count(&f));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_grave_overrun_brings_what_can_be_drawn_within_the_limit_before_the_next_look),
		cmocka_unit_test(what_the_limit_tolerates_changes_nothing),
		cmocka_unit_test(an_overrun_of_a_device_that_is_not_managed_changes_nothing),
		cmocka_unit_test(without_a_tolerance_what_can_be_drawn_is_within_the_limit_already),
	};

	log_set_max_level(LOG_ERR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
