/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What io.cost and io.max have in common: both act on cgroups below the root one, where the io
 * controller is enabled. */

#include <math.h>

#include "knob/knob.h"

/* 0, or -EOPNOTSUPP with why not in words for an operator. */
int cgroup_io_check(Device *d, char **ret_why_not);

/* A device's lines of io.max, or sums of them; INFINITY for "max". */
typedef enum IoLimit { LIMIT_RBPS, LIMIT_WBPS, LIMIT_RIOPS, LIMIT_WIOPS, _IO_LIMIT_MAX } IoLimit;
typedef struct IoLimits {
	double at[_IO_LIMIT_MAX];
} IoLimits;

#define IO_LIMITS_NONE ((IoLimits){ { INFINITY, INFINITY, INFINITY, INFINITY } })

/* "rbps=N wbps=max riops=N wiops=N"; "" is none. -EINVAL for anything else. */
int io_limits_parse(const char *line, IoLimits *ret);
int io_limits_print(const IoLimits *l, KnobValue *ret);
bool io_limits_any(const IoLimits *l);

/* Watts above idle that any workload within these limits can draw at most: every IO and every page
 * at the price of the dearer pattern, each limit used up. INFINITY where one that costs is absent.
 * A workload of r reads/s and R bytes/s of them, w and W of writes, draws
 *   r e_io,r + R/4096 e_pg,r + w e_io,w + W/4096 e_pg,w
 * by the definition of Energy, which grows with each of the four rates alone; hence no mix of
 * sizes, directions and patterns within the limits exceeds its value at the limits. */
double io_limits_watts(const Profile *p, const IoLimits *l);
/* Limits that come to exactly `watts` in that sense (less what rounding to whole IOs and bytes
 * leaves), split as the mix would spend them. At least io_limits_least_watts(). */
void io_limits_for(const Profile *p, const Mix *mix, double watts, IoLimits *ret);
double io_limits_least_watts(const Profile *p);
