/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What storpowerctl model reads itself: workloads and node files; and what it draws. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/model-curve.h"
#include "ctl/node-file.h"
#include "ctl/table.h"

static char folder[] = "/tmp/storpower-model-XXXXXX";

static int make_folder(void **state)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)state;
	/* complaints are not what is looked at here */
	if (null < 0 || dup2(null, STDERR_FILENO) < 0)
		return -1;
	close(null);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static int parse(const char *workload, Mix *ret)
{
	Ctl c = { .model.workload = workload };

	return model_workload(&c, ret);
}

static void every_word_of_a_workload_is_read(void **state)
{
	Mix mix;

	(void)state;
	assert_int_equal(parse("read=25% random=50% chunk=128K depth=8", &mix), STATUS_OK);
	assert_true(mix.read_share == 0.25 && mix.random_share == 0.5);
	assert_true(mix.read_kib == 128 && mix.write_kib == 128 && mix.depth == 8);
	assert_int_equal(parse("depth=1,read=0%", &mix), STATUS_OK);
	assert_true(mix.depth == 1 && mix.read_share == 0);
}

static void what_is_not_said_is_as_of_a_workload_that_nobody_has_seen(void **state)
{
	const Mix unknown = MIX_UNKNOWN;
	Mix mix;

	(void)state;
	assert_int_equal(parse(NULL, &mix), STATUS_OK);
	assert_memory_equal(&mix, &unknown, sizeof(mix));
	assert_int_equal(parse("read=10%", &mix), STATUS_OK);
	assert_true(mix.random_share == unknown.random_share && mix.depth == unknown.depth);
}

static void a_word_that_makes_no_sense_is_wrong_usage(void **state)
{
	static const char *const wrong[] = { "read",        "read=",    "read=7",    "read=101%",
					     "read=-1%",    "chunk=0",  "chunk=1G",  "depth=0",
					     "depth=1.5",   "depth=x",  "write=30%", "=5",
					     "random=nan%", "chunk=16X" };
	Mix mix;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(parse(wrong[i], &mix), STATUS_USAGE);
}

static void a_workload_is_told_in_words(void **state)
{
	Mix mix = { 0.3, 1, 16, 128, 4, NULL };
	char text[256];

	(void)state;
	assert_string_equal(model_workload_text(text, sizeof(text), &mix),
			    "30 % reads, all random, reads of 16.0 KiB, writes of 128 KiB, "
			    "4 outstanding");
	mix = (Mix){ 0, 0, 16, 256, 64, NULL };
	assert_string_equal(model_workload_text(text, sizeof(text), &mix),
			    "no reads, no random, 256 KiB, 64 outstanding");
}

static int read_node(const char *text, NodeFile **ret)
{
	_cleanup_free_ char *path = text_printf("%s/test.node", folder);
	FILE *f = path ? fopen(path, "we") : NULL;
	int r;

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	r = node_file_read(path, ret);
	unlink(path);
	return r;
}

static void profiles_and_counts_of_a_node_are_read_and_nothing_else(void **state)
{
	_cleanup_(node_file_freep) NodeFile *f = NULL;

	(void)state;
	assert_int_equal(read_node("[node]\nname = x\n[workload w]\nread = 10%\n"
				   "[devices a]\nprofile = p\ncount = 6\nread = 5%\n"
				   "[sensor s]\nof = node\n[devices b]\nprofile = q\n"
				   "[fault]\ndevice = a\n[fault]\ndevice = b\n",
				   &f),
			 0);
	assert_int_equal(f->n, 2);
	assert_string_equal(f->devices[0].name, "a");
	assert_string_equal(f->devices[0].profile, "p");
	assert_int_equal(f->devices[0].count, 6);
	assert_string_equal(f->devices[1].profile, "q");
	assert_int_equal(f->devices[1].count, 1);
}

static void every_shipped_node_is_read(void **state)
{
	static const char *const nodes[] = { "archive", "case-study", "flash",
					     "mixed",   "tiny",       "untrue" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
		_cleanup_free_ char *path = text_printf("policies/nodes/%s.node", nodes[i]);
		_cleanup_(node_file_freep) NodeFile *f = NULL;

		assert_int_equal(node_file_read(path, &f), 0);
		assert_true(f->n > 0);
	}
}

static void a_node_that_cannot_be_used_is_refused(void **state)
{
	static const char *const wrong[] = { "[node]\nname = x\n", "[devices a]\ncount = 2\n",
					     "[devices a]\nprofile = p\ncount = 0\n",
					     "[devices a]\nprofile = p\ncount = many\n", "" };
	NodeFile *f = NULL;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(read_node(wrong[i], &f), -EINVAL);
	assert_int_equal(node_file_read("/nonexistent.node", &f), -ENOENT);
	assert_null(f);
}

static json_object *candidate(double watts, double mb_s)
{
	json_object *o = json_object_new_object();

	json_put_number(o, "ExpectedPower", watts);
	json_put_number(o, "Throughput", mb_s);
	json_put_number(o, "Error", 0.1);
	return o;
}

static json_object *frontier_of_two(void)
{
	json_object *o = json_object_new_object(), *all = json_object_new_array();
	json_object *present = json_object_new_object();

	json_object_array_add(all, candidate(5, 100));
	json_object_array_add(all, candidate(10, 400));
	json_put_number(present, "RatedPower", 10.5);
	model_put_mix(present, &MIX_UNKNOWN);
	json_object_object_add(o, "Present", present);
	json_object_object_add(o, "Candidates", all);
	return o;
}

