/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/span.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"

/* told by its rules, which need no file */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* "2026-03-29T02:30:00Z" */
static time_t at(const char *utc)
{
	struct tm tm = { 0 };

	assert_non_null(strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &tm));
	return timegm(&tm);
}

static Span parse(const char *text)
{
	const char *why;
	Span s;

	assert_int_equal(span_parse(text, &s, &why), 0);
	return s;
}

static void assert_time(time_t got, const char *wanted, const char *of)
{
	char text[32];
	struct tm tm;

	gmtime_r(&got, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!streq(text, wanted))
		fail_msg("%s: got %s, wanted %s", of, text, wanted);
}

static void what_is_no_span_is_refused_and_it_is_said_what_would_be_right(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "a span is" },
		{ "Mon..Fry 07:00..19:00", "weekdays are" },
		{ "Fri..Mon 07:00..19:00", "weekdays are" },
		{ "Mon, 07:00..19:00", "weekdays are" },
		{ "Mo 07:00..19:00", "weekdays are" },
		{ "07:00", "a span of time" },
		{ "07:00..07:00", "a span of time" },
		{ "07:00..25:00", "a span of time" },
		{ "07:00..24:01", "a span of time" },
		{ "24:00..07:00", "a span of time" },
		{ "07:0..08:00", "a span of time" },
		{ "07:00..08:60", "a span of time" },
		{ "07:00:00:00..08:00", "a span of time" },
		{ "*-13-01", "a date is" },
		{ "*-12-00", "a date is" },
		{ "*-12-32", "a date is" },
		{ "24..26", "a date is" },
		{ "*-12-26..24", "a date is" },
		{ "12-24-2026-1", "a date is" },
		{ "07:00..08:00 Mon", "a span is" },
		{ "Mon Tue", "a span is" },
		{ "07:00..08:00 09:00..10:00", "a span is" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const char *why = "";
		Span s;

		if (span_parse(cases[i].text, &s, &why) != -EINVAL)
			fail_msg("\"%s\" is taken", cases[i].text);
		if (strncmp(why, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("\"%s\": %s", cases[i].text, why);
	}
}

/* Berlin: +1, from 2026-03-29 to 2026-10-25 +2. 2026-11-23 is a Monday. */
static void a_span_holds_as_the_table_says_over_midnight_and_changes_of_the_clock(void **state)
{
	static const struct {
		const char *text, *now, *change;
		bool holds;
	} cases[] = {
		{ "Mon..Fri 07:00..19:00", "2026-11-23T05:59:59Z", "2026-11-23T06:00:00Z", false },
		{ "Mon..Fri 07:00..19:00", "2026-11-23T06:00:00Z", "2026-11-23T18:00:00Z", true },
		{ "Mon..Fri 07:00..19:00", "2026-11-23T17:59:59Z", "2026-11-23T18:00:00Z", true },
		{ "Mon..Fri 07:00..19:00", "2026-11-23T18:00:00Z", "2026-11-24T06:00:00Z", false },
		{ "Mon..Fri 07:00..19:00", "2026-11-22T12:00:00Z", "2026-11-23T06:00:00Z", false },
		{ "friday 22:00..06:00", "2026-11-27T21:00:00Z", "2026-11-28T05:00:00Z", true },
		{ "Fri 22:00..06:00", "2026-11-28T04:59:59Z", "2026-11-28T05:00:00Z", true },
		{ "Fri 22:00..06:00", "2026-11-27T04:00:00Z", "2026-11-27T21:00:00Z", false },
		{ "Sat,Sun", "2026-11-27T23:00:00Z", "2026-11-28T23:00:00Z", true },
		{ "Sat,Sun", "2026-11-29T22:59:59Z", "2026-11-29T23:00:00Z", true },
		{ "Sat,Sun", "2026-11-29T23:00:00Z", NULL, false },
		{ "12-24..26", "2026-12-24T10:00:00Z", "2026-12-24T23:00:00Z", true },
		{ "2027-12-24", "2026-12-24T10:00:00Z", NULL, false },
		{ "2026..2027-*-24 8:00..24:00", "2026-12-24T07:00:00Z", "2026-12-24T23:00:00Z",
		  true },
		{ "Wed *-11-25 10:00:05..10:00:07", "2026-11-25T09:00:06Z", "2026-11-25T09:00:07Z",
		  true },
		/* the clocks go forward: the hour from 2 to 3 is left out */
		{ "01:00..04:00", "2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z", true },
		{ "02:30..05:00", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", false },
		{ "02:30..05:00", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00Z", true },
		{ "02:10..02:50", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", false },
		{ "02:10..02:50", "2026-03-29T01:00:00Z", "2026-03-30T00:10:00Z", false },
		{ "22:00..02:30", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z", true },
		{ "Sun", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", true },
		/* and back: the hour from 2 to 3 comes twice */
		{ "01:00..04:00", "2026-10-24T23:00:00Z", "2026-10-25T03:00:00Z", true },
		{ "02:30..05:00", "2026-10-25T00:29:59Z", "2026-10-25T00:30:00Z", false },
		{ "02:30..05:00", "2026-10-25T01:10:00Z", "2026-10-25T04:00:00Z", true },
		{ "02:10..02:50", "2026-10-25T00:20:00Z", "2026-10-25T00:50:00Z", true },
		{ "02:10..02:50", "2026-10-25T01:20:00Z", "2026-10-26T01:10:00Z", false },
		{ "Sun", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", true },
	};

	(void)state;
	set_zone(BERLIN);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		Span s = parse(cases[i].text);
		time_t change;

		if (span_holds(&s, at(cases[i].now), &change) != cases[i].holds)
			fail_msg("%s at %s: wrong", cases[i].text, cases[i].now);
		if (cases[i].change)
			assert_time(change, cases[i].change, cases[i].text);
		else
			assert_true(change > at(cases[i].now) + 86400);
	}
}

/* Whatever is promised of the next change is what is found by looking at each quarter of an hour.
 */
static void between_two_changes_nothing_changes(void **state)
{
	static const char *const zones[] = { BERLIN, "EST5EDT,M3.2.0,M11.1.0",
					     "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
					     "<+0545>-5:45" };
	static const char *const spans[] = { "Mon..Fri 07:00..19:00", "Sat 22:15..06:45",
					     "02:00..02:30", "*-*-1,31 00:00..24:00",
					     "23:30..00:15" };

	(void)state;
	for (size_t z = 0; z < ELEMENTSOF(zones); z++) {
		set_zone(zones[z]);
		for (size_t i = 0; i < ELEMENTSOF(spans); i++) {
			Span s = parse(spans[i]);
			time_t t = at("2026-01-01T00:00:00Z"), change = t;
			bool held = span_holds(&s, t, &change);

			for (; t < at("2027-01-01T00:00:00Z"); t += 900) {
				time_t next;
				bool holds = span_holds(&s, t, &next);

				if (holds != held && t < change)
					fail_msg("%s in %s: a change at %ld was not promised",
						 spans[i], zones[z], (long)t);
				held = holds;
				change = next;
			}
		}
	}
}

static bool ask_systemd(const char *span_start, const char *base, char *buf, size_t size)
{
	_cleanup_free_ char *command = text_printf(
		"systemd-analyze calendar --base-time='%s' '%s' 2>/dev/null | "
		"sed -n 's/.*(in UTC): [A-Z][a-z]* //p; s/.*Next elapse: [A-Z][a-z]* \\(.* UTC\\)$/\\1/p'",
		base, span_start);
	FILE *f = popen(command, "r");
	bool got = f && fgets(buf, (int)size, f);

	if (f)
		pclose(f);
	return got;
}

static void spans_start_when_systemd_says(void **state)
{
	static const char *const starts[] = { "Mon..Fri 07:00",    "Sat 22:15",
					      "*-*-28,31 06:30",   "Sun",
					      "*-03-29..30 01:59", "Tuesday *-*-* 23:59:59" };
	static const char *const bases[] = { "2026-03-27 12:00:00 UTC", "2026-10-23 12:00:00 UTC",
					     "2026-12-30 23:30:00 UTC" };
	size_t compared = 0;

	(void)state;
	if (access("/usr/bin/systemd-analyze", X_OK) < 0) {
		print_message("systemd-analyze is missing: packaging/deps --dev installs it\n");
		skip();
	}
	set_zone(BERLIN);
	for (size_t i = 0; i < ELEMENTSOF(starts) * ELEMENTSOF(bases); i++) {
		const char *start = starts[i / ELEMENTSOF(bases)],
			   *base = bases[i % ELEMENTSOF(bases)];
		_cleanup_free_ char *text =
			strchr(start, ':') ? text_printf("%s..24:00", start) : strdup(start);
		Span s = parse(text);
		struct tm tm = { 0 };
		time_t t, change;
		char said[64];

		strptime(base, "%Y-%m-%d %H:%M:%S", &tm);
		t = timegm(&tm);
		/* systemd tells of starts alone */
		for (bool held = true;; t = change) {
			bool holds = span_holds(&s, t, &change);

			if (holds && !held)
				break;
			held = holds;
			change = MIN(change, t + 86400);
		}
		assert_true(ask_systemd(start, base, said, sizeof(said)));
		memset(&tm, 0, sizeof(tm));
		assert_non_null(strptime(said, "%Y-%m-%d %H:%M:%S UTC", &tm));
		if (timegm(&tm) != t)
			fail_msg("%s after %s: %ld, but systemd says %s", start, base, (long)t,
				 said);
		compared++;
	}
	assert_int_equal(compared, ELEMENTSOF(starts) * ELEMENTSOF(bases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_span_is_refused_and_it_is_said_what_would_be_right),
		cmocka_unit_test(
			a_span_holds_as_the_table_says_over_midnight_and_changes_of_the_clock),
		cmocka_unit_test(between_two_changes_nothing_changes),
		cmocka_unit_test(spans_start_when_systemd_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
