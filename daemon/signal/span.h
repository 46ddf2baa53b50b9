/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Spans of the week in words of systemd.time(7): "Mon..Fri 07:00..19:00", "*-12-24..26",
 * "22:00..06:00". */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef struct Span {
	uint32_t weekdays;     /* bit 0: Sunday */
	uint32_t months, days; /* bit 1: January, the first */
	int year_min, year_max;
	int begin_s, end_s; /* of the day; an end that is not after the begin is of the next day */
} Span;

/* -EINVAL: *ret_why says in words what is wrong or would be right. */
int span_parse(const char *text, Span *ret, const char **ret_why);

/* Is it inside the span at this time? And when does that change next, as far as until the end of
 * tomorrow; otherwise *ret_change is later than that. Local time: a span begins and ends when
 * clocks first show its times; one that begins in the hour which is left out in spring begins after
 * it. */
bool span_holds(const Span *s, time_t now, time_t *ret_change);
