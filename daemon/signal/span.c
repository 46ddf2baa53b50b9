/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/span.h"

#include "base/cleanup.h"

#define DAY_S 86400

/* What clocks show, as seconds since the epoch of whoever takes it for UTC. */
static time_t shown_at(time_t t)
{
	struct tm tm;

	localtime_r(&t, &tm);
	return timegm(&tm);
}

/* Clocks are set forward between the two. */
static time_t after_gap(time_t before, time_t after, time_t shown)
{
	while (before + 1 < after) {
		time_t middle = before + (after - before) / 2;

		if (shown_at(middle) < shown)
			before = middle;
		else
			after = middle;
	}
	return after;
}

/* When clocks first show this time or, where they never do, a later one. */
static time_t first_shown(time_t shown)
{
	time_t a = shown - (shown_at(shown - DAY_S) - (shown - DAY_S));
	time_t b = shown - (shown_at(shown + DAY_S) - (shown + DAY_S));

	if (shown_at(a) == shown)
		return a;
	if (shown_at(b) == shown)
		return b;
	return after_gap(MIN(a, b), MAX(a, b), shown);
}

/* midnight: as shown_at() gives it. */
static bool is_of_day(const Span *s, time_t midnight)
{
	struct tm tm;
	int year;

	gmtime_r(&midnight, &tm);
	year = tm.tm_year + 1900;
	return (s->weekdays & 1U << tm.tm_wday) && (s->months & 1U << (tm.tm_mon + 1)) &&
	       (s->days & 1U << tm.tm_mday) && year >= s->year_min && year <= s->year_max;
}

static void note_change(time_t at, time_t now, time_t *change)
{
	if (at > now)
		*change = MIN(*change, at);
}

bool span_holds(const Span *s, time_t now, time_t *ret_change)
{
	time_t shown = shown_at(now), today = shown - shown % DAY_S;
	bool holds = false;

	*ret_change = now + 3 * DAY_S;
	for (int d = -1; d <= 1; d++) {
		time_t midnight = today + d * DAY_S, begin, end;

		if (!is_of_day(s, midnight))
			continue;
		begin = first_shown(midnight + s->begin_s);
		end = first_shown(midnight + s->end_s + (s->end_s <= s->begin_s ? DAY_S : 0));
		holds |= begin <= now && now < end;
		note_change(begin, now, ret_change);
		note_change(end, now, ret_change);
	}
	return holds;
}
