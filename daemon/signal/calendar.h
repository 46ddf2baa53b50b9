/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Limits by a calendar. */

#include "signal/span.h"
#include "signal/wish.h"

typedef struct Window {
	Span span;
	char *words; /* the span as it was written */
	double limit;
	LimitUnit unit;
	char *key; /* one of its own */
} Window;

/* [node], [group NAME] or [device NAME] */
typedef struct CalendarSection {
	WishTarget target;
	Window *windows;
	size_t n;
} CalendarSection;

typedef struct Calendar {
	CalendarSection *sections;
	size_t n;
} Calendar;

/* -ENOENT, -ENOMEM, ...; lines that cannot be used are complained of, left out and counted. */
int calendar_read(const char *path, Calendar **ret, size_t *ret_warnings);
int calendar_read_text(const char *path, const char *text, Calendar **ret, size_t *ret_warnings);
Calendar *calendar_free(Calendar *c); /* returns NULL */
DEFINE_CLEANUP(Calendar *, calendar_free);

/* What it wants at this time, one wish for each window that is open: the daemon holds the lowest.
 * And when to look again: when that changes, but within the hour, in which somebody may have set
 * another time zone. */
int calendar_wishes(const Calendar *c, time_t now, Wishes *ret, time_t *ret_look_again);
