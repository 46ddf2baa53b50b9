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

/* Whatever bit of a file is flipped, the file is set aside, and the other accounts stay. */
static void check_flipped(const FuzzFolder *folder, char *text, uint32_t chance)
{
	size_t n = strlen(text), accounts = fuzz_count_lines(text, n, "disk ");
	_cleanup_(wear_book_freep) WearBook *b = NULL;
	_cleanup_free_ char *less = NULL;

	fuzz_flip_bit(text, n, chance);
	fuzz_check(write_bytes_atomic(folder->path, text, n, 0600) == 0);
	fuzz_check(wear_book_load(folder->path, &b) == 0);
	fuzz_check_set_aside(folder, text, n);
	less = saved(folder->path, b);
	fuzz_check(fuzz_count_lines(less, strlen(less), "disk ") + 2 >= accounts);
}

/* What loads, saves and loads again as the same text; and no account leaves its bucket. */
static void check_book(const FuzzFolder *folder, const WearBook *first, uint32_t chance)
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
	check_flipped(folder, twice, chance);
}

/* A file that was not set aside has lost no account. */
static void check_whole(const FuzzFolder *folder, const WearBook *b, const char *text, size_t size)
{
	_cleanup_free_ char *once = NULL;

	if (access(folder->damaged, F_OK) == 0)
		return;
	once = saved(folder->path, b);
	fuzz_check(fuzz_count_lines(once, strlen(once), "disk ") ==
		   fuzz_count_lines(text, size, "disk "));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t chance = fuzz_chance(data, size);
	_cleanup_free_ char *text = fuzz_sealed(data, &size);
	_cleanup_(wear_book_freep) WearBook *b = NULL;
	FuzzFolder folder;
	int r;

	fuzz_open_folder(&folder, "wear");
	fuzz_check(write_bytes_atomic(folder.path, text, size, 0600) == 0);
	r = wear_book_load(folder.path, &b);
	fuzz_check(r == 0 || r == -EPROTONOSUPPORT);
	fuzz_check_kept(&folder, text, size);
	if (r == 0) {
		check_whole(&folder, b, text, size);
		check_book(&folder, b, chance);
	}
	fuzz_close_folder(&folder);
	return 0;
}
