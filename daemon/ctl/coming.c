/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is coming: disks that may sleep, claims that begin or end. */

#include <math.h>
#include <string.h>

#include "ctl/cost.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define SPREAD_S 5 /* disks that may sleep within so long are told together */

/* Where the lines go; the first has a label. */
typedef struct Coming {
	const Ctl *ctl;
	size_t indent, n, left_out;
} Coming;

static void say(Coming *c, const char *text)
{
	char label[32];

	if (c->n >= CLAIMS_SHOWN) {
		c->left_out++;
		return;
	}
	snprintf(label, sizeof(label), "%*s  ", (int)c->indent - 2, c->n++ ? "" : "Coming");
	print_wrapped(label, c->indent, text, c->ctl->width);
}

static bool sleeps_soon(json_object *d)
{
	return !isnan(json_number(d, "MaySleepIn"));
}

/* The soonest of those that wait, with those that follow it closely. */
static void say_disks(Coming *c, json_object *devices)
{
	const char *first = NULL;
	double soonest = INFINITY;
	size_t n = 0, all = 0;
	char text[256], span[32];

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (sleeps_soon(d) && json_number(d, "MaySleepIn") < soonest) {
			soonest = json_number(d, "MaySleepIn");
			first = json_text(d, "Name");
		}
	}
	for (size_t i = 0; i < json_count(devices); i++) {
		double s = json_number(json_object_array_get_idx(devices, i), "MaySleepIn");

		all += !isnan(s);
		n += s <= soonest + SPREAD_S;
	}
	if (!first)
		return;
	if (n == 1)
		snprintf(text, sizeof(text), "%s may sleep in %s", first,
			 words_span(span, sizeof(span), soonest));
	else
		snprintf(text, sizeof(text), "%s and %zu more disks may sleep in %s", first, n - 1,
			 words_span(span, sizeof(span), soonest));
	if (all > n)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %zu others later",
			 all - n);
	say(c, text);
}

static void say_claim(Coming *c, json_object *claim)
{
	bool active = json_true(claim, "Active");
	double in_s = json_number(claim, active ? "ExpiresIn" : "StartsIn");
	char limit[64], hour[32], text[256];

	if (isnan(in_s))
		return;
	format_claim_limit(limit, sizeof(limit), claim);
	snprintf(text, sizeof(text), "claim %s, %s, %s at %s", json_text(claim, "Cookie"), limit,
		 active ? "ends" : "begins", words_hour(hour, sizeof(hour), in_s));
	say(c, text);
}

static void say_changing(Coming *c, json_object *devices)
{
	size_t n = 0;
	char text[64];

	for (size_t i = 0; i < json_count(devices); i++)
		n += json_true(json_object_array_get_idx(devices, i), "Changing");
	if (n == 0)
		return;
	snprintf(text, sizeof(text), "%zu device%s just being set", n, n == 1 ? " is" : "s are");
	say(c, text);
}

void coming_print(const Ctl *c, json_object *state, json_object *devices, size_t indent)
{
	Coming coming = { c, indent, 0, 0 };
	json_object *claims = json_member(state, "Claims");
	char text[64];

	if (json_true(state, "Enforcing"))
		say_disks(&coming, devices);
	say_changing(&coming, devices);
	for (size_t i = 0; i < json_count(claims); i++)
		say_claim(&coming, json_object_array_get_idx(claims, i));
	if (coming.left_out > 0) {
		snprintf(text, sizeof(text), "%zu more: storpowerctl list --claims",
			 coming.left_out);
		printf("%*s%s\n", (int)indent, "", text);
	}
}
