/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-meter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "signal/openadr-json.h"
#include "signal/openadr-page.h"
#include "signal/openadr-reports.h"
#include "signal/openadr-token.h"

#define TEN 1795514400 /* 2026-11-24T10:00:00Z */

static const char two_intervals[] =
	"[{\"id\":\"e1\",\"programID\":\"p\",\"reportDescriptors\":[{\"payloadType\":\"USAGE\"},"
	"{\"payloadType\":\"DEMAND\"},{\"payloadType\":\"READING\"}],\"intervalPeriod\":"
	"{\"start\":\"2026-11-24T10:00:00Z\",\"duration\":\"PT15M\"},\"intervals\":["
	"{\"id\":7,\"payloads\":[]},{\"id\":8,\"payloads\":[]}]},{\"id\":\"silent\"}]";

typedef struct Fixture {
	OpenadrConfig *config;
	OpenadrEvents events;
	OpenadrMeters meters;
	char complaints[300];
	OpenadrPrograms programs;
} Fixture;

static void hear(void *userdata, const char *words)
{
	Fixture *f = userdata;

	snprintf(f->complaints, sizeof(f->complaints), "%s", words);
}

static int set_up(void **state)
{
	Fixture *f = calloc(1, sizeof(*f));
	size_t n;

	assert_int_equal(
		openadr_config_read_text("openadr.conf", "[vtn]\nven = node1\n", &f->config, &n),
		0);
	assert_int_equal(openadr_page_events(two_intervals, f->config, &f->programs, &f->events,
					     hear, f, &n),
			 0);
	assert_int_equal(n, 2);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	Fixture *f = *state;

	openadr_config_free(f->config);
	openadr_programs_done(&f->programs);
	openadr_events_done(&f->events);
	openadr_meters_done(&f->meters);
	free(f);
	return 0;
}

static char **take(Fixture *f, int64_t now, double joules)
{
	char **reports = NULL;

	assert_int_equal(
		openadr_meters_take(&f->meters, f->config, &f->events, now, joules, &reports), 0);
	assert_false(openadr_meters_due(&f->meters, f->config, &f->events, now));
	return reports;
}

static bool due(const Fixture *f, int64_t now)
{
	return openadr_meters_due(&f->meters, f->config, &f->events, now);
}

static void an_interval_is_reported_when_it_is_over(void **state)
{
	Fixture *f = *state;
	_cleanup_(strv_freep) char **reports = NULL;

	assert_false(due(f, TEN - 1));
	assert_true(due(f, TEN));
	assert_null(take(f, TEN, 1000));
	assert_false(due(f, TEN + 899));
	assert_true(due(f, TEN + 900));
	reports = take(f, TEN + 900, 1000 + 900 * 50);
	assert_int_equal(strv_length(reports), 1);
	assert_string_equal(
		reports[0],
		"{\"objectType\":\"REPORT\",\"programID\":\"p\",\"eventID\":\"e1\",\"clientName\":\"node1\","
		"\"payloadDescriptors\":[{\"payloadType\":\"USAGE\",\"units\":\"KWH\",\"readingType\":"
		"\"SUMMED\"},{\"payloadType\":\"DEMAND\",\"units\":\"KW\",\"readingType\":\"MEAN\"}],"
		"\"resources\":[{\"resourceName\":\"node1\",\"intervalPeriod\":{\"start\":"
		"\"2026-11-24T10:00:00Z\",\"duration\":\"PT900S\"},\"intervals\":[{\"id\":7,\"payloads\":["
		"{\"type\":\"USAGE\",\"values\":[0.0125]},{\"type\":\"DEMAND\",\"values\":[0.05]}]}]}]}");
	strv_free(reports);
	reports = take(f, TEN + 1800, 1000 + 900 * 150);
	assert_non_null(strstr(reports[0], "\"id\":8"));
	assert_non_null(strstr(reports[0], "\"values\":[0.1]"));
	assert_false(due(f, TEN + 1801));
	assert_int_equal(f->meters.n, 0);
}

