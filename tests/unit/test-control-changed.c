/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that becomes vital while it is limited is given back and left alone. */

#include "test-control.h"

#define NODE "policies/nodes/tiny.node"

static Managed *first_limited(const Fixture *f)
{
	for (size_t i = 0; i < f->control->fleet.n; i++)
		if (!setting_equal(&f->control->fleet.devices[i]->knobs.actual, &SETTING_AS_FOUND))
			return f->control->fleet.devices[i];
	fail_msg("nothing is limited");
	return NULL;
}

static void tell(Fixture *f, Managed *md, const char *why)
{
	free(md->device->protected_why);
	md->device->protected_why = why ? strdup(why) : NULL;
	f->node->handler(md->device, DEVICE_CHANGED, f->node->userdata);
}

static bool is_offered(const Managed *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs.knobs[i].offered)
			return true;
	return false;
}

static void a_device_that_becomes_vital_is_given_back_and_left_alone(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	fixture_open(&f, NODE);
	fixture_start(&f);
	fixture_set(&f, "60%");
	fixture_run(&f, 5);
	md = first_limited(&f);
	assert_true(journal_size_of(f.control->tools.journal, md->device->id) > 0);
	tell(&f, md, "holds swap space");
	fixture_run(&f, 60);
	assert_int_equal(journal_size_of(f.control->tools.journal, md->device->id), 0);
	assert_true(setting_equal(&md->knobs.actual, &SETTING_AS_FOUND));
	assert_false(md->knobs.leftover || is_offered(md));
	assert_non_null(strstr(md->knobs.knobs[0].why_not, "holds swap space"));
	tell(&f, md, NULL);
	fixture_run(&f, 5);
	assert_true(is_offered(md));
	assert_false(setting_equal(&md->knobs.actual, &SETTING_AS_FOUND));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_becomes_vital_is_given_back_and_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
