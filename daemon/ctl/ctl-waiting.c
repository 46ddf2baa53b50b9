/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What applications wait for their IO, and where that is not known, why. */

#include <math.h>
#include <stdio.h>

#include "ctl/ctl.h"
#include "ctl/table.h"

json_object *ctl_get_waiting(Ctl *c)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;

	if (ctl_new_call(c, "GetWaiting", &call) ||
	    sd_bus_call(c->bus, call, c->patience_us, NULL, &reply) < 0)
		return NULL;
	return json_from_message(reply);
}

char *format_pressure(char *buf, size_t size, json_object *waiting)
{
	double percent = json_number(waiting, "Pressure");
	const char *cgroup = json_text(waiting, "Cgroup");

	if (isnan(percent))
		*buf = '\0';
	else
		snprintf(buf, size, "; some task %s%s waited for IO in %.3g %% of the last 10 s",
			 streq(cgroup, "/") ? "of the node" : "in ",
			 streq(cgroup, "/") ? "" : cgroup, percent);
	return buf;
}

/* The kernel stamps an IO when io.max lets it go. */
static bool io_max_is_held(json_object *d)
{
	json_object *knobs = json_member(d, "Knobs");

	for (size_t i = 0; i < json_count(knobs); i++) {
		json_object *k = json_object_array_get_idx(knobs, i);

		if (streq(json_text(k, "Name"), "io-max") && *json_text(k, "Wanted"))
			return true;
	}
	return false;
}

static const char *why_not(json_object *d, json_object *waiting)
{
	if (!streq(json_text(d, "Meter"), "ebpf"))
		return "only eBPF sees what holds IO up before the device";
	if (*json_text(waiting, "WhyNot"))
		return json_text(waiting, "WhyNot");
	return "no IO that ended in the last second was of the sample";
}

/* Right to a factor of two, which is why there are few digits. */
static void print_percentiles(json_object *d)
{
	double before_us = json_number(d, "WaitP50Before");
	char p50[32], p99[32];

	printf("from submission on %s in the median, %s at the 99th percentile",
	       format_wait(p50, sizeof(p50), json_number(d, "WaitP50")),
	       format_wait(p99, sizeof(p99), json_number(d, "WaitP99")));
	if (!isnan(before_us))
		printf("; before the limit %s and %s", format_wait(p50, sizeof(p50), before_us),
		       format_wait(p99, sizeof(p99), json_number(d, "WaitP99Before")));
}

void print_wait(Ctl *c, json_object *d)
{
	bool known = !isnan(json_number(d, "WaitP50")), io_max = io_max_is_held(d);
	_cleanup_json_ json_object *waiting = known && !io_max ? NULL : ctl_get_waiting(c);
	char pressure[512];

	if (isnan(json_number(d, "Latency")))
		return;
	printf("%12s  ", "Wait");
	if (known)
		print_percentiles(d);
	else
		printf("not known: %s", why_not(d, waiting));
	if (known && io_max)
		printf("; what io.max holds up is not in it");
	printf("%s\n", format_pressure(pressure, sizeof(pressure), waiting));
}
