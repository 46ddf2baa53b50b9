/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Times and durations in the words of OpenADR 3: RFC 3339 and ISO 8601. Pure. */

#include <stddef.h>
#include <stdint.h>

#define OPENADR_NEVER INT64_MAX /* an end that does not come */
#define OPENADR_NOW   INT64_MIN /* "0001-01-01": whenever it was announced */

/* "2026-11-24T10:00:00Z", "2026-11-24T11:00:00.5+01:00": seconds since the epoch, without the
 * fraction. A time of the year 1 is OPENADR_NOW. -EINVAL. */
int openadr_parse_time(const char *text, int64_t *ret_s);
/* "PT15M", "P1DT2H", "PT0.5S": seconds, without the fraction. A year has 365 days and a month 30.
 * What is longer than 999 years is OPENADR_NEVER. -EINVAL: it is none, or none that is positive or
 * zero. */
int openadr_parse_duration(const char *text, int64_t *ret_s);
/* "2026-11-24T10:00:00Z"; buf is returned. */
char *openadr_format_time(char *buf, size_t size, int64_t s);
/* The sum; OPENADR_NEVER with either of them, and where it would be later. */
int64_t openadr_add(int64_t s, int64_t duration_s);
/* A part of what randomizeStart allows: the same for an event and a node, so that nothing moves
 * when either end is started anew. */
int64_t openadr_spread(const char *id, const char *salt, int64_t range_s);
