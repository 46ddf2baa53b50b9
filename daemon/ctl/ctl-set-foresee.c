/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a limit would cost, before it is set: "set 8%" for 80 % must not stop a node unasked. */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "ctl/table.h"
#include "ctl/words.h"

#define MUCH        0.25 /* of the throughput: nobody loses that unasked */
#define BELOW       0.99 /* of its floor: less is no rounding */
#define UNITS_NAMED 3
#define LEAST_MB_S  0.1

/* A limit of one device or group is no plan of the node's. */
static bool is_of_node(const Ctl *c)
{
	return !c->device && !c->group;
}

static int ask_plan(Ctl *c, json_object **ret)
{
	PlanAsked asked = {};
	int status = ctl_parse_budget(c->args[0], &asked.value, &asked.unit), r;

	if (status)
		return status;
	r = ctl_try_plan(c, &asked, ret);
	if (r >= 0)
		ctl_describe_planned(c, json_member(*ret, "Devices"));
	return STATUS_OK;
}

static bool is_below_floor(json_object *d)
{
	double floor = json_number(d, "Floor");

	return floor > LEAST_MB_S && json_number(d, "Throughput") < BELOW * floor;
}

static const char *unit_name(json_object *d)
{
	return *json_text(d, "Pool") ? json_text(d, "Pool") : json_text(d, "Name");
}

/* Members of a pool that follow each other are one unit. */
static size_t list_below_floor(json_object *devices, char *buf, size_t size)
{
	const char *last = "";
	size_t n = 0, at = 0;

	*buf = '\0';
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (!is_below_floor(d) || streq(unit_name(d), last))
			continue;
		last = unit_name(d);
		if (n++ < UNITS_NAMED && at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", n > 1 ? ", " : "",
					       last);
	}
	return n;
}

static void print_cost(const Ctl *c, json_object *plan)
{
	double shortfall = json_number(plan, "Shortfall");
	char text[256], watts[32], now[32], full[32];

	snprintf(text, sizeof(text),
		 "Predicted: %s of %s MB/s served, %.0f %% lost; about %s drawn",
		 format_number(now, sizeof(now), json_number(plan, "Throughput")),
		 format_number(full, sizeof(full), json_number(plan, "FullThroughput")),
		 100 * plan_loss(plan),
		 format_watts(watts, sizeof(watts), json_number(plan, "ExpectedPower")));
	print_wrapped("", 0, text, c->width);
	if (shortfall > 0)
		printf("It cannot be reached: %s too much remain\n",
		       format_watts(watts, sizeof(watts), shortfall));
}

static void print_below_floor(const Ctl *c, const char *names, size_t n)
{
	char text[512], more[32] = "";

	if (n > UNITS_NAMED)
		snprintf(more, sizeof(more), " and %zu more", n - UNITS_NAMED);
	snprintf(text, sizeof(text), "Below %s floor: %s%s", n == 1 ? "its" : "their", names, more);
	print_wrapped("", 0, text, c->width);
}

static bool is_confirmed(void)
{
	char line[16] = "";

	fflush(stdout);
	fputs("Set this limit? [y/N] ", stderr);
	if (!fgets(line, sizeof(line), stdin))
		fputc('\n', stderr);
	return *line == 'y' || *line == 'Y';
}

static int foresee(Ctl *c, json_object *plan, bool asks)
{
	char names[256];
	size_t below = list_below_floor(json_member(plan, "Devices"), names, sizeof(names));

	print_cost(c, plan);
	if (below > 0)
		print_below_floor(c, names, below);
	if (!asks || (below == 0 && plan_loss(plan) <= MUCH) || is_confirmed())
		return STATUS_OK;
	return complain(STATUS_REFUSED, "Nothing was changed; --yes sets a limit unasked");
}

int ctl_foresee(Ctl *c)
{
	_cleanup_json_ json_object *plan = NULL;
	bool asks = !c->yes && isatty(STDIN_FILENO);
	int status;

	/* an emergency waits for nothing */
	if (!is_of_node(c) || c->json || (c->class && streq(c->class, "emergency")))
		return STATUS_OK;
	status = ask_plan(c, &plan);
	return status || !plan ? status : foresee(c, plan, asks);
}

int ctl_foretell(Ctl *c)
{
	_cleanup_json_ json_object *plan = NULL;
	int status = STATUS_OK;

	if (!is_of_node(c))
		status = complain(STATUS_USAGE,
				  "--dry-run: what a limit of one device or group costs is not "
				  "planned; leave out --device and --group");
	if (!status)
		status = ask_plan(c, &plan);
	if (!status && !plan)
		status = complain(STATUS_FAILURE, "The daemon does not say what it would cost: see "
						  "storpowerctl plan");
	if (status)
		return status;
	if (c->json)
		json_print(c, plan);
	else
		(void)foresee(c, plan, false);
	return STATUS_OK;
}
