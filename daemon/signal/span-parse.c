/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "signal/span.h"

#define DAY_S 86400

static const char expected_weekdays[] =
	"weekdays are Mon, Tue, ..., lists such as Mon,Wed and ranges such as Mon..Fri, from Monday on";
static const char expected_date[] =
	"a date is YEAR-MONTH-DAY or MONTH-DAY, each part \"*\", a number or a range such as 24..26";
static const char expected_time[] =
	"a span of time is HH:MM..HH:MM, at most 24:00, of two different times";
static const char expected_order[] =
	"a span is weekdays, a date and a span of time, in this order, none of them twice";

/* 0 is Monday, so that a range goes from Monday to Sunday; -EINVAL. */
static int weekday_from_name(const char *name, size_t n)
{
	static const char *const names[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
					     "Friday", "Saturday", "Sunday" };

	for (int i = 0; i < 7; i++)
		if ((n == 3 || n == strlen(names[i])) && strncasecmp(names[i], name, n) == 0)
			return i;
	return -EINVAL;
}

static int number_from_text(const char *text, size_t n)
{
	char copy[8];
	unsigned long v;

	if (n >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return parse_unsigned(copy, 9999, &v) < 0 ? -EINVAL : (int)v;
}

typedef int (*FromText)(const char *text, size_t n);

/* "A" or "A..B", of n characters. */
static int parse_range(const char *text, size_t n, FromText from, int *ret_min, int *ret_max)
{
	const char *dots = memmem(text, n, "..", 2);
	size_t first = dots ? (size_t)(dots - text) : n;

	*ret_min = from(text, first);
	*ret_max = dots ? from(dots + 2, n - first - 2) : *ret_min;
	return *ret_min < 0 || *ret_max < *ret_min ? -EINVAL : 0;
}

/* "A,B..C": bit i of the set for each i from min to max. */
static int parse_set(const char *text, size_t n, FromText from, int min, int max, uint32_t *ret)
{
	uint32_t set = 0;

	for (const char *end = text + n, *part = text; part <= end;) {
		const char *comma = memchr(part, ',', (size_t)(end - part)) ?: end;
		int first, last;

		if (parse_range(part, (size_t)(comma - part), from, &first, &last) < 0 ||
		    first < min || last > max)
			return -EINVAL;
		for (int i = first; i <= last; i++)
			set |= 1U << i;
		part = comma + 1;
	}
	*ret = set;
	return 0;
}

static int parse_weekdays(const char *word, Span *s)
{
	uint32_t from_monday;

	if (parse_set(word, strlen(word), weekday_from_name, 0, 6, &from_monday) < 0)
		return -EINVAL;
	s->weekdays = (from_monday << 1 & 0x7f) | from_monday >> 6;
	return 0;
}

/* One part of a date; "*" leaves the set as it is: all. */
static int parse_part(const char *text, size_t n, int max, uint32_t *set)
{
	if (n == 1 && *text == '*')
		return 0;
	return parse_set(text, n, number_from_text, 1, max, set);
}

static int parse_year(const char *text, size_t n, Span *s)
{
	int min, max;

	if (n == 1 && *text == '*')
		return 0;
	if (parse_range(text, n, number_from_text, &min, &max) < 0 || min < 1970)
		return -EINVAL;
	s->year_min = min;
	s->year_max = max;
	return 0;
}

static int parse_date(const char *word, Span *s)
{
	const char *day = strrchr(word, '-'), *month = word;
	const char *dash = strchr(word, '-');
	int r = 0;

	if (!day)
		return -EINVAL;
	if (dash != day) {
		r = parse_year(word, (size_t)(dash - word), s);
		month = dash + 1;
	}
	if (r >= 0)
		r = parse_part(month, (size_t)(day - month), 12, &s->months);
	return r < 0 ? r : parse_part(day + 1, strlen(day + 1), 31, &s->days);
}

/* "7:00" or "07:00:30", up to 24:00, of n characters. */
static int time_from_text(const char *text, size_t n)
{
	static const int max[] = { 24, 59, 59 };
	int part[3] = { 0 }, i = 0, sum;

	for (const char *end = text + n, *at = text; at <= end; i++) {
		const char *colon = memchr(at, ':', (size_t)(end - at)) ?: end;

		if (i == 3 || colon - at > 2 || (i > 0 && colon - at < 2))
			return -EINVAL;
		part[i] = number_from_text(at, (size_t)(colon - at));
		if (part[i] < 0 || part[i] > max[i])
			return -EINVAL;
		at = colon + 1;
	}
	sum = part[0] * 3600 + part[1] * 60 + part[2];
	return i < 2 || sum > DAY_S ? -EINVAL : sum;
}

static int parse_times(const char *word, Span *s)
{
	const char *dots = strstr(word, "..");

	if (!dots)
		return -EINVAL;
	s->begin_s = time_from_text(word, (size_t)(dots - word));
	s->end_s = time_from_text(dots + 2, strlen(dots + 2));
	return s->begin_s < 0 || s->end_s < 0 || s->begin_s == s->end_s || s->begin_s == DAY_S
		       ? -EINVAL
		       : 0;
}

/* Which of the three it is, in their order. */
static int part_of(const char *word)
{
	if (isalpha((unsigned char)*word))
		return 0;
	return strchr(word, ':') ? 2 : 1;
}

int span_parse(const char *text, Span *ret, const char **ret_why)
{
	static const char *const expected[] = { expected_weekdays, expected_date, expected_time };
	static int (*const parse[])(const char *, Span *) = { parse_weekdays, parse_date,
							      parse_times };
	Span s = { .weekdays = 0x7f,
		   .months = 0x1ffe,
		   .days = 0xfffffffe,
		   .year_max = 9999,
		   .end_s = DAY_S };
	int done = -1;

	for (const char *at = text + strspn(text, " \t"); *at; at += strspn(at, " \t")) {
		size_t n = strcspn(at, " \t");
		_cleanup_free_ char *word = strndup(at, n);
		int part = word ? part_of(word) : -ENOMEM;

		if (part < 0)
			return part;
		*ret_why = part <= done ? expected_order : expected[part];
		if (part <= done || parse[part](word, &s) < 0)
			return -EINVAL;
		done = part;
		at += n;
	}
	*ret_why = expected_order;
	if (done < 0)
		return -EINVAL;
	*ret = s;
	return 0;
}