/* Between two settings there is none: the line goes up where the better one begins. */
static void the_line_steps_from_setting_to_setting(void **state)
{
	_cleanup_json_ json_object *o = frontier_of_two();
	_cleanup_(model_curve_done) ModelCurve c = {};

	(void)state;
	model_curve_make(o, NULL, &c);
	assert_int_equal(c.n, 3);
	assert_true(c.line[0].watts == 5 && c.line[0].mb_s == 100);
	assert_true(c.line[1].watts == 10 && c.line[1].mb_s == 100);
	assert_true(c.line[2].watts == 10 && c.line[2].mb_s == 400);
}

static void a_paced_setting_is_a_slope(void **state)
{
	_cleanup_json_ json_object *o = frontier_of_two();
	_cleanup_(model_curve_done) ModelCurve c = {};
	json_object *first = json_object_array_get_idx(json_member(o, "Candidates"), 0);

	(void)state;
	json_put_flag(first, "Paced", true);
	json_put_number(first, "ExpectedPowerHigh", 8);
	json_put_number(first, "ThroughputHigh", 300);
	model_curve_make(o, NULL, &c);
	assert_true(c.line[1].watts == 8 && c.line[1].mb_s == 300);
}

static void the_drawing_holds_the_line_its_error_and_what_is_now(void **state)
{
	_cleanup_json_ json_object *o = frontier_of_two();
	_cleanup_(model_curve_done) ModelCurve c = {};
	json_object *present = json_member(o, "Present");

	(void)state;
	model_curve_make(o, NULL, &c);
	assert_true(isnan(c.now.watts) && isnan(c.planned.watts));
	assert_float_equal(c.from_w, 4.5, 1e-9);
	assert_float_equal(c.to_w, 10.5, 1e-9); /* not above what it is rated at */
	assert_true(c.most_mb_s >= 400);
	json_put_number(present, "Power", 2);
	json_put_number(present, "Throughput", 900);
	model_curve_make(o, NULL, &c);
	assert_true(c.from_w == 2 && c.most_mb_s >= 900 && c.now.mb_s == 900);
}

static void points_of_the_profile_are_those_of_such_io(void **state)
{
	_cleanup_json_ json_object *o = frontier_of_two();
	_cleanup_(model_curve_done) ModelCurve c = {};
	Point points[] = {
		{ .direction = READ_IO, .pattern = RANDOM_IO, .watts = 6, .mb_s = 150 },
		{ .direction = READ_IO, .pattern = SEQUENTIAL_IO, .watts = 6, .mb_s = 150 },
		{ .direction = WRITE_IO, .pattern = RANDOM_IO, .watts = 6, .mb_s = 5000 },
	};
	Profile p = { .points = points, .n_points = ELEMENTSOF(points) };

	(void)state;
	model_curve_make(o, &p, &c);
	assert_int_equal(c.n_points, 1);
	assert_int_equal(c.n_outside, 1);
	assert_true(c.points[0].mb_s == 150);
}

/* One width of a terminal after the other: what may go goes in its order, and no line is wider. */
static void tables_leave_out_columns_in_order_until_they_fit(void **state)
{
	static const char *const columns[] = { "FIRST", ">SECOND", "THIRD", "FOURTH", NULL };
	static const struct {
		size_t width;
		const char *header;
	} wanted[] = { { 40, "FIRST  SECOND  FOURTH\n" },
		       { 20, "FIRST  FOURTH\n" },
		       { 10, "FIRST\n" } };
	char line[128];

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wanted); i++) {
		Table *t = table_new(columns);
		Ctl c = { .width = wanted[i].width, .legend = true };
		FILE *file = tmpfile();
		int saved = dup(STDOUT_FILENO);

		assert_true(file && saved >= 0);
		table_row(t, "a", "b", "", "d");
		table_may_drop(t, &c, "2 1 3"); /* the third says nothing */
		fflush(stdout);
		dup2(fileno(file), STDOUT_FILENO);
		table_print(t, &c);
		fflush(stdout);
		dup2(saved, STDOUT_FILENO);
		close(saved);
		rewind(file);
		assert_non_null(fgets(line, sizeof(line), file));
		assert_string_equal(line, wanted[i].header);
		fclose(file);
		table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_of_a_workload_is_read),
		cmocka_unit_test(what_is_not_said_is_as_of_a_workload_that_nobody_has_seen),
		cmocka_unit_test(a_word_that_makes_no_sense_is_wrong_usage),
		cmocka_unit_test(a_workload_is_told_in_words),
		cmocka_unit_test(profiles_and_counts_of_a_node_are_read_and_nothing_else),
		cmocka_unit_test(every_shipped_node_is_read),
		cmocka_unit_test(a_node_that_cannot_be_used_is_refused),
		cmocka_unit_test(the_line_steps_from_setting_to_setting),
		cmocka_unit_test(a_paced_setting_is_a_slope),
		cmocka_unit_test(the_drawing_holds_the_line_its_error_and_what_is_now),
		cmocka_unit_test(points_of_the_profile_are_those_of_such_io),
		cmocka_unit_test(tables_leave_out_columns_in_order_until_they_fit),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
