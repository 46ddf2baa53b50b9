/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The daemon gives sums; their growth between two calls is shown. */

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/waits.h"
#include "ctl/top.h"

#define MB 1e6

static double grown(json_object *before, json_object *after, const char *key)
{
	return json_number(after, key) - json_number(before, key);
}

static json_object *find_same(json_object *rows, json_object *row)
{
	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *o = json_object_array_get_idx(rows, i);

		if (streq(json_text(o, "Device"), json_text(row, "Device")) &&
		    streq(json_text(o, "Cgroup"), json_text(row, "Cgroup")) &&
		    json_number(o, "CgroupId") == json_number(row, "CgroupId"))
			return o;
	}
	return NULL;
}

static void read_waits(json_object *row, uint64_t ret[WAITS_MAX])
{
	json_object *waits = json_member(row, "Waits");

	memset(ret, 0, WAITS_MAX * sizeof(*ret));
	for (size_t i = 0; i < MIN(json_count(waits), (size_t)WAITS_MAX); i++)
		ret[i] = json_object_get_uint64(json_object_array_get_idx(waits, i));
}

static void add_waits(json_object *o, json_object *before, json_object *after)
{
	uint64_t from[WAITS_MAX], to[WAITS_MAX];

	read_waits(before, from);
	read_waits(after, to);
	json_object_object_add(o, "WaitP50", json_from_double(waits_percentile_us(from, to, 0.5)));
	json_object_object_add(o, "WaitP99", json_from_double(waits_percentile_us(from, to, 0.99)));
}

/* The rates between two rows of a consumer. NULL: it came between the two, or began anew. */
static json_object *rates(json_object *before, json_object *after)
{
	static const char *const kept[] = { "Device", "Cgroup", "Gone", "Uncontrolled" };
	double us = before ? grown(before, after, "TimeUSec") : 0;
	double bytes, ios, latency_us;
	json_object *o;

	if (us <= 0)
		return NULL;
	bytes = grown(before, after, "ReadBytes") + grown(before, after, "WriteBytes");
	ios = grown(before, after, "ReadIOs") + grown(before, after, "WriteIOs");
	latency_us = grown(before, after, "LatencyTotal");
	if (bytes < 0 || ios < 0)
		return NULL;
	o = json_object_new_object();
	for (size_t i = 0; i < ELEMENTSOF(kept); i++)
		json_object_object_add(o, kept[i], json_object_get(json_member(after, kept[i])));
	json_object_object_add(o, "WholeDevice",
			       json_object_new_boolean(json_number(after, "CgroupId") == 0 &&
						       !*json_text(after, "Cgroup")));
	json_object_object_add(o, "IdlePower", json_from_double(json_number(after, "IdlePower")));
	json_object_object_add(
		o, "IOPower", json_from_double(grown(before, after, "Joules") * USEC_PER_SEC / us));
	json_object_object_add(o, "Throughput", json_from_double(bytes / MB * USEC_PER_SEC / us));
	json_object_object_add(o, "IOPS", json_from_double(ios * USEC_PER_SEC / us));
	json_object_object_add(o, "Depth", json_from_double(latency_us / us));
	json_object_object_add(o, "Latency", json_from_double(ios > 0 ? latency_us / ios : NAN));
	add_waits(o, before, after);
	return o;
}

json_object *top_rates(json_object *before, json_object *after)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < json_count(after); i++) {
		json_object *row = json_object_array_get_idx(after, i);
		json_object *r = rates(find_same(before, row), row);

		if (r)
			json_object_array_add(all, r);
	}
	return all;
}
