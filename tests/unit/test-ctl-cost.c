/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What status says of the cost of a limit: latencies as they were measured, or as the model has
 * them, and then it says so. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctl/cost.h"

static json_object *device(const char *name, const char *pool, double wait_us, double before_us)
{
	json_object *d = json_object_new_object();

	json_put_text(d, "Name", name);
	json_put_text(d, "Pool", pool);
	json_put_text(d, "Kind", "nvme");
	json_put_number(d, "Throughput", 50);
	json_put_number(d, "FullThroughput", 100);
	json_put_number(d, "P99", 700);
	json_put_number(d, "WaitP99", wait_us);
	json_put_number(d, "WaitP99Before", before_us);
	return d;
}

/* What is printed at 80 columns, where the model says 300 us without a limit. */
static void print(json_object *devices, bool legend, char *buf, size_t size)
{
	_cleanup_json_ json_object *unlimited = json_object_new_array();
	const Ctl c = { .width = 80, .legend = legend };
	const Cost cost = { devices, unlimited };
	FILE *seen = tmpfile();
	int out = dup(STDOUT_FILENO);

	assert_non_null(seen);
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *of = json_object_array_get_idx(devices, i);
		json_object *p = json_object_new_object();

		json_put_text(p, "Name", json_text(of, "Name"));
		json_put_number(p, "P99", 300);
		json_object_array_add(unlimited, p);
	}
	fflush(stdout);
	assert_true(dup2(fileno(seen), STDOUT_FILENO) >= 0);
	cost_print(&c, &cost, 0);
	fflush(stdout);
	assert_true(dup2(out, STDOUT_FILENO) >= 0);
	close(out);
	rewind(seen);
	buf[fread(buf, 1, size - 1, seen)] = '\0';
	fclose(seen);
}

static void a_measured_wait_is_shown_now_and_before_and_the_longest_of_the_pool(void **state)
{
	_cleanup_json_ json_object *devices = json_object_new_array();
	char text[2048];

	(void)state;
	json_object_array_add(devices, device("a", "md0", 16000, 500));
	json_object_array_add(devices, device("b", "md0", 64000, 250));
	print(devices, true, text, sizeof(text));
	assert_non_null(strstr(text, " 64 ms "));
	assert_non_null(strstr(text, " 500 us"));
	assert_null(strchr(text, '~'));
}

static void the_models_latency_is_marked_and_explained(void **state)
{
	_cleanup_json_ json_object *devices = json_object_new_array();
	char text[2048];

	(void)state;
	json_object_array_add(devices, device("a", "", NAN, NAN));
	print(devices, true, text, sizeof(text));
	assert_non_null(strstr(text, " ~700 us "));
	assert_non_null(strstr(text, " ~300 us\n"));
	assert_non_null(strstr(text, "~ by the model, not measured\n"));
	print(devices, false, text, sizeof(text));
	assert_null(strstr(text, "by the model"));
}

static void what_was_not_measured_before_the_limit_is_the_models(void **state)
{
	_cleanup_json_ json_object *devices = json_object_new_array();
	char text[2048];

	(void)state;
	json_object_array_add(devices, device("a", "", 16000, NAN));
	print(devices, true, text, sizeof(text));
	assert_non_null(strstr(text, " 16 ms "));
	assert_non_null(strstr(text, " ~300 us\n"));
}

static void a_class_with_one_measured_device_does_not_show_the_model_of_the_others(void **state)
{
	_cleanup_json_ json_object *devices = json_object_new_array();
	char text[2048];

	(void)state;
	json_object_array_add(devices, device("a", "", 100, 50));
	json_object_array_add(devices, device("b", "", NAN, NAN));
	print(devices, true, text, sizeof(text));
	assert_non_null(strstr(text, " 100 us "));
	assert_non_null(strstr(text, " 50 us\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_measured_wait_is_shown_now_and_before_and_the_longest_of_the_pool),
		cmocka_unit_test(the_models_latency_is_marked_and_explained),
		cmocka_unit_test(what_was_not_measured_before_the_limit_is_the_models),
		cmocka_unit_test(
			a_class_with_one_measured_device_does_not_show_the_model_of_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
