/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file of the claims: what changes is appended, and the file stays in proportion to them. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "control/claims-store.h"

static const ClaimsClock clock_now = { "11111111-2222-3333-4444-555555555555", 1, 1 };

typedef struct Store {
	char folder[32], *path;
	Claims *claims;
	ClaimsStore store;
} Store;

static int open_store(void **state)
{
	Store *s = calloc(1, sizeof(*s));

	strcpy(s->folder, "/tmp/storpower-XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	s->path = text_printf("%s/claims", s->folder);
	s->claims = claims_new();
	*state = s;
	return 0;
}

static int close_store(void **state)
{
	Store *s = *state;

	unlink(s->path);
	rmdir(s->folder);
	free(s->path);
	claims_free(s->claims);
	claims_store_done(&s->store);
	free(s);
	return 0;
}

static uint64_t add(Store *s)
{
	uint64_t cookie;

	assert_int_equal(
		claims_add(s->claims, &(Claim){ .limit = 7, .expiry_us = USEC_NEVER }, &cookie), 0);
	claims_store_note(&s->store, cookie);
	return cookie;
}

static void end(Store *s, uint64_t cookie)
{
	assert_int_equal(claims_release(s->claims, cookie), 0);
	claims_store_note(&s->store, cookie);
}

static int save(Store *s)
{
	return claims_store_save(&s->store, s->claims, s->path, &clock_now);
}

static struct stat status_of(const Store *s)
{
	struct stat st;

	assert_int_equal(stat(s->path, &st), 0);
	return st;
}

/* The file holds these claims and no others. */
static void check_saved(const Store *s)
{
	_cleanup_(claims_freep) Claims *back = claims_new();
	_cleanup_free_ char *text = NULL;
	size_t n, i;

	assert_int_equal(read_bytes(s->path, &text, &n), 0);
	assert_int_equal(claims_load(back, s->path, text, n, &clock_now), 0);
	for (i = 0; claims_get(s->claims, i) && claims_get(back, i); i++)
		assert_int_equal(claims_get(s->claims, i)->cookie, claims_get(back, i)->cookie);
	assert_true(!claims_get(s->claims, i) && !claims_get(back, i));
}

static void a_change_is_appended(void **state)
{
	Store *s = *state;
	uint64_t first = add(s);
	struct stat before, after;

	assert_int_equal(save(s), 0);
	before = status_of(s);
	add(s);
	end(s, first);
	assert_int_equal(save(s), 0);
	after = status_of(s);
	assert_true(after.st_ino == before.st_ino && after.st_size > before.st_size);
	check_saved(s);
}

static void the_file_does_not_grow_for_ever(void **state)
{
	Store *s = *state;
	off_t largest = 0;

	for (int i = 0; i < 3000; i++) {
		uint64_t cookie = add(s);

		end(s, cookie);
		assert_int_equal(save(s), 0);
		largest = MAX(largest, status_of(s).st_size);
	}
	assert_in_range(largest, 1, 64 << 10);
	check_saved(s);
}

static void what_could_not_be_saved_is_saved_as_soon_as_it_can(void **state)
{
	Store *s = *state;

	add(s);
	assert_int_equal(save(s), 0);
	unlink(s->path);
	assert_int_equal(rmdir(s->folder), 0);
	add(s);
	assert_int_equal(save(s), -ENOENT);
	add(s);
	assert_int_equal(mkdir(s->folder, 0700), 0);
	assert_int_equal(save(s), 0);
	check_saved(s);
	add(s);
	assert_int_equal(save(s), 0);
	check_saved(s);
}

static void a_file_that_somebody_removed_is_written_anew(void **state)
{
	Store *s = *state;

	add(s);
	assert_int_equal(save(s), 0);
	unlink(s->path);
	add(s);
	assert_int_equal(save(s), 0);
	check_saved(s);
}

#define store_test(f) cmocka_unit_test_setup_teardown(f, open_store, close_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(a_change_is_appended),
		store_test(the_file_does_not_grow_for_ever),
		store_test(what_could_not_be_saved_is_saved_as_soon_as_it_can),
		store_test(a_file_that_somebody_removed_is_written_anew),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
