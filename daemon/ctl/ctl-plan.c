/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl/table.h"
#include "ctl/words.h"

static int append_options(const Ctl *c, const char *forbid, sd_bus_message *m)
{
	const struct {
		const char *name, *text;
	} options[] = { { "forbid", forbid ?: c->forbid },
			{ "only", c->only },
			{ "device", c->device ? ctl_device_name(c->device) : NULL },
			{ "group", c->group },
			{ "policy", c->policy } };
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	for (size_t i = 0; i < ELEMENTSOF(options) && r >= 0; i++)
		if (options[i].text)
			r = sd_bus_message_append(m, "{sv}", options[i].name, "s", options[i].text);
	if (r >= 0)
		r = ctl_append_tolerance(c, m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static void print_wide(const Ctl *c, json_object *devices)
{
	static const char *const columns[] = { "DEVICE",    ">AT MOST",       ">EXPECTED",
					       ">MB/S",     ">WITHOUT LIMIT", "SETTING",
					       "EXACTNESS", "REASON",         NULL };
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

static void add_fold(Table *t, const Fold *f, bool narrow)
{
	char name[96], cap[32], mb_s[32], full[32], setting[WORDS_SIZE];

	fold_name(name, sizeof(name), f, "Name");
	format_watts(cap, sizeof(cap), fold_mean(f, "CapPower"));
	format_number(mb_s, sizeof(mb_s), fold_mean(f, "Throughput"));
	format_number(full, sizeof(full), fold_mean(f, "FullThroughput"));
	words_setting(setting, fold_first(f), fold_mean(f, "Pace"), NAN);
	if (narrow)
		table_row(t, name, cap, mb_s, setting);
	else
		table_row(t, name, cap, mb_s, full, setting);
}

static void print_devices(const Ctl *c, json_object *devices)
{
	static const char *const all[] = { "DEVICE",         ">AT MOST", ">MB/S",
					   ">WITHOUT LIMIT", "SETTING",  NULL };
	static const char *const few[] = { "DEVICE", ">AT MOST", ">MB/S", "SETTING", NULL };
	bool narrow = c->width < WORDS_NARROW, folded = false;
	_cleanup_(table_freep) Table *t = table_new(narrow ? few : all);
	Fold f = { .devices = devices };

	fold_sort(devices);
	while (fold_next(&f, fold_alike)) {
		folded |= f.n > 1;
		add_fold(t, &f, narrow);
	}
	table_print(t, c);
	if (folded && c->legend)
		fold_explain(c);
}

/* What a plan does not say of its devices, so that they fold as those of "list". */
void ctl_describe_planned(Ctl *c, json_object *planned)
{
	static const char *const keys[] = { "Kind", "Model", "Group", "Pool" };
	_cleanup_json_ json_object *devices = NULL;

	if (ctl_get_devices(c, &devices))
		return;
	for (size_t i = 0; i < json_count(planned); i++) {
		json_object *p = json_object_array_get_idx(planned, i);
		json_object *d = ctl_find_device(devices, json_text(p, "Name"));

		for (size_t k = 0; d && k < ELEMENTSOF(keys); k++)
			json_object_object_add(p, keys[k],
					       json_object_get(json_member(d, keys[k])));
	}
}

static void print_budget(json_object *p)
{
	char budget[32], cap[32], expected[32];

	printf("Budget %s: at most %s, expected %s\n",
	       format_watts(budget, sizeof(budget), json_number(p, "Budget")),
	       format_watts(cap, sizeof(cap), json_number(p, "CapPower")),
	       format_watts(expected, sizeof(expected), json_number(p, "ExpectedPower")));
	if (json_number(p, "Shortfall") > 0)
		printf("It cannot be reached: %s too much remain\n",
		       format_watts(cap, sizeof(cap), json_number(p, "Shortfall")));
}

static void print_throughput(json_object *p, size_t width)
{
	double mb_s = json_number(p, "Throughput"), most = json_number(p, "MostThroughput");
	char now[32], all[32], text[160];

	printf("Throughput %s of %s MB/s, %.1f %% lost\n", format_number(now, sizeof(now), mb_s),
	       format_number(all, sizeof(all), json_number(p, "FullThroughput")),
	       100 * plan_loss(p));
	if (!(most > mb_s * 1.001))
		return;
	snprintf(text, sizeof(text), "Fair shares cost %s MB/s of it: %s if the sum alone counted",
		 format_number(now, sizeof(now), most - mb_s),
		 format_number(all, sizeof(all), most));
	print_wrapped("", 0, text, width);
}

static void print_summary(const Ctl *c, json_object *p)
{
	double value = json_number(p, "Value"), bound = json_number(p, "BoundValue");
	double gap = bound > 0 ? 100 * (1 - value / bound) : 0;

	putchar('\n');
	print_budget(p);
	plan_print_motor(c, p);
	print_throughput(p, c->width);
	if (json_true(p, "Optimal"))
		puts("No plan is better");
	else
		printf("At most %.2f %% short of the best plan\n", fmax(gap, 0));
}

static void print_plan(Ctl *c, json_object *plan)
{
	if (c->json) {
		json_print(c, plan);
		return;
	}
	ctl_describe_planned(c, json_member(plan, "Devices"));
	pager_open(c);
	(c->wide ? print_wide : print_devices)(c, json_member(plan, "Devices"));
	print_summary(c, plan);
}

static int new_call(Ctl *c, const PlanAsked *asked, sd_bus_message **ret)
{
	_cleanup_message_ sd_bus_message *call = NULL;
	int status = ctl_new_call(c, "Plan", &call), r;

	if (status)
		return status;
	r = sd_bus_message_append(call, "ds", asked->value, asked->unit);
	if (r >= 0)
		r = append_options(c, asked->forbid, call);
	if (r < 0)
		return complain(STATUS_FAILURE, "Plan: %s", strerror(-r));
	*ret = TAKE_PTR(call);
	return STATUS_OK;
}

static json_object *plan_from(sd_bus_message *reply)
{
	json_object *plan = json_from_message(reply);

	json_object_object_add(plan, "Devices", json_from_message(reply));
	return plan;
}

void plan_print_motor(const Ctl *c, json_object *p)
{
	double motor_w = json_number(p, "MotorReserve");
	char text[160], watts[32];

	if (!(motor_w > 0))
		return;
	snprintf(
		text, sizeof(text),
		"%s are left for the motor of a disk that IO may start; --tolerance=0.2s needs none",
		format_watts(watts, sizeof(watts), motor_w));
	print_wrapped("", 0, text, c->width);
}

double plan_loss(json_object *p)
{
	double full = json_number(p, "FullThroughput");

	return full > 0 ? fmax(1 - json_number(p, "Throughput") / full, 0) : 0;
}

int ctl_try_plan(Ctl *c, const PlanAsked *asked, sd_bus_error *ret_error, json_object **ret)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	int r = ctl_connect(c);

	if (r >= 0 && new_call(c, asked, &call))
		r = -EIO;
	if (r < 0)
		return r;
	r = sd_bus_call(c->bus, call, c->patience_us, ret_error, &reply);
	if (r < 0)
		return r;
	*ret = plan_from(reply);
	return 0;
}

int ctl_plan(Ctl *c, json_object **ret)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	PlanAsked asked = {};
	int status = ctl_parse_budget(c->args[0], &asked.value, &asked.unit);

	if (!status)
		status = ctl_check_target(c);
	if (!status)
		status = new_call(c, &asked, &call);
	if (!status)
		status = ctl_call(c, call, &reply);
	if (!status)
		*ret = plan_from(reply);
	return status;
}

int verb_plan(Ctl *c)
{
	_cleanup_json_ json_object *plan = NULL;
	int status = ctl_plan(c, &plan);

	if (!status)
		print_plan(c, plan);
	return status;
}
