/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/meter-figures.h"

#include <assert.h>
#include <math.h>

#define PAGE_BYTES 4096.0 /* the page of Energy, whatever the machine's */

/* bpf/meter-counters.h counts by these numbers. */
static_assert(READ_IO == 0 && WRITE_IO == 1 && _DIRECTION_MAX == 2, "directions");
static_assert(RANDOM_IO == 0 && SEQUENTIAL_IO == 1 && _PATTERN_MAX == 2, "patterns");

/* An IO of n 4-KiB pages costs io_j + n * page_j; a smaller one its part of a page. */
static double joules(const struct meter_counters *c, int direction, int pattern, const Energy *e)
{
	return (double)c->ios[direction][pattern] * e->io_j +
	       (double)c->bytes[direction][pattern] / PAGE_BYTES * e->page_j;
}

void meter_figures(const struct meter_counters *c, const Energy (*energy)[_PATTERN_MAX],
		   DeviceCounters *ret)
{
	ret->sequential_ios = ret->joules = 0;
	ret->has_pattern = true;
	ret->has_joules = energy != NULL;
	for (int i = 0; i < _DIRECTION_MAX; i++) {
		ret->ios[i] = c->ios[i][RANDOM_IO] + c->ios[i][SEQUENTIAL_IO];
		ret->bytes[i] = c->bytes[i][RANDOM_IO] + c->bytes[i][SEQUENTIAL_IO];
		ret->sequential_ios += c->ios[i][SEQUENTIAL_IO];
		for (int pattern = 0; energy && pattern < _PATTERN_MAX; pattern++)
			ret->joules += joules(c, i, pattern, &energy[i][pattern]);
	}
	ret->latency_us = (double)c->latency_ns / 1e3;
	if (!c->timed_ios && ret->ios[READ_IO] + ret->ios[WRITE_IO])
		ret->latency_us = NAN;
}
