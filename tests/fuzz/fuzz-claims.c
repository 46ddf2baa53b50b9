/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claim.h"
#include "fuzz.h"

/* What loads, saves and loads again as the same text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const ClaimsClock clock = { "11111111-2222-3333-4444-555555555555", 5000000, 9000000 };
	_cleanup_(claims_freep) Claims *first = claims_new(), *second = claims_new();
	_cleanup_free_ char *text = fuzz_text(data, size), *once = NULL, *twice = NULL;

	if (claims_load(first, "fuzz", text, &clock) < 0)
		return 0;
	fuzz_check(claims_save(first, &clock, &once) == 0);
	fuzz_check(claims_load(second, "fuzz", once, &clock) == 0);
	fuzz_check(claims_save(second, &clock, &twice) == 0);
	fuzz_check(strcmp(once, twice) == 0);
	fuzz_check(!claims_get(first, 0) == !claims_get(second, 0));
	(void)claims_effective(first, SCOPE_NODE, NULL, 100, clock.boottime_us, NULL);
	(void)claims_next_event(first, clock.boottime_us);
	return 0;
}
