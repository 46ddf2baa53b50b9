/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/table.h"
#include "ctl/top.h"
#include "ctl/words.h"

#define ONCE_US      USEC_PER_SEC
#define TRIES_MAX    10
#define FIGURES      66 /* columns that all but the cgroup take */
#define CGROUP_LEAST 14

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

/* The end of a name tells most. */
static void shorten(char *text, size_t width)
{
	size_t n = text_width(text), gap = text_width(words_ellipsis());
	char whole[512];
	const char *at = whole;

	if (n <= width)
		return;
	snprintf(whole, sizeof(whole), "%s", text);
	for (size_t left = n - width + gap; *at && left > 0; left--)
		do
			at++;
		while ((*at & 0xc0) == 0x80);
	snprintf(text, sizeof(whole), "%s%s", words_ellipsis(), at);
}

static void print_row(Table *t, json_object *row, double all_w, size_t width)
{
	char cgroup[512], watts[32], share[32], mb_s[32], iops[32], depth[32], latency[32];
	char p50[32], p99[32];
	double w = json_number(row, "IOPower");

	cgroup_text(row, cgroup, sizeof(cgroup));
	if (width)
		shorten(cgroup, MAX(width, (size_t)FIGURES + CGROUP_LEAST) - FIGURES);
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

void top_print(const Ctl *c, json_object *all, json_object *rows, size_t width)
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
		print_row(t, json_object_array_get_idx(rows, i), io_w, width);
	table_print(t, c);
	fflush(stdout);
}

int top_sample(Ctl *c, json_object **ret)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	int status = ctl_simple_call(c, &reply, "ListConsumers", "");

	if (!status)
		*ret = json_from_message(reply);
	return status;
}

int top_try_sample(Ctl *c, json_object **ret)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	int r = sd_bus_message_new_method_call(c->bus, &call, BUS_NAME, BUS_PATH, BUS_MANAGER,
					       "ListConsumers");

	if (r >= 0)
		r = sd_bus_call(c->bus, call, c->patience_us, NULL, &reply);
	if (r >= 0)
		*ret = json_from_message(reply);
	return r;
}

/* The consumers after a second, and their rates since. On a busy host the daemon's own look can be
 * late: where nothing has grown, it is waited for again. */
static int sample_grown(Ctl *c, json_object *before, json_object **ret_after,
			json_object **ret_rates)
{
	_cleanup_json_ json_object *all = NULL, *after = NULL;
	int status;

	for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
		json_object_put(TAKE_PTR(all));
		json_object_put(TAKE_PTR(after));
		usleep(ONCE_US);
		status = top_sample(c, &after);
		if (status)
			return status;
		all = top_rates(before, after);
		if (json_count(all) || !json_count(before))
			break;
	}
	*ret_after = TAKE_PTR(after);
	*ret_rates = TAKE_PTR(all);
	return STATUS_OK;
}

/* One table of what happens within a second. */
static int look_once(Ctl *c, json_object *before)
{
	_cleanup_json_ json_object *all = NULL, *rows = NULL, *after = NULL;
	int status = sample_grown(c, before, &after, &all);

	if (status)
		return status;
	rows = top_arrange(&(TopView){}, all, c->lines ?: ULONG_MAX);
	if (c->json)
		json_print(c, rows);
	else
		top_print(c, all, rows, 0);
	return STATUS_OK;
}

int verb_top(Ctl *c)
{
	_cleanup_json_ json_object *before = NULL;
	int status = top_sample(c, &before);

	if (status)
		return status;
	if (c->escapes && !c->once && !c->json)
		return top_screen(c, TAKE_PTR(before));
	return look_once(c, before);
}
