/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What "set" tells: the claim made, what it took the place of, and what holds beside it. */

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "ctl/ctl.h"

#define OWN_CLAIMS_SHOWN 5
#define CLAIM_TEXT_SIZE  128

static void format_until(char *buf, size_t size, double s)
{
	time_t end = time(NULL) + (isnan(s) ? 0 : (time_t)ceil(s));
	struct tm tm;

	if (isnan(s) || !localtime_r(&end, &tm))
		snprintf(buf, size, "until cleared");
	else
		(void)strftime(buf, size,
			       s < 3600    ? "until %H:%M:%S"
			       : s < 86400 ? "until %H:%M"
					   : "until %F %H:%M",
			       &tm);
}

/* "70 % (41.3 W) until 14:00" */
static char *claim_text(char buf[CLAIM_TEXT_SIZE], json_object *claim)
{
	char limit[64], until[32];

	format_claim_limit(limit, sizeof(limit), claim);
	format_until(until, sizeof(until), json_number(claim, "ExpiresIn"));
	snprintf(buf, CLAIM_TEXT_SIZE, "%s %s", limit, until);
	return buf;
}

static bool same_target(json_object *a, json_object *b)
{
	return streq(json_text(a, "Scope"), json_text(b, "Scope")) &&
	       streq(json_text(a, "Target"), json_text(b, "Target"));
}

static bool same_asker(json_object *a, json_object *b)
{
	return streq(json_text(a, "Source"), json_text(b, "Source")) &&
	       streq(json_text(a, "Owner"), json_text(b, "Owner"));
}

/* What --replace takes the place of. */
static bool same_wish(json_object *a, json_object *b)
{
	return same_target(a, b) && same_asker(a, b) &&
	       streq(json_text(a, "Class"), json_text(b, "Class"));
}

json_object *ctl_replaced_claims(json_object *before, json_object *after, uint64_t cookie)
{
	json_object *claims = json_member(before, "Claims"), *now = json_member(after, "Claims");
	json_object *mine = ctl_find_claim(now, cookie), *replaced = json_object_new_array();

	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);

		if (same_wish(claim, mine) && !ctl_find_claim(now, ctl_cookie_of(claim)))
			json_object_array_add(replaced, json_object_get(claim));
	}
	return replaced;
}

static void print_mine(json_object *mine, bool advised)
{
	const char *target = json_text(mine, "Target");
	char text[CLAIM_TEXT_SIZE];

	printf("Claim %s: %s%s%s limited to %s%s\n", json_text(mine, "Cookie"),
	       json_text(mine, "Scope"), *target ? " " : "", target, claim_text(text, mine),
	       !json_true(mine, "Active")    ? ", not yet started"
	       : advised                     ? ", but limits are only advised: nothing is set"
	       : !json_true(mine, "InForce") ? ", but another claim is lower"
					     : "");
}

/* A lower claim goes on holding: whoever meant to raise the limit has to end it. */
static void print_lower(json_object *claim, json_object *mine)
{
	const char *cookie = json_text(claim, "Cookie");
	bool theirs = !same_asker(claim, mine);
	char text[CLAIM_TEXT_SIZE];

	printf("Claim %s, %s%s%s, still holds: \"storpowerctl clear %s\" ends it%s\n", cookie,
	       claim_text(text, claim), theirs ? ", of " : "",
	       theirs ? json_text(claim, "Source") : "", cookie,
	       same_wish(claim, mine) ? ", and set --replace would have" : "");
}

static void print_behind(json_object *claim, json_object *mine)
{
	char text[CLAIM_TEXT_SIZE];

	printf("Claim %s, %s, stands %s\n", json_text(claim, "Cookie"), claim_text(text, claim),
	       !json_true(claim, "Active")  ? "beside it, not yet started"
	       : json_true(mine, "InForce") ? "behind it"
					    : "beside it");
}

static void print_beside(json_object *claims, json_object *mine)
{
	size_t own = 0;

	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);

		if (claim == mine || !same_target(claim, mine))
			continue;
		if (json_true(claim, "InForce") && json_true(mine, "Active"))
			print_lower(claim, mine);
		else if (same_asker(claim, mine) && ++own <= OWN_CLAIMS_SHOWN)
			print_behind(claim, mine);
	}
	if (own > OWN_CLAIMS_SHOWN)
		printf("%zu more of yours stand beside it: see storpowerctl list --claims\n",
		       own - OWN_CLAIMS_SHOWN);
}

void print_set(json_object *state, uint64_t cookie, json_object *replaced)
{
	json_object *claims = json_member(state, "Claims"), *mine = ctl_find_claim(claims, cookie);
	char text[CLAIM_TEXT_SIZE], cap[32], rated[32], now[32];

	print_mine(mine, ctl_is_advised(state));
	for (size_t i = 0; i < json_count(replaced); i++) {
		json_object *claim = json_object_array_get_idx(replaced, i);

		printf("Claim %s, %s, has ended: it is replaced\n", json_text(claim, "Cookie"),
		       claim_text(text, claim));
	}
	print_beside(claims, mine);
	if (*json_text(state, "Budget"))
		printf("In force: %s\n", json_text(state, "Budget"));
	printf("The devices draw at most %s of %s now, and about %s\n",
	       format_watts(cap, sizeof(cap), json_number(state, "CapPower")),
	       format_watts(rated, sizeof(rated), json_number(state, "RatedPower")),
	       format_watts(now, sizeof(now), json_number(state, "EstimatedPower")));
}
