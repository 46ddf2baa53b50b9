/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claim.h"
#include "fuzz.h"

static const ClaimsClock at_9_s = { "11111111-2222-3333-4444-555555555555", 5000000, 9000000 };

static bool same(const Claim *a, const Claim *b)
{
	if (!a || !b)
		return a == b;
	return a->cookie == b->cookie && a->class == b->class && a->scope == b->scope &&
	       a->limit == b->limit && a->unit == b->unit && a->created_us == b->created_us &&
	       a->start_us == b->start_us && a->expiry_us == b->expiry_us &&
	       streq(a->target ?: "", b->target ?: "") && streq(a->source, b->source) &&
	       streq(a->reason, b->reason) && streq(a->owner ?: "", b->owner ?: "") &&
	       streq(a->bus ?: "", b->bus ?: "");
}

/* Whether a line of these says something of the claim: what is said last counts. */
static bool is_said_again(const char *at, const char *end, unsigned long cookie)
{
	while (at < end) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end);
		const char *named = strstr(line, "cookie=");

		if (named && strtoul(named + strcspn(named, "0123456789"), NULL, 10) == cookie)
			return true;
	}
	return false;
}

/* The claim that a line in the plainest form holds must be there, as it is written, unless one of
 * the lines after it changes or ends it. */
static void check_line(const Claims *c, const char *line, const char *rest, const char *end)
{
	_cleanup_free_ char *class = NULL, *scope = NULL;
	unsigned long cookie;
	const Claim *claim;
	double limit;
	char unit;

	if (sscanf(line, "claim cookie=%lu class=\"%m[a-z]\" scope=\"%m[a-z]\" limit=%lf unit=\"%c",
		   &cookie, &class, &scope, &limit, &unit) < 5 ||
	    strstr(line, "expiry") || is_said_again(rest, end, cookie))
		return;
	claim = claims_find(c, cookie);
	fuzz_check(claim && claim->limit == limit && streq(claim_class_name(claim->class), class) &&
		   streq(claim_scope_name(claim->scope), scope) &&
		   (claim->unit == LIMIT_PERCENT) == (unit == '%'));
}

/* A file that is not said to be damaged has lost no claim. */
static void check_whole(const Claims *c, const char *text, size_t size)
{
	for (const char *at = text, *end = text + size; at < end;) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end);

		check_line(c, line, at, end);
	}
}

/* Whatever bit of a file is flipped, that is said, and what is left are claims that there were. */
static void check_flipped(const Claims *whole, char *text, uint32_t chance)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	const Claim *claim;

	fuzz_flip_bit(text, strlen(text), chance);
	fuzz_check(claims_load(c, "fuzz", text, strlen(text), &at_9_s) > 0);
	for (size_t i = 0; (claim = claims_get(c, i)); i++)
		fuzz_check(same(claim, claims_find(whole, claim->cookie)));
}

/* What loads, saves and loads again as the same claims and the same text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(claims_freep) Claims *first = claims_new(), *second = claims_new();
	uint32_t chance = fuzz_chance(data, size);
	_cleanup_free_ char *text = fuzz_sealed(data, &size), *once = NULL, *twice = NULL;
	size_t i = 0;
	int r = claims_load(first, "fuzz", text, size, &at_9_s);

	if (r < 0)
		return 0;
	if (r == 0)
		check_whole(first, text, size);
	fuzz_check(claims_save(first, &at_9_s, &once) == 0);
	fuzz_check(claims_load(second, "fuzz", once, strlen(once), &at_9_s) == 0);
	fuzz_check(claims_save(second, &at_9_s, &twice) == 0);
	fuzz_check(strcmp(once, twice) == 0);
	do
		fuzz_check(same(claims_get(first, i), claims_get(second, i)));
	while (claims_get(first, i++));
	(void)claims_effective(first, SCOPE_NODE, NULL, 100, at_9_s.boottime_us, NULL);
	(void)claims_next_event(first, at_9_s.boottime_us);
	check_flipped(second, twice, chance);
	return 0;
}
