/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/waits.h"
#include "ctl/table.h"

/* The daemon gives sums; their growth between two calls is shown. */

#define EVERY_US     (2 * USEC_PER_SEC)
#define ONCE_US      USEC_PER_SEC
#define TRIES_MAX    10
#define MB           1e6
#define CLEAR_SCREEN "\033[H\033[J"
#define HEADER_LINES 4 /* the sum, a blank, the header, the cursor */

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

/* The joules decide where they are known, else the bytes. */
static int by_spending(const void *a, const void *b)
{
	json_object *x = *(json_object *const *)a, *y = *(json_object *const *)b;
	double watts = fmax(json_number(y, "IOPower"), 0) - fmax(json_number(x, "IOPower"), 0);
	double mb_s = json_number(y, "Throughput") - json_number(x, "Throughput");
	double order = watts != 0 ? watts : mb_s;

	return (order > 0) - (order < 0);
}

/* A cgroup that did nothing meanwhile is left out. */
static bool is_wanted(json_object *row, bool devices, const char *device)
{
	if (json_true(row, "WholeDevice") != devices)
		return false;
	return devices ||
	       (streq(json_text(row, "Device"), device) && json_number(row, "Throughput") > 0);
}

static json_object *select_sorted(json_object *rows, bool devices, const char *device)
{
	json_object *selected = json_object_new_array();

	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		if (is_wanted(row, devices, device))
			json_object_array_add(selected, json_object_get(row));
	}
	json_object_array_sort(selected, by_spending);
	return selected;
}

static void append_all(json_object *to, json_object *from, unsigned long lines)
{
	for (size_t i = 0; i < json_count(from) && json_count(to) < lines; i++)
		json_object_array_add(to, json_object_get(json_object_array_get_idx(from, i)));
}

/* The devices, the one that spends most first, and behind each its cgroups likewise. */
static json_object *arrange(json_object *rows, unsigned long lines)
{
	_cleanup_json_ json_object *devices = select_sorted(rows, true, NULL);
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < json_count(devices) && json_count(all) < lines; i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		_cleanup_json_ json_object *cgroups =
			select_sorted(rows, false, json_text(d, "Device"));

		json_object_array_add(all, json_object_get(d));
		append_all(all, cgroups, lines);
	}
	return all;
}

static void cgroup_text(json_object *row, char *buf, size_t size)
{
	if (json_true(row, "WholeDevice"))
		snprintf(buf, size, "(all)");
	else if (json_true(row, "Uncontrolled"))
		snprintf(buf, size, "/ (root: not paced)");
	else
		snprintf(buf, size, "%s%s", json_text(row, "Cgroup"),
			 json_true(row, "Gone") ? " (gone)" : "");
}

static double sum_of_devices(json_object *rows, const char *key)
{
	double sum = 0, v;

	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		v = json_true(row, "WholeDevice") ? json_number(row, key) : 0;
		sum += isnan(v) ? 0 : v;
	}
	return sum;
}

static void print_row(Table *t, json_object *row, double all_w)
{
	char cgroup[512], watts[32], share[32], mb_s[32], iops[32], depth[32], latency[32];
	char p50[32], p99[32];
	double w = json_number(row, "IOPower");

	cgroup_text(row, cgroup, sizeof(cgroup));
	if (isnan(w) || all_w <= 0)
		strcpy(share, "-");
	else
		snprintf(share, sizeof(share), "%.0f %%", 100 * w / all_w);
	table_row(t, json_text(row, "Device"), cgroup,
		  isnan(w) ? "-" : format_watts(watts, sizeof(watts), w), share,
		  format_number(mb_s, sizeof(mb_s), json_number(row, "Throughput")),
		  format_number(iops, sizeof(iops), json_number(row, "IOPS")),
		  format_number(depth, sizeof(depth), json_number(row, "Depth")),
		  format_number(latency, sizeof(latency), json_number(row, "Latency")),
		  format_wait(p50, sizeof(p50), json_number(row, "WaitP50")),
		  format_wait(p99, sizeof(p99), json_number(row, "WaitP99")));
}

static void print_top(const Ctl *c, json_object *all, json_object *rows)
{
	static const char *const columns[] = { "DEVICE",    "CGROUP",    ">IO POWER", ">SHARE",
					       ">MB/S",     ">IOPS",     ">DEPTH",    ">US",
					       ">WAIT P50", ">WAIT P99", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	double io_w = sum_of_devices(all, "IOPower");
	char io[32], idle[32];

	if (c->legend)
		printf("%s by IO, %s idle; %.1f MB/s\n\n", format_watts(io, sizeof(io), io_w),
		       format_watts(idle, sizeof(idle), sum_of_devices(all, "IdlePower")),
		       sum_of_devices(all, "Throughput"));
	for (size_t i = 0; i < json_count(rows); i++)
		print_row(t, json_object_array_get_idx(rows, i), io_w);
	table_print(t, c);
	fflush(stdout);
}

static int sample(Ctl *c, json_object **ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	int status = ctl_simple_call(c, &reply, "ListConsumers", "");

	if (!status)
		*ret = json_from_message(reply);
	return status;
}

static unsigned long rows_wanted(const Ctl *c, bool again)
{
	struct winsize size;

	if (c->lines)
		return c->lines;
	if (again && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > HEADER_LINES)
		return size.ws_row - HEADER_LINES;
	return ULONG_MAX;
}

static json_object *rates_of_all(json_object *before, json_object *after)
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

/* The consumers after us, and their rates since. On a busy host the daemon's own look can be late:
 * where nothing has grown, it is waited for again. */
static int sample_grown(Ctl *c, useconds_t us, json_object *before, json_object **ret_after,
			json_object **ret_rates)
{
	_cleanup_json_ json_object *all = NULL, *after = NULL;
	int status;

	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		json_object_put(TAKE_PTR(all));
		json_object_put(TAKE_PTR(after));
		usleep(us);
		status = sample(c, &after);
		if (status)
			return status;
		all = rates_of_all(before, after);
		if (json_count(all) || !json_count(before))
			break;
	}
	*ret_after = TAKE_PTR(after);
	*ret_rates = TAKE_PTR(all);
	return STATUS_OK;
}

/* Prints the growth since *before, and makes *before the present. */
static int look(Ctl *c, json_object **before, bool again)
{
	_cleanup_json_ json_object *all = NULL, *rows = NULL;
	json_object *after;
	int status = sample_grown(c, again && json_count(*before) ? EVERY_US : ONCE_US, *before,
				  &after, &all);

	if (status)
		return status;
	json_object_put(*before);
	*before = after;
	rows = arrange(all, rows_wanted(c, again));
	if (again)
		fputs(CLEAR_SCREEN, stdout);
	if (c->json)
		json_print(c, rows);
	else
		print_top(c, all, rows);
	return STATUS_OK;
}

int verb_top(Ctl *c)
{
	bool again = c->escapes && !c->once && !c->json;
	_cleanup_json_ json_object *before = NULL;
	int status = sample(c, &before);

	while (!status) {
		status = look(c, &before, again);
		if (!again)
			break;
	}
	return status;
}