static void what_was_announced_late_is_reported_as_far_as_it_was_measured(void **state)
{
	Fixture *f = *state;
	_cleanup_(strv_freep) char **reports = NULL;

	assert_null(take(f, TEN + 600, 0));
	reports = take(f, TEN + 901, 301);
	assert_non_null(
		strstr(reports[0], "\"start\":\"2026-11-24T10:10:00Z\",\"duration\":\"PT301S\""));
	assert_non_null(strstr(reports[0], "\"DEMAND\",\"values\":[0.001]"));
}

static void what_nobody_can_know_is_not_reported(void **state)
{
	Fixture *f = *state;

	/* another account */
	assert_null(take(f, TEN, 1000));
	assert_null(take(f, TEN + 900, 10));
	/* withdrawn */
	openadr_events_done(&f->events);
	assert_true(due(f, TEN + 901));
	assert_null(take(f, TEN + 901, 20));
	assert_int_equal(f->meters.n, 0);
}

static void nothing_is_reported_to_whom_it_is_not_wanted(void **state)
{
	Fixture *f = *state;

	f->config->reports = false;
	assert_false(due(f, TEN));
}

static void of_many_reports_that_wait_the_oldest_is_given_up(void **state)
{
	OpenadrReports r = { 0 };
	char text[32];

	(void)state;
	assert_null(openadr_reports_first(&r));
	openadr_reports_drop_first(&r);
	for (int i = 0; i <= OPENADR_REPORTS_MAX; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_int_equal(openadr_reports_add(&r, text, false), 0);
	}
	assert_int_equal(strv_length(r.list), OPENADR_REPORTS_MAX);
	assert_string_equal(openadr_reports_first(&r), "1");
	/* one that is on its way stays the first, as its receipt is for the first */
	assert_int_equal(openadr_reports_add(&r, "last", true), 0);
	assert_int_equal(strv_length(r.list), OPENADR_REPORTS_MAX);
	assert_string_equal(r.list[0], "1");
	assert_string_equal(r.list[1], "3");
	openadr_reports_drop_first(&r);
	assert_string_equal(openadr_reports_first(&r), "3");
	assert_string_equal(r.list[OPENADR_REPORTS_MAX - 2], "last");
	openadr_reports_done(&r);
	assert_null(openadr_reports_first(&r));
}

static void a_report_is_kept_where_it_may_be_taken_later(void **state)
{
	static const long settled[] = { 200, 201, 204, 400, 403, 404, 409, 422 };
	static const long kept[] = { 301, 401, 408, 425, 429, 500, 503 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(settled); i++)
		assert_true(openadr_report_is_settled(settled[i]));
	for (size_t i = 0; i < ELEMENTSOF(kept); i++)
		assert_false(openadr_report_is_settled(kept[i]));
}

static void a_page_that_is_no_list_is_refused(void **state)
{
	Fixture *f = *state;
	size_t n;

	assert_int_equal(
		openadr_page_events("{}", f->config, &f->programs, &f->events, hear, f, &n),
		-EBADMSG);
	assert_int_equal(
		openadr_page_events("<html>", f->config, &f->programs, &f->events, hear, f, &n),
		-EBADMSG);
	assert_int_equal(openadr_page_events("", f->config, &f->programs, &f->events, hear, f, &n),
			 -EBADMSG);
	assert_int_equal(openadr_page_programs("7", f->config, &f->programs, &n), -EBADMSG);
	assert_int_equal(f->events.n, 2);
	assert_int_equal(
		openadr_page_events("[5]", f->config, &f->programs, &f->events, hear, f, &n), 0);
	assert_string_equal(f->complaints, "event without an id: id: expected a text");
}

static void programs_are_known_by_name_or_id(void **state)
{
	Fixture *f = *state;
	size_t n;

	assert_int_equal(strv_add(&f->config->programs, "shed"), 0);
	assert_int_equal(strv_add(&f->config->programs, "id3"), 0);
	assert_int_equal(openadr_page_programs("[{\"id\":\"id1\",\"programName\":\"shed\"},"
					       "{\"id\":\"id2\",\"programName\":\"other\"},"
					       "{\"id\":\"id3\"},{\"programName\":\"shed\"}]",
					       f->config, &f->programs, &n),
			 0);
	assert_int_equal(n, 4);
	assert_int_equal(strv_length(f->programs.ids), 2);
	assert_string_equal(f->programs.ids[0], "id1");
	assert_string_equal(f->programs.ids[1], "id3");
}

