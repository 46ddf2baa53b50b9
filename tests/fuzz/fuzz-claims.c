/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claim.h"
#include "fuzz.h"

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

/* What loads, saves and loads again as the same claims and the same text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const ClaimsClock clock = { "11111111-2222-3333-4444-555555555555", 5000000, 9000000 };
	_cleanup_(claims_freep) Claims *first = claims_new(), *second = claims_new();
	_cleanup_free_ char *text = fuzz_sealed(data, &size), *once = NULL, *twice = NULL;
	size_t i = 0;

	if (claims_load(first, "fuzz", text, size, &clock) < 0)
		return 0;
	fuzz_check(claims_save(first, &clock, &once) == 0);
	fuzz_check(claims_load(second, "fuzz", once, strlen(once), &clock) == 0);
	fuzz_check(claims_save(second, &clock, &twice) == 0);
	fuzz_check(strcmp(once, twice) == 0);
	do
		fuzz_check(same(claims_get(first, i), claims_get(second, i)));
	while (claims_get(first, i++));
	(void)claims_effective(first, SCOPE_NODE, NULL, 100, clock.boottime_us, NULL);
	(void)claims_next_event(first, clock.boottime_us);
	return 0;
}
