/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "meter/meter.h"

#define KIB 1024.0
#define MB  1e6

/* Readings do not belong together when a number ran backwards, or when they come from different
 * sources. */
static bool do_not_belong_together(const DeviceCounters *before, const DeviceCounters *after)
{
	for (int i = 0; i < _DIRECTION_MAX; i++)
		if (after->ios[i] < before->ios[i] || after->bytes[i] < before->bytes[i])
			return true;
	for (int i = 0; i < WAITS_MAX; i++)
		if (after->waits[i] < before->waits[i])
			return true;
	return after->time_us < before->time_us || after->sequential_ios < before->sequential_ios ||
	       after->latency_us < before->latency_us || after->joules < before->joules ||
	       after->uncontrolled_bytes < before->uncontrolled_bytes ||
	       after->has_pattern != before->has_pattern ||
	       after->has_joules != before->has_joules || after->has_waits != before->has_waits ||
	       after->has_uncontrolled != before->has_uncontrolled;
}

/* The root cgroup is read after the device, which may have gone on meanwhile. */
static double uncontrolled_share(const DeviceCounters *before, const DeviceCounters *after,
				 double bytes)
{
	uint64_t uncontrolled = after->uncontrolled_bytes - before->uncontrolled_bytes;

	return bytes > 0 ? MIN((double)uncontrolled / bytes, 1.0) : NAN;
}

static double wait_us(const DeviceCounters *before, const DeviceCounters *after, double share)
{
	return after->has_waits ? waits_percentile_us(before->waits, after->waits, share) : NAN;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

int meter_rates(const DeviceCounters *before, const DeviceCounters *after, MeterRates *ret)
{
	double ios[_DIRECTION_MAX], bytes[_DIRECTION_MAX], all, random, latency_us, us;

	if (do_not_belong_together(before, after))
		return -ESTALE;
	if (after->time_us == before->time_us)
		return -EAGAIN;
	us = (double)(after->time_us - before->time_us);
	*ret = (MeterRates){ .seconds = us / USEC_PER_SEC };
	for (int i = 0; i < _DIRECTION_MAX; i++) {
		ios[i] = (double)(after->ios[i] - before->ios[i]);
		bytes[i] = (double)(after->bytes[i] - before->bytes[i]);
		ret->iops[i] = ios[i] / ret->seconds;
		ret->mb_s[i] = bytes[i] / MB / ret->seconds;
	}
	all = ios[READ_IO] + ios[WRITE_IO];
	random = all - (double)(after->sequential_ios - before->sequential_ios);
	latency_us = after->latency_us - before->latency_us;
	ret->read_share = ratio(ios[READ_IO], all);
	ret->random_share = after->has_pattern ? ratio(random, all) : NAN;
	ret->read_kib = ratio(bytes[READ_IO] / KIB, ios[READ_IO]);
	ret->write_kib = ratio(bytes[WRITE_IO] / KIB, ios[WRITE_IO]);
	ret->depth = latency_us / us;
	ret->latency_us = ratio(latency_us, all);
	ret->wait_p50_us = wait_us(before, after, 0.5);
	ret->wait_p99_us = wait_us(before, after, 0.99);
	ret->joules_per_s =
		after->has_joules ? (after->joules - before->joules) / ret->seconds : NAN;
	ret->uncontrolled_share =
		after->has_uncontrolled
			? uncontrolled_share(before, after, bytes[READ_IO] + bytes[WRITE_IO])
			: NAN;
	return 0;
}
