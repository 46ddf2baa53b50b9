/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* When bios were submitted. submission.bpf.c fills the stamps and is loaded where bios have no
 * bi_issue; the map is the meter's, and user space puts it in the place of that program's own. */

#include "meter-counters.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << METER_STAMP_BITS);
	__type(key, __u32);
	__type(value, struct meter_stamp);
} stamps SEC(".maps");

/* Which of the stamps is a bio's own, by its address (Fibonacci hashing). */
static __always_inline __u32 place_of_stamp(__u32 bio)
{
	return bio * 0x9e3779b1u >> (32 - METER_STAMP_BITS);
}
