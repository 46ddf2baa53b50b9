/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/clock.h"
#include "base/file.h"
#include "fuzz.h"
#include "journal/wear-file.h"

static char *saved(const char *folder, const WearBook *b)
{
	char path[64], *text = NULL;

	snprintf(path, sizeof(path), "%s/wear", folder);
	fuzz_check(wear_book_save(b, path) == 0);
	fuzz_check(read_file(path, &text) == 0);
	return text;
}

/* What loads, saves and loads again as the same text; and no account leaves its bucket. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t now = 9000000 * USEC_PER_SEC;
	char folder[] = "/dev/shm/fuzz-wear-XXXXXX", path[64];
	const WearTerms terms = wear_terms(0, 5, 10);
	_cleanup_close_ int fd = fuzz_file(data, size);
	_cleanup_(wear_book_freep) WearBook *first = NULL, *second = NULL;
	_cleanup_free_ char *once = NULL, *twice = NULL;
	WearAccount *a;

	if (wear_book_load(fuzz_path(fd).text, &first) < 0)
		return 0;
	fuzz_check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/wear", folder);
	once = saved(folder, first);
	fuzz_check(wear_book_load(path, &second) == 0);
	twice = saved(folder, second);
	fuzz_check(strcmp(once, twice) == 0);
	a = wear_book_get(second, "a", &terms, now);
	wear_refill(a, &terms, now);
	fuzz_check(a->starts <= terms.starts_a_day && a->loads <= terms.loads_a_day);
	fuzz_check(isfinite(a->starts) && isfinite(a->loads));
	unlink(path);
	rmdir(folder);
	return 0;
}
