/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What status says, of one device: its limits, what it draws and serves, and how to undo them. */

#include <math.h>
#include <string.h>

#include "ctl/cost.h"
#include "ctl/status.h"
#include "ctl/table.h"
#include "ctl/words.h"

/* It holds this device back: it is the node's, its group's or its own. */
static bool concerns(json_object *claim, json_object *d)
{
	const char *scope = json_text(claim, "Scope"), *target = json_text(claim, "Target");

	if (!json_true(claim, "InForce"))
		return false;
	if (streq(scope, "device"))
		return streq(target, json_text(d, "Name"));
	return streq(scope, "node") || streq(target, json_text(d, "Group"));
}

static void say_what_it_is(const Screen *s, json_object *d)
{
	const char *group = json_text(d, "Group"), *pool = json_text(d, "Pool");

	say(s, "Device", "%s, %s %s%s%s%s%s", json_text(d, "Name"), json_text(d, "Kind"),
	    json_text(d, "Model"), *group ? ", of group " : "", group, *pool ? ", of pool " : "",
	    pool);
	if (*json_text(d, "ProtectedReason"))
		say(s, "", "never touched: %s", json_text(d, "ProtectedReason"));
}

static void say_limits(const Screen *s, json_object *d, char *cookies, size_t size)
{
	json_object *claims = json_member(s->state, "Claims");
	bool any = false;

	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);
		size_t at = strlen(cookies);

		if (!concerns(claim, d))
			continue;
		say_claim(s, any ? "" : "Limit", claim);
		snprintf(cookies + at, size - at, " %s", json_text(claim, "Cookie"));
		any = true;
	}
	if (!any)
		say(s, "Limit", "none");
}

static void say_draw(const Screen *s, json_object *d)
{
	double measured = json_number(d, "MeasuredPower");
	char now[32], cap[32], all[32];

	say(s, "Draws", "%s, %s; at most %s as it is set, of %s",
	    format_watts(now, sizeof(now),
			 isnan(measured) ? json_number(d, "EstimatedPower") : measured),
	    isnan(measured) ? "modelled" : "measured",
	    format_watts(cap, sizeof(cap), json_number(d, "CapPower")),
	    format_watts(all, sizeof(all), json_number(d, "OperatingPower")));
}

static void say_setting(const Screen *s, json_object *d)
{
	char text[WORDS_SIZE];

	say(s, "Set", "%s",
	    words_explained(text, d, json_number(d, "Pace"), json_number(d, "ExpectedThroughput")));
	if (json_true(d, "Asleep"))
		say(s, "Sleeps", "storpowerctl wake %s wakes it", json_text(d, "Name"));
}

static void say_device(const Screen *s, json_object *d)
{
	char cookies[256] = "";

	say_what_it_is(s, d);
	say_limits(s, d, cookies, sizeof(cookies));
	say_draw(s, d);
	say_setting(s, d);
	say_cost(s);
	if (*cookies)
		say(s, "Undo", "storpowerctl clear%s", cookies);
}

int status_of_device(Ctl *c, const char *name)
{
	_cleanup_json_ json_object *state = NULL, *devices = NULL, *plan = NULL;
	_cleanup_json_ json_object *alone = json_object_new_array();
	json_object *d = NULL;
	Screen s = { .ctl = c, .devices = alone };
	int status = ctl_get_devices(c, &devices);

	if (!status)
		status = ctl_need_device(devices, name, &d);
	if (!status && !c->json)
		status = ctl_get_state(c, &state);
	if (status)
		return status;
	if (c->json) {
		json_print(c, d);
		return STATUS_OK;
	}
	json_object_array_add(alone, json_object_get(d));
	if (json_true(state, "Enforcing"))
		(void)ctl_try_plan(c, &(PlanAsked){ 100, "%", NULL }, NULL, &plan);
	s.state = state;
	s.unlimited = json_member(plan, "Devices");
	pager_open(c);
	say_device(&s, d);
	return STATUS_OK;
}
