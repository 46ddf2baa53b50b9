/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/table.h"

static int append_options(const Ctl *c, sd_bus_message *m)
{
	const struct {
		const char *name, *text;
	} options[] = { { "forbid", c->forbid }, { "only", c->only }, { "policy", c->policy } };
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (size_t i = 0; i < ELEMENTSOF(options) && r >= 0; i++)
		if (options[i].text)
			r = sd_bus_message_append(m, "{sv}", options[i].name, "s", options[i].text);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static void print_devices(const Ctl *c, json_object *devices)
{
	static const char *const columns[] = { "DEVICE",    ">CAN DRAW", ">EXPECTED",
					       ">MB/S",     ">OF MB/S",  "SETTING",
					       "EXACTNESS", "REASON",    NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		char cap[32], expected[32], mb_s[32], full[32];

		table_row(t, json_text(d, "Name"),
			  format_watts(cap, sizeof(cap), json_number(d, "CapPower")),
			  format_watts(expected, sizeof(expected), json_number(d, "ExpectedPower")),
			  format_number(mb_s, sizeof(mb_s), json_number(d, "Throughput")),
			  format_number(full, sizeof(full), json_number(d, "FullThroughput")),
			  json_text(d, "Setting"), json_text(d, "Exactness"),
			  json_text(d, "Reason"));
	}
	table_print(t, c);
}

static void print_summary(json_object *p)
{
	double mb_s = json_number(p, "Throughput"), full = json_number(p, "FullThroughput");
	double value = json_number(p, "Value"), bound = json_number(p, "BoundValue");
	double lost = full > 0 ? 100 * (1 - mb_s / full) : 0;
	double gap = bound > 0 ? 100 * (1 - value / bound) : 0;
	char budget[32], cap[32], expected[32], now[32], all[32];

	printf("\nBudget %s: can draw %s, expected %s; %s of %s MB/s, %.1f %% lost; ",
	       format_watts(budget, sizeof(budget), json_number(p, "Budget")),
	       format_watts(cap, sizeof(cap), json_number(p, "CapPower")),
	       format_watts(expected, sizeof(expected), json_number(p, "ExpectedPower")),
	       format_number(now, sizeof(now), mb_s), format_number(all, sizeof(all), full),
	       fmax(lost, 0));
	if (json_true(p, "Optimal"))
		puts("no plan is better");
	else
		printf("at most %.2f %% short of the best plan\n", fmax(gap, 0));
	if (json_number(p, "MostThroughput") > mb_s * 1.001)
		printf("Fair shares cost %s MB/s: %s if throughput alone counted\n",
		       format_number(now, sizeof(now), json_number(p, "MostThroughput") - mb_s),
		       format_number(all, sizeof(all), json_number(p, "MostThroughput")));
	if (json_number(p, "Shortfall") > 0)
		printf("The budget cannot be reached: %s too much remain\n",
		       format_watts(budget, sizeof(budget), json_number(p, "Shortfall")));
}

static int print_plan(const Ctl *c, sd_bus_message *reply)
{
	_cleanup_json_ json_object *plan = json_from_message(reply);
	_cleanup_json_ json_object *devices = json_from_message(reply);

	if (c->json) {
		json_object_object_add(plan, "Devices", TAKE_PTR(devices));
		json_print(c, plan);
		return STATUS_OK;
	}
	pager_open(c);
	print_devices(c, devices);
	print_summary(plan);
	return STATUS_OK;
}

int verb_plan(Ctl *c)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	const char *unit = NULL;
	double value = 0;
	int status = ctl_parse_budget(c->args[0], &value, &unit), r;

	if (!status)
		status = ctl_new_call(c, "Plan", &call);
	if (status)
		return status;
	r = sd_bus_message_append(call, "ds", value, unit);
	if (r >= 0)
		r = append_options(c, call);
	if (r < 0)
		return complain(STATUS_FAILURE, "Plan: %s", strerror(-r));
	status = ctl_call(c, call, &reply);
	return status ?: print_plan(c, reply);
}