static void units_are_those_of_the_program_unless_the_event_has_its_own(void **state)
{
	static const char limit[] =
		"\"intervalPeriod\":{\"start\":\"2026-11-24T10:00:00Z\","
		"\"duration\":\"PT15M\"},\"intervals\":[{\"id\":0,\"payloads\":[{\"type\":"
		"\"IMPORT_CAPACITY_LIMIT\",\"values\":[500]}]}]";
	static const struct {
		const char *program, *more;
		double watts;
	} cases[] = {
		{ "inwatts", "", 500 },
		{ "other", "", 500e3 },
		{ "inwatts", "\"payloadDescriptors\":[{\"payloadType\":\"SIMPLE\"}],", 500 },
		{ "inwatts",
		  "\"payloadDescriptors\":[{\"payloadType\":\"IMPORT_CAPACITY_LIMIT\","
		  "\"units\":\"KW\"}],",
		  500e3 },
	};
	Fixture *f = *state;
	size_t n;

	assert_int_equal(openadr_page_programs(
				 "[{\"id\":\"inwatts\",\"payloadDescriptors\":[{\"payloadType\":"
				 "\"IMPORT_CAPACITY_LIMIT\",\"units\":\"W\"}]},"
				 "{\"id\":\"inamperes\",\"payloadDescriptors\":[{\"payloadType\":"
				 "\"IMPORT_CAPACITY_LIMIT\",\"units\":\"AMP\"}]}]",
				 f->config, &f->programs, &n),
			 0);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *page =
			text_printf("[{\"id\":\"e\",\"programID\":\"%s\",%s%s}]", cases[i].program,
				    cases[i].more, limit);
		size_t before = f->events.n;

		assert_int_equal(
			openadr_page_events(page, f->config, &f->programs, &f->events, hear, f, &n),
			0);
		assert_int_equal(f->events.n, before + 1);
		assert_true(f->events.list[before].intervals[0].values[OPENADR_LIMIT] ==
			    cases[i].watts);
	}
	assert_int_equal(openadr_page_events("[{\"id\":\"e\",\"programID\":\"inamperes\"}]",
					     f->config, &f->programs, &f->events, hear, f, &n),
			 0);
	assert_string_equal(f->complaints, "event e: its program's payloadDescriptors[0].units: "
					   "expected KW or W, but it is \"AMP\"");
}

static void a_token_is_renewed_before_it_expires(void **state)
{
	OpenadrToken t = { 0 };
	_cleanup_free_ char *form = openadr_token_form("me", "s&c=t ", "read all");

	(void)state;
	assert_string_equal(form, "grant_type=client_credentials&client_id=me&client_secret="
				  "s%26c%3Dt%20&scope=read%20all");
	assert_int_equal(
		openadr_token_parse("{\"access_token\":\"abc\",\"expires_in\":100}", 5, &t), 0);
	assert_string_equal(t.text, "abc");
	assert_int_equal(t.until_us, 5 + 90 * USEC_PER_SEC);
	free(t.text);
	assert_int_equal(openadr_token_parse("{\"access_token\":\"a\\r\\nb: c\"}", 5, &t),
			 -EBADMSG);
	assert_int_equal(openadr_token_parse("{\"error\":\"invalid_client\"}", 5, &t), -EBADMSG);
	assert_int_equal(openadr_token_parse("no", 5, &t), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
		TEST(an_interval_is_reported_when_it_is_over),
		TEST(what_was_announced_late_is_reported_as_far_as_it_was_measured),
		TEST(what_nobody_can_know_is_not_reported),
		TEST(nothing_is_reported_to_whom_it_is_not_wanted),
		cmocka_unit_test(of_many_reports_that_wait_the_oldest_is_given_up),
		cmocka_unit_test(a_report_is_kept_where_it_may_be_taken_later),
		TEST(a_page_that_is_no_list_is_refused),
		TEST(programs_are_known_by_name_or_id),
		TEST(units_are_those_of_the_program_unless_the_event_has_its_own),
		cmocka_unit_test(a_token_is_renewed_before_it_expires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
