/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device that becomes vital while it is limited is given back and left alone. */

#include "test-manager.h"

#define NODE "policies/nodes/tiny.node"

static ManagedDevice *first_limited(const Fixture *f)
{
	for (size_t i = 0; i < f->manager->n_devices; i++)
		if (!setting_equal(&f->manager->devices[i]->actual, &SETTING_AS_FOUND))
			return f->manager->devices[i];
	fail_msg("nothing is limited");
	return NULL;
}

static void tell(Fixture *f, ManagedDevice *md, const char *why)
{
	free(md->device->protected_why);
	md->device->protected_why = why ? strdup(why) : NULL;
	f->node->handler(md->device, DEVICE_CHANGED, f->node->userdata);
}

static bool is_offered(const ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].offered)
			return true;
	return false;
}

static void a_device_that_becomes_vital_is_given_back_and_left_alone(void **state)
{
	ManagedDevice *md;
	Fixture f;

	(void)state;
	fixture_open(&f, NODE);
	fixture_start(&f);
	fixture_set(&f, "60%");
	fixture_run(&f, 5);
	md = first_limited(&f);
	assert_true(journal_size_of(f.manager->journal, md->device->id) > 0);
	tell(&f, md, "holds swap space");
	fixture_run(&f, 60);
	assert_int_equal(journal_size_of(f.manager->journal, md->device->id), 0);
	assert_true(setting_equal(&md->actual, &SETTING_AS_FOUND));
	assert_false(md->leftover || is_offered(md));
	assert_non_null(strstr(md->knobs[0].why_not, "holds swap space"));
	tell(&f, md, NULL);
	fixture_run(&f, 5);
	assert_true(is_offered(md));
	assert_false(setting_equal(&md->actual, &SETTING_AS_FOUND));
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_becomes_vital_is_given_back_and_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
