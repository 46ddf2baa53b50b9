/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of all knobs. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "redirect/knob-registry.h"

static void the_registry_names_each_knob_once(void **state)
{
	size_t n = 0;

	(void)state;
	for (const Knob *const *k = knob_registry; *k; k++, n++) {
		assert_ptr_equal(knob_find((*k)->name), *k);
		assert_true((*k)->probe && (*k)->read && (*k)->want && (*k)->write);
	}
	assert_int_equal(knob_count(), n);
	assert_null(knob_find("no-such-knob"));
}

/* The policy of a link is its port's. A controller that comes back has the kernel's own tolerance.
 */
static void what_stays_when_a_drive_is_pulled_is_put_back(void **state)
{
	(void)state;
	assert_int_equal(knob_survival_of_removal("link-power"), SURVIVES_WHOLE);
	assert_int_equal(knob_survival("link-power"), SURVIVES_NOT);
	assert_int_equal(knob_survival_of_removal("idle-latency"), SURVIVES_NOT);
	assert_int_equal(knob_survival_of_removal("no-such-knob"), SURVIVAL_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_registry_names_each_knob_once),
		cmocka_unit_test(what_stays_when_a_drive_is_pulled_is_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
