/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/file.h"
#include "fuzz.h"
#include "journal/wear-file.h"

static char *saved(const char *path, const WearBook *b)
{
	char *text = NULL;

	fuzz_check(wear_book_save(b, path) == 0);
	fuzz_check(read_file(path, &text) == 0);
	return text;
}

/* What loads, saves and loads again as the same text; and no account leaves its bucket. */
static void check_book(const FuzzFolder *folder, const WearBook *first)
{
	static const uint64_t now = 9000000 * USEC_PER_SEC;
	const WearTerms terms = wear_terms(0, 5, 10);
	_cleanup_free_ char *once = saved(folder->path, first), *twice = NULL;
	_cleanup_(wear_book_freep) WearBook *second = NULL;
	WearAccount *a;

	unlink(folder->damaged);
	fuzz_check(wear_book_load(folder->path, &second) == 0);
	fuzz_check(access(folder->damaged, F_OK) < 0);
	twice = saved(folder->path, second);
	fuzz_check(strcmp(once, twice) == 0);
	a = wear_book_get(second, "a", &terms, now);
	wear_refill(a, &terms, now);
	fuzz_check(a->starts <= terms.starts_a_day && a->loads <= terms.loads_a_day);
	fuzz_check(isfinite(a->starts) && isfinite(a->loads));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_sealed(data, &size);
	_cleanup_(wear_book_freep) WearBook *b = NULL;
	FuzzFolder folder;
	int r;

	fuzz_open_folder(&folder, "wear");
	fuzz_check(write_bytes_atomic(folder.path, text, size, 0600) == 0);
	r = wear_book_load(folder.path, &b);
	fuzz_check(r == 0 || r == -EPROTONOSUPPORT);
	fuzz_check_kept(&folder, text, size);
	if (r == 0)
		check_book(&folder, b);
	fuzz_close_folder(&folder);
	return 0;
}
