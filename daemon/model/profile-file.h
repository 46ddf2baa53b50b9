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

/* What can only be seen with the whole file at hand. Complaints carry the line they are about. */
void profile_check(ProfileFile *f);
