/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/text.h"
#include "fuzz.h"

/* What people type: whatever is taken is a finite number within its range. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_text(data, size);
	_cleanup_(strv_freep) char **words = NULL;
	LimitUnit unit;
	unsigned long n;
	uint64_t u;
	double v;
	bool b;

	if (parse_limit(text, &v, &unit) >= 0)
		fuzz_check(v >= 0 && v <= (unit == LIMIT_PERCENT ? 100 : 1e8));
	if (parse_double(text, &v) >= 0)
		fuzz_check(isfinite(v));
	if (parse_duration_us(text, &u) >= 0)
		fuzz_check(u > 0 && u <= 366ULL * 86400 * 1000000);
	if (parse_bytes(text, &u) >= 0)
		fuzz_check(u < 1ULL << 63);
	if (parse_unsigned(text, 1000, &n) >= 0)
		fuzz_check(n <= 1000);
	(void)parse_bool(text, &b);
	words = strv_split(text);
	(void)strv_match(words, "device");
	return 0;
}
