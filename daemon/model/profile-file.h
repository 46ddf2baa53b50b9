/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the model: what reading and checking a profile file share. */

#include "base/ini.h"
#include "model/profile.h"

#define NO_LINE 0

typedef struct ProfileFile {
	Profile *profile;
	bool bad;            /* complained already */
	bool idle;           /* given */
	unsigned rated_line; /* NO_LINE: not given */
	unsigned state_line[PROFILE_STATES_MAX];
	unsigned condition_line[_CONDITION_MAX];
	unsigned *point_lines;
	size_t n_point_lines;
} ProfileFile;

/* "ps=0 qd=64 chunk=256K write random: 14.0W 1500MB/s 5722iops p99=12000us error=5% estimated":
 * blanks between, in any order; read=50% instead of write is a mix; ps (0), iops (MB/s over chunk),
 * p99, error and estimated may be left out. Every complaint is made here. ret->error stays 0 when
 * not given. */
int point_parse(const IniLine *l, Point *ret);

static inline bool point_is_mix(const Point *p)
{
	return p->read_share > 0 && p->read_share < 1;
}

/* The direction of a mix is of no meaning and the same in all. */
static inline bool point_same_but_depth(const Point *a, const Point *b)
{
	return a->power_state == b->power_state && a->chunk_kib == b->chunk_kib &&
	       a->direction == b->direction && a->read_share == b->read_share &&
	       a->pattern == b->pattern;
}

/* line: NO_LINE where it is about the whole file. */
void profile_complain(ProfileFile *f, unsigned line, const char *format, ...) _printf_(3, 4);

/* What a point serves, beside what the interface carries, the sheet promises and less deep queues
 * were served. */
void profile_check_speed(ProfileFile *f, size_t point);

/* What can only be seen with the whole file at hand. Complaints carry the line they are about. */
void profile_check(ProfileFile *f);
