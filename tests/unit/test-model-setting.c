/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model/setting.h"

static void every_name_leads_back_to_its_value(void **state)
{
	(void)state;
	for (int c = 0; c < _CONDITION_MAX; c++)
		assert_int_equal(condition_from_name(condition_name(c)), c);
	for (int m = 1; m < MECHANISM_ALL; m <<= 1)
		assert_int_equal(mechanism_from_name(mechanism_name(m)), m);
	assert_int_equal(condition_from_name("idle_d"), -EINVAL);
	assert_int_equal(mechanism_from_name(""), -EINVAL);
	assert_string_equal(condition_name(_CONDITION_MAX), "unknown");
	assert_string_equal(exactness_name(MEAN), "mean");
}

static void a_list_of_mechanisms_takes_blanks_and_commas(void **state)
{
	unsigned set = 99;

	(void)state;
	assert_int_equal(mechanisms_from_list("depth, chunk  pacing", &set), 0);
	assert_int_equal(set, MECHANISM_DEPTH | MECHANISM_CHUNK | MECHANISM_PACING);
	assert_int_equal(mechanisms_from_list("", &set), 0);
	assert_int_equal(set, 0);
	set = 7;
	assert_int_equal(mechanisms_from_list("depth voltage", &set), -EINVAL);
	assert_int_equal(set, 7);
}

static void a_setting_knows_its_mechanisms_and_its_worst_exactness(void **state)
{
	Setting s = SETTING_AS_FOUND;

	(void)state;
	assert_int_equal(setting_mechanisms(&s), 0);
	assert_int_equal(setting_exactness(&s), EXACT);
	s.power_state = 0;
	s.depth = 1;
	assert_int_equal(setting_mechanisms(&s), MECHANISM_POWER_STATE | MECHANISM_DEPTH);
	assert_int_equal(setting_exactness(&s), EXACT);
	s.idle_latency_us = 5000; /* saves nothing that could be missed */
	assert_int_equal(setting_mechanisms(&s),
			 MECHANISM_POWER_STATE | MECHANISM_DEPTH | MECHANISM_LINK);
	assert_int_equal(setting_exactness(&s), EXACT);
	s.pace_w = 2;
	assert_int_equal(setting_exactness(&s), MEAN);
	s.condition = CONDITION_STANDBY_Z;
	assert_int_equal(setting_exactness(&s), ADVISORY);
	assert_false(setting_equal(&s, &SETTING_AS_FOUND));
	assert_true(setting_equal(&s, &s));
}

static void a_setting_reads_as_words(void **state)
{
	Setting s = { .power_state = 1, .depth = 4, .chunk_kib = 64, .pace_w = 3.2 };
	char buf[128], small[12];

	(void)state;
	assert_string_equal(setting_text(buf, sizeof(buf), &SETTING_AS_FOUND), "as found");
	assert_string_equal(setting_text(buf, sizeof(buf), &s),
			    "power state 1, depth 4, chunk 64 KiB, IO held to 3.20 W above idle");
	assert_string_equal(setting_text(small, sizeof(small), &s), "power state");
	s = (Setting){ .power_state = -1,
		       .condition = CONDITION_IDLE_B,
		       .link = LINK_MEDIUM_DIPM,
		       .limit_w = 12 };
	assert_string_equal(setting_text(buf, sizeof(buf), &s),
			    "limited to 12.0 W, idle_b, link power saving");
	s = (Setting){ .power_state = -1, .idle_latency_us = 1500 };
	assert_string_equal(setting_text(buf, sizeof(buf), &s), "wakes from idle within 1.5 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_leads_back_to_its_value),
		cmocka_unit_test(a_list_of_mechanisms_takes_blanks_and_commas),
		cmocka_unit_test(a_setting_knows_its_mechanisms_and_its_worst_exactness),
		cmocka_unit_test(a_setting_reads_as_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
