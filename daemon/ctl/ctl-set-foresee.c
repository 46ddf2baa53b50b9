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

/* NULL, with the reason: the daemon cannot say. */
static int ask_plan(Ctl *c, char **ret_why_not, json_object **ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	PlanAsked asked = {};
	int status = ctl_parse_budget(c->args[0], &asked.value, &asked.unit), r;

	if (!status)
		status = ctl_check_target(c);
	if (status)
		return status;
	r = ctl_try_plan(c, &asked, &error, ret);
	if (r >= 0)
		ctl_describe_planned(c, json_member(*ret, "Devices"));
	else if (!ctl_is_hopeless(&error)) /* else the claim fails in a moment, and says why */
		*ret_why_not = strdup(error.message ?: strerror(-r));
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
	const char *target = c->device ? ctl_device_name(c->device) : c->group;
	char text[512], watts[32], now[32], full[32];

	snprintf(text, sizeof(text),
		 "Predicted%s%s%s: %s of %s MB/s served, %.0f %% lost; about %s drawn",
		 target ? " for " : "", c->group ? "group " : "", target ?: "",
		 format_number(now, sizeof(now), json_number(plan, "Throughput")),
		 format_number(full, sizeof(full), json_number(plan, "FullThroughput")),
		 100 * plan_loss(plan),
		 format_watts(watts, sizeof(watts), json_number(plan, "ExpectedPower")));
	print_wrapped("", 0, text, c->width);
	plan_print_motor(c, plan);
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

static int refuse_unasked(void)
{
	return complain(STATUS_REFUSED, "Nothing was changed; --yes sets a limit unasked");
}

static int foresee(Ctl *c, json_object *plan, bool asks)
{
	char names[256];
	size_t below = list_below_floor(json_member(plan, "Devices"), names, sizeof(names));
	bool out_of_reach = json_number(plan, "Shortfall") > 0;

	print_cost(c, plan);
	if (below > 0)
		print_below_floor(c, names, below);
	/* what cannot be reached is as likely a slip of the hand as what costs much */
	if (!asks || (below == 0 && plan_loss(plan) <= MUCH && !out_of_reach) || is_confirmed())
		return STATUS_OK;
	return refuse_unasked();
}

static int set_unforeseen(const char *why_not, bool asks)
{
	(void)complain(0, "What this limit costs is not known beforehand: %s", why_not);
	return !asks || is_confirmed() ? STATUS_OK : refuse_unasked();
}

int ctl_foresee(Ctl *c)
{
	_cleanup_json_ json_object *plan = NULL;
	_cleanup_free_ char *why_not = NULL;
	bool asks = !c->yes && isatty(STDIN_FILENO);
	int status;

	/* an emergency waits for nothing */
	if (c->json || (c->class && streq(c->class, "emergency")))
		return STATUS_OK;
	status = ask_plan(c, &why_not, &plan);
	if (status)
		return status;
	if (plan)
		return foresee(c, plan, asks);
	return why_not ? set_unforeseen(why_not, asks) : STATUS_OK;
}

int ctl_foretell(Ctl *c)
{
	_cleanup_json_ json_object *plan = NULL;
	int status = ctl_plan(c, &plan);

	if (status)
		return status;
	ctl_describe_planned(c, json_member(plan, "Devices"));
	if (c->json)
		json_print(c, plan);
	else
		(void)foresee(c, plan, false);
	return STATUS_OK;
}
