/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The times of a report: as people write them, and where the ledger can begin and end a sum. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger.h"

#define HOUR_S 3600
#define DAY_S  86400

/* "2026-11-24", "2026-11-24 10:00", "10:00" (of today), "-2h", "now", "today", "yesterday" or
 * "@1700000000"; of the local time zone, but with a "Z" at the end of UTC. -EINVAL. */
int report_parse_time(const char *text, int64_t now_s, int64_t *ret_s);

/* The last time up to time_s from which on the node and its cgroups alike can be summed. */
int64_t report_align(int64_t time_s, int64_t now_s);

/* A part of the time that is read at once: the time zone stays as far from UTC, and steps of one
 * length are known throughout. */
typedef struct TimePiece {
	int64_t since_s, until_s;
	unsigned step_s;  /* at least as long as wanted */
	int64_t offset_s; /* of the steps from UTC; what is known by the hour alone knows no half */
} TimePiece;

/* The piece that begins at since_s. */
TimePiece report_piece(int64_t since_s, int64_t until_s, int64_t now_s, unsigned step_s);
/* The local time is so far from UTC. */
int64_t report_offset(int64_t time_s);
/* "2026-11-24" of a step of a day, "2026-11-24 10:00" of a shorter one. */
char *report_step_name(char *buf, size_t size, int64_t time_s, const TimePiece *of);
/* "2026-11-24 10:00", with the seconds where there are any. */
char *report_time_text(char *buf, size_t size, int64_t time_s);
