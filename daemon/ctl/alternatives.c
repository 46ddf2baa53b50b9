/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/alternatives.h"

#include <math.h>
#include <string.h>

#include "ctl/table.h"
#include "ctl/words.h"

#define LEAST_MB_S 0.1 /* less is nothing */

struct Alternatives {
	json_object *now, *more; /* the limit, and a watt more */
	json_object *next;       /* the best without a mechanism that the plan uses; NULL: none */
	const char *without;
};

/* What each mechanism's setting is in a plan, and what it says when it is not used. */
static const struct {
	const char *mechanism, *key, *unused;
} mechanisms[] = {
	{ "power-state", "PowerState", "-1" },  { "power-limit", "PowerLimit", "0.0" },
	{ "condition", "Condition", "active" }, { "depth", "DepthLimit", "0" },
	{ "chunk", "ChunkLimit", "0" },         { "pacing", "Pace", "0.0" },
	{ "redirect", "Redirect", "as found" },
};

static bool is_used(json_object *plan, size_t mechanism)
{
	json_object *devices = json_member(plan, "Devices");

	for (size_t i = 0; i < json_count(devices); i++)
		if (!streq(json_text(json_object_array_get_idx(devices, i),
				     mechanisms[mechanism].key),
			   mechanisms[mechanism].unused))
			return true;
	return false;
}

static bool holds_as_well(json_object *plan, json_object *other)
{
	return !(json_number(other, "Shortfall") > json_number(plan, "Shortfall") + 0.01);
}

static void ask_next(Ctl *c, Alternatives *a, double limit_w)
{
	for (size_t i = 0; i < ELEMENTSOF(mechanisms); i++) {
		const PlanAsked asked = { limit_w, "W", mechanisms[i].mechanism };
		json_object *plan = NULL;

		if (!is_used(a->now, i) || ctl_try_plan(c, &asked, NULL, &plan) < 0)
			continue;
		if (holds_as_well(a->now, plan) &&
		    (!a->next || json_number(plan, "Value") > json_number(a->next, "Value"))) {
			json_object_put(a->next);
			a->next = plan;
			a->without = mechanisms[i].mechanism;
		} else {
			json_object_put(plan);
		}
	}
}

Alternatives *alternatives_ask(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;
	Alternatives *a = NULL;
	double limit_w;

	if (ctl_get_known_state(c, &state))
		return NULL;
	limit_w = json_number(state, "EffectiveLimit");
	if (isnan(limit_w) || !(a = calloc(1, sizeof(*a))))
		return NULL;
	if (ctl_try_plan(c, &(PlanAsked){ limit_w, "W", NULL }, NULL, &a->now) < 0 ||
	    ctl_try_plan(c, &(PlanAsked){ limit_w + 1, "W", NULL }, NULL, &a->more) < 0)
		return alternatives_free(a);
	ask_next(c, a, limit_w);
	return a;
}

static const char *find_winner(const Alternatives *a, double *ret_mb_s)
{
	json_object *now = json_member(a->now, "Devices"), *more = json_member(a->more, "Devices");
	const char *name = "";

	*ret_mb_s = 0;
	for (size_t i = 0; i < json_count(more); i++) {
		json_object *d = json_object_array_get_idx(more, i);
		double gain = json_number(d, "Throughput") -
			      json_number(ctl_find_device(now, json_text(d, "Name")), "Throughput");

		if (gain > *ret_mb_s) {
			*ret_mb_s = gain;
			name = json_text(d, "Name");
		}
	}
	return name;
}

static void print_watt(const Ctl *c, const Alternatives *a)
{
	double all = json_number(a->more, "Throughput") - json_number(a->now, "Throughput"), most;
	const char *winner = find_winner(a, &most);
	char text[256], sum[32], one[32];

	if (all < LEAST_MB_S)
		snprintf(text, sizeof(text), "A watt more would bring no throughput.");
	else
		snprintf(text, sizeof(text),
			 "A watt more would bring %s MB/s, to %s most: %s MB/s.",
			 format_number(sum, sizeof(sum), all), winner,
			 format_number(one, sizeof(one), most));
	print_wrapped("", 0, text, c->width);
}

static void print_next(const Ctl *c, const Alternatives *a)
{
	bool more = json_number(a->next, "Throughput") > json_number(a->now, "Throughput");
	char text[256], next[32], now[32];

	snprintf(text, sizeof(text), "Next best, without %s: %s MB/s instead of %s%s.", a->without,
		 format_number(next, sizeof(next), json_number(a->next, "Throughput")),
		 format_number(now, sizeof(now), json_number(a->now, "Throughput")),
		 more ? ", shared less fairly" : "");
	print_wrapped("", 0, text, c->width);
}

void alternatives_print(const Ctl *c, const Alternatives *a)
{
	if (!a)
		return;
	putchar('\n');
	print_watt(c, a);
	if (a->next)
		print_next(c, a);
}

Alternatives *alternatives_free(Alternatives *a)
{
	if (!a)
		return NULL;
	json_object_put(a->now);
	json_object_put(a->more);
	json_object_put(a->next);
	free(a);
	return NULL;
}
