/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control/holding.h"

static void a_budget_is_held_from_when_the_draw_is_within_it(void **state)
{
	Holding h = {};

	(void)state;
	holding_note(&h, INFINITY, 100, 0);
	assert_true(isnan(holding_seconds(&h, 5000000)));
	assert_true(isnan(holding_highest_w(&h)));
	holding_note(&h, 80, 100, 1000000); /* not yet: what was drawn before does not count */
	assert_true(isnan(holding_seconds(&h, 1000000)));
	assert_true(isnan(holding_highest_w(&h)));
	holding_note(&h, 80, 70, 2000000);
	holding_note(&h, 80, 75, 3000000);
	assert_float_equal((float)holding_seconds(&h, 4000000), 2, 1e-6F);
	assert_float_equal((float)holding_highest_w(&h), 75, 1e-6F);
	holding_note(&h, 80, 90, 5000000); /* exceeded: that is remembered, the time begins anew */
	assert_true(isnan(holding_seconds(&h, 5000000)));
	holding_note(&h, 80, 79, 6000000);
	assert_float_equal((float)holding_seconds(&h, 7000000), 1, 1e-6F);
	assert_float_equal((float)holding_highest_w(&h), 90, 1e-6F);
	holding_note(&h, 85, 60, 8000000); /* another budget */
	assert_float_equal((float)holding_seconds(&h, 8000000), 0, 1e-6F);
	assert_float_equal((float)holding_highest_w(&h), 60, 1e-6F);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		a_budget_is_held_from_when_the_draw_is_within_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
