/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which of the stamps is a bio's own, by its address (Fibonacci hashing). */

#include "meter-counters.h"

static __always_inline __u32 place_of_stamp(__u64 bio)
{
	return (__u32)(bio * 0x9e3779b97f4a7c15ULL >> (64 - METER_STAMP_BITS));
}
