/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"

#define TEN 1795514400 /* 2026-11-24T10:00:00Z */

static SeriesConfig *parse(const char *text, size_t wanted_warnings)
{
	SeriesConfig *c;
	size_t warnings;

	assert_int_equal(series_config_read_text("series.conf", text, &c, &warnings), 0);
	assert_int_equal(warnings, wanted_warnings);
	return c;
}

/* "LIMIT UNIT REASON", one line each */
static void assert_wishes(SeriesConfig *c, time_t now, const char *wanted, time_t wanted_again)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	char got[2000] = "";
	time_t again;

	assert_int_equal(series_wishes(c, now, &wishes, &again), 0);
	assert_int_equal(again, wanted_again);
	for (size_t i = 0; i < wishes.n; i++) {
		const Wish *w = &wishes.list[i];
		size_t n = strlen(got);

		assert_string_equal(w->class, "signal");
		snprintf(got + n, sizeof(got) - n, "%g%s %s\n", w->limit,
			 w->unit == LIMIT_WATTS ? "W" : "%", w->reason);
	}
	assert_string_equal(got, wanted);
}

static char *new_file(const char *text)
{
	char *path = strdup("/tmp/signal-series-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(write_file_atomic(path, text, 0600), 0);
	return path;
}

static void a_limit_holds_from_one_threshold_down_to_the_other(void **state)
{
	_cleanup_free_ char *path =
		new_file("2026-11-24T10:00:00Z 400\n2026-11-24T10:15:00Z 401\n"
			 "2026-11-24T10:30:00Z 351\n2026-11-24T10:45:00Z 600\n"
			 "2026-11-24T11:00:00Z 350\n2026-11-24T11:15:00Z 399\n");
	_cleanup_free_ char *text = text_printf("[carbon]\nfile = %s\nkind = marginal\n"
						"limit = above 400 until 350 70%%\n"
						"limit = above 500 300 W\n",
						path);
	_cleanup_(series_config_freep) SeriesConfig *c = parse(text, 0);

	(void)state;
	series_load(c);
	assert_wishes(c, TEN - 1, "", TEN);
	assert_wishes(c, TEN, "", TEN + 60);
	assert_wishes(c, TEN + 899, "", TEN + 900);
	assert_wishes(c, TEN + 900, "70% marginal carbon intensity 401 g/kWh, above 400\n",
		      TEN + 960);
	assert_wishes(c, TEN + 1800, "70% marginal carbon intensity 351 g/kWh, not yet at 350\n",
		      TEN + 1860);
	assert_wishes(c, TEN + 2700,
		      "70% marginal carbon intensity 600 g/kWh, above 400\n"
		      "300W marginal carbon intensity 600 g/kWh, above 500\n",
		      TEN + 2760);
	assert_wishes(c, TEN + 3600, "", TEN + 3660);
	assert_wishes(c, TEN + 4500, "", TEN + 4560);
	unlink(path);
}

static void what_nobody_knows_any_more_limits_nothing(void **state)
{
	_cleanup_free_ char *path = new_file("1795514400,-20\n1795515300,310.5\n");
	_cleanup_free_ char *text =
		text_printf("[price]\nfile = %s\nunit = EUR/MWh\nlimit = above 300 50%%\n", path);
	_cleanup_(series_config_freep) SeriesConfig *c = parse(text, 0), *later = parse(text, 0);

	(void)state;
	series_load(c);
	assert_wishes(c, TEN, "", TEN + 60);
	assert_wishes(c, TEN + 900, "50% price 310.5 EUR/MWh, above 300\n", TEN + 960);
	/* nonsense and an absence leave what was read */
	assert_int_equal(write_file_atomic(path, "1795515300 310\nnonsense\n", 0600), 0);
	series_load(c);
	unlink(path);
	series_load(c);
	assert_wishes(c, TEN + 900 + 86399, "50% price 310.5 EUR/MWh, above 300\n",
		      TEN + 900 + 86459);
	assert_wishes(c, TEN + 900 + 86400, "", TEN + 900 + 86460);
	series_load(later);
	assert_wishes(later, TEN + 900, "", TEN + 960);
}

static void what_is_open_stays_so_over_a_reload(void **state)
{
	_cleanup_free_ char *path = new_file("1795514400 450\n1795515300 380\n");
	_cleanup_free_ char *text =
		text_printf("[carbon]\nfile = %s\nlimit = above 400 until 350 70%%\n", path);
	_cleanup_(series_config_freep) SeriesConfig *c = parse(text, 0), *next = parse(text, 0);

	(void)state;
	series_load(c);
	assert_wishes(c, TEN, "70% average carbon intensity 450 g/kWh, above 400\n", TEN + 60);
	series_take_over(next, c);
	series_load(next);
	assert_wishes(next, TEN + 900, "70% average carbon intensity 380 g/kWh, not yet at 350\n",
		      TEN + 960);
	unlink(path);
}

static void what_is_wrong_is_counted_and_left_out(void **state)
{
	_cleanup_(series_config_freep) SeriesConfig *c = parse("[carbon]\n"
							       "file = carbon.csv\n"
							       "kind = green\n"
							       "unit = g\n"
							       "limit = 400 70%\n"
							       "limit = above 400\n"
							       "limit = above 400 until 500 70%\n"
							       "limit = above 400 until 70%\n"
							       "limit = above 400 70\n"
							       "limit = above 400 70% now\n"
							       "limit = above 400 70%\n"
							       "limit = above 400 70%\n"
							       "[sun]\n",
							       12);

	(void)state;
	assert_null(c->of[SERIES_CARBON].file);
	assert_int_equal(c->of[SERIES_CARBON].n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_holds_from_one_threshold_down_to_the_other),
		cmocka_unit_test(what_nobody_knows_any_more_limits_nothing),
		cmocka_unit_test(what_is_open_stays_so_over_a_reload),
		cmocka_unit_test(what_is_wrong_is_counted_and_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
