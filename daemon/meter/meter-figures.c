/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/meter-figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "meter/meter.h"

/* bpf/meter-counters.h counts by these numbers. */
static_assert(READ_IO == 0 && WRITE_IO == 1 && _DIRECTION_MAX == 2, "directions");
static_assert(WAITS_MAX == METER_WAITS, "waits");
static_assert(RANDOM_IO == 0 && SEQUENTIAL_IO == 1 && _PATTERN_MAX == 2, "patterns");

/* More than any IO costs, and small enough that the kernel's product with a size does not overflow.
 */
#define ENERGY_MAX_J 0.4

void meter_figures(const struct meter_counters *c, bool has_joules, DeviceCounters *ret)
{
	ret->sequential_ios = 0;
	ret->has_pattern = true;
	ret->has_joules = has_joules;
	for (int i = 0; i < _DIRECTION_MAX; i++) {
		ret->ios[i] = c->ios[i][RANDOM_IO] + c->ios[i][SEQUENTIAL_IO];
		ret->bytes[i] = c->bytes[i][RANDOM_IO] + c->bytes[i][SEQUENTIAL_IO];
		ret->sequential_ios += c->ios[i][SEQUENTIAL_IO];
	}
	ret->joules = has_joules ? (double)c->joules / METER_UNITS_PER_J : 0;
	ret->latency_us = (double)c->latency_ns / 1e3;
	memcpy(ret->waits, c->waits, sizeof(ret->waits));
	if (!c->timed_ios && ret->ios[READ_IO] + ret->ios[WRITE_IO])
		ret->latency_us = NAN;
}

static __u64 kernel_units(double joules)
{
	return (__u64)llround(CLAMP(joules, 0.0, ENERGY_MAX_J) * METER_UNITS_PER_J);
}

bool meter_energies(const Profile *p, struct meter_terms *ret)
{
	*ret = (struct meter_terms){ .window_joules = METER_NO_LIMIT };
	if (!p)
		return false;
	for (int i = 0; i < _DIRECTION_MAX * _PATTERN_MAX; i++) {
		int direction = i / _PATTERN_MAX, pattern = i % _PATTERN_MAX;
		const Energy *e = &p->energy[direction][pattern];

		if (!isfinite(e->io_j) || !isfinite(e->page_j)) {
			*ret = (struct meter_terms){ .window_joules = METER_NO_LIMIT };
			return false;
		}
		ret->io[direction][pattern] = kernel_units(e->io_j);
		ret->page[direction][pattern] = kernel_units(e->page_j);
	}
	return true;
}

__u64 meter_window_joules(double joules_per_s, uint64_t window_us)
{
	double limit = joules_per_s * (double)window_us / USEC_PER_SEC * METER_UNITS_PER_J;

	return limit < 0x1p63 ? (__u64)llround(MAX(limit, 0.0)) : METER_NO_LIMIT;
}
