/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/braille.h"

#define COLUMNS 4
#define ROWS    2

static Canvas *canvas;

static int set_up(void **state)
{
	(void)state;
	canvas = canvas_new(COLUMNS, ROWS);
	return canvas ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	canvas = canvas_free(canvas);
	return 0;
}

static void assert_rows(const char *top, const char *bottom)
{
	char buf[4 * COLUMNS + 1];

	assert_string_equal(canvas_row(canvas, 0, buf, sizeof(buf)), top);
	assert_string_equal(canvas_row(canvas, 1, buf, sizeof(buf)), bottom);
}

static void an_empty_canvas_is_blank(void **state)
{
	(void)state;
	assert_rows("    ", "    ");
}

static void the_corners_are_the_outermost_dots(void **state)
{
	(void)state;
	canvas_line(canvas, 0, 0, 0, 0, 1);
	canvas_line(canvas, 1, 0, 1, 0, 1);
	canvas_line(canvas, 0, 1, 0, 1, 1);
	canvas_line(canvas, 1, 1, 1, 1, 1);
	assert_rows("⠁  ⠈", "⡀  ⢀");
}

static void lines_have_no_gaps(void **state)
{
	(void)state;
	canvas_line(canvas, 0, 0, 1, 0, 1);
	canvas_line(canvas, 0, 0, 0, 1, 1);
	assert_rows("⡇   ", "⣇⣀⣀⣀");
}

static void a_line_goes_both_ways_alike(void **state)
{
	char there[4 * COLUMNS + 1], back[4 * COLUMNS + 1];
	Canvas *other = canvas_new(COLUMNS, ROWS);

	(void)state;
	assert_non_null(other);
	canvas_line(canvas, 0, 0, 1, 1, 1);
	canvas_line(other, 1, 1, 0, 0, 1);
	for (size_t row = 0; row < ROWS; row++)
		assert_string_equal(canvas_row(canvas, row, there, sizeof(there)),
				    canvas_row(other, row, back, sizeof(back)));
	canvas_free(other);
}

static void of_a_dotted_line_one_dot_in_so_many_is_set(void **state)
{
	(void)state;
	canvas_line(canvas, 0, 0, 1, 0, 4);
	assert_rows("    ", "⡀ ⡀⢀");
}

static void a_mark_stands_in_place_of_the_dots(void **state)
{
	(void)state;
	canvas_line(canvas, 0, 0, 1, 0, 1);
	canvas_mark(canvas, 0, 0, "×");
	canvas_mark(canvas, 0, 0, "●");
	canvas_mark(canvas, 1, 1, "◆");
	assert_rows("   ◆", "●⣀⣀⣀");
}

static void what_lies_outside_is_cut_off(void **state)
{
	(void)state;
	canvas_mark(canvas, 1.2, 0.5, "×");
	canvas_mark(canvas, 0.5, -0.1, "×");
	canvas_mark(canvas, NAN, 0.5, "×");
	canvas_line(canvas, -1, 2, 3, 2, 1);
	assert_rows("    ", "    ");
	canvas_line(canvas, -1, 0, 2, 0, 1);
	assert_rows("    ", "⣀⣀⣀⣀");
}

static void a_row_never_leaves_its_buffer(void **state)
{
	char buf[8];

	(void)state;
	canvas_line(canvas, 0, 0, 1, 0, 1);
	memset(buf, 'x', sizeof(buf));
	canvas_row(canvas, 1, buf, sizeof(buf) - 1);
	assert_string_equal(buf, "⣀⣀");
	assert_int_equal(buf[7], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_canvas_is_blank, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_corners_are_the_outermost_dots, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(lines_have_no_gaps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_goes_both_ways_alike, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_a_dotted_line_one_dot_in_so_many_is_set, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_mark_stands_in_place_of_the_dots, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_lies_outside_is_cut_off, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_row_never_leaves_its_buffer, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
