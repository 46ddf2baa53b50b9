/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the keys of top do to what it shows. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/top.h"

static void add(json_object *rows, const char *device, const char *cgroup, double w, double mb_s)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Device", device);
	json_put_text(o, "Cgroup", cgroup);
	json_put_flag(o, "WholeDevice", !*cgroup);
	json_put_number(o, "IOPower", w);
	json_put_number(o, "Throughput", mb_s);
	json_object_array_add(rows, o);
}

static json_object *some_rows(void)
{
	json_object *rows = json_object_new_array();

	add(rows, "sda", "", 1, 300);
	add(rows, "sda", "system.slice/db.service", 0.4, 100);
	add(rows, "sda", "user.slice", 0.6, 200);
	add(rows, "sda", "idle.slice", 0, 0);
	add(rows, "nvme10", "", 2, 100);
	add(rows, "nvme9", "", 3, 100);
	add(rows, "nvme9", "system.slice/DB.service", 3, 100);
	return rows;
}

static void press(TopView *v, const char *keys)
{
	for (; *keys; keys++)
		top_key(v, (unsigned char)*keys);
}

/* "nvme9 nvme9:cgroup sda" is what is shown after these keys. */
static void shows(const char *keys, unsigned long lines, const char *wanted)
{
	_cleanup_json_ json_object *rows = some_rows(), *shown = NULL;
	TopView v = {};
	char text[512] = "";

	press(&v, keys);
	shown = top_arrange(&v, rows, lines);
	for (size_t i = 0; i < json_count(shown); i++) {
		json_object *row = json_object_array_get_idx(shown, i);
		const char *cgroup = json_text(row, "Cgroup");
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%s%s%s", at ? " " : "",
			 json_text(row, "Device"), *cgroup ? ":" : "", cgroup);
	}
	assert_string_equal(text, wanted);
}

#define SDA   "sda sda:user.slice sda:system.slice/db.service"
#define NVME9 "nvme9 nvme9:system.slice/DB.service"

static void keys_choose_the_column_and_the_order(void **state)
{
	(void)state;
	shows("", 100, NVME9 " nvme10 " SDA);
	shows("p", 100, NVME9 " nvme10 " SDA);
	shows("t", 100, SDA " " NVME9 " nvme10");
	shows("tr", 100, NVME9 " nvme10 sda sda:system.slice/db.service sda:user.slice");
	shows("n", 100, NVME9 " nvme10 sda sda:system.slice/db.service sda:user.slice");
	shows("nr", 100, "sda sda:user.slice sda:system.slice/db.service nvme10 " NVME9);
	shows("nrr", 100, NVME9 " nvme10 sda sda:system.slice/db.service sda:user.slice");
	shows(">", 100, SDA " " NVME9 " nvme10");
	shows("<", 100, NVME9 " nvme10 sda sda:system.slice/db.service sda:user.slice");
	shows("XZ\t", 100, NVME9 " nvme10 " SDA);
}

static void a_filter_leaves_what_has_the_text(void **state)
{
	(void)state;
	shows("/db\r", 100, NVME9 " sda sda:system.slice/db.service");
	shows("/db", 100, NVME9 " sda sda:system.slice/db.service");
	shows("/SDA\r", 100, SDA);
	shows("/nvmex\177\r", 100, NVME9 " nvme10");
	shows("/db\033", 100, NVME9 " nvme10 " SDA);
	shows("/db\r\033", 100, NVME9 " nvme10 " SDA);
	shows("/nosuch\r", 100, "");
	shows("/\177\177\r", 100, NVME9 " nvme10 " SDA);
}

static void no_more_lines_than_asked_for(void **state)
{
	(void)state;
	shows("", 1, "nvme9");
	shows("", 4, NVME9 " nvme10 sda");
	shows("", 0, "");
}

static void q_quits_but_is_a_letter_in_a_filter(void **state)
{
	TopView v = {};
	char line[160];

	(void)state;
	press(&v, "/q");
	assert_false(v.quit);
	assert_string_equal(v.filter, "q");
	for (int i = 0; i < 200; i++)
		top_key(&v, 'x');
	assert_int_equal(strlen(v.filter), TOP_FILTER_MAX - 1);
	press(&v, "\rq");
	assert_true(v.quit);
	assert_true(strlen(top_line(&v, line, sizeof(line), 40)) <= 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_choose_the_column_and_the_order),
		cmocka_unit_test(a_filter_leaves_what_has_the_text),
		cmocka_unit_test(no_more_lines_than_asked_for),
		cmocka_unit_test(q_quits_but_is_a_letter_in_a_filter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
