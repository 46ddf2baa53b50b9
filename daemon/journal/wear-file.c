/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The wear accounts and their file (base/records.h): a disk a line, in the order of their ids.
 *
 *	storpower-wear 2 #01234567
 *	disk id="wwid:naa.5000c500a1b2c3d4" starts=8.25 loads=320.5 starts-used=17 loads-used=40
 *		refilled=1763740800000000 #01234567
 */

#include "journal/wear-file.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/records.h"
#include "base/set-aside.h"
#include "base/text.h"

/* No disk comes near this; a number beyond it was not written by us. */
#define CYCLES_MAX 1e9

/* In the order of the ids. Each account is allocated by itself, for pointers to it are kept. */
struct WearBook {
	WearAccount **accounts;
	size_t n;
};

static WearAccount *account_free(WearAccount *a)
{
	if (a)
		free(a->id);
	free(a);
	return NULL;
}
DEFINE_CLEANUP(WearAccount *, account_free);

WearBook *wear_book_free(WearBook *b)
{
	for (size_t i = 0; b && i < b->n; i++)
		account_free(b->accounts[i]);
	if (b)
		free(b->accounts);
	free(b);
	return NULL;
}

/* The first that is not before the id. */
static size_t find_place(const WearBook *b, const char *id)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(b->accounts[middle]->id, id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const WearBook *b, size_t place, const char *id)
{
	return place < b->n && streq(b->accounts[place]->id, id);
}

/* Takes the account over. */
static int insert_at(WearBook *b, size_t place, WearAccount *a)
{
	if (!ARRAY_GROW(b->accounts, b->n))
		return -ENOMEM;
	memmove(&b->accounts[place + 1], &b->accounts[place],
		(b->n - 1 - place) * sizeof(*b->accounts));
	b->accounts[place] = a;
	return 0;
}

WearAccount *wear_book_get(WearBook *b, const char *id, const WearTerms *t, uint64_t realtime_us)
{
	_cleanup_(account_freep) WearAccount *a = NULL;
	size_t place = find_place(b, id);

	if (is_at(b, place, id))
		return b->accounts[place];
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->id = strdup(id);
	a->starts = a->loads = INFINITY; /* the refill leaves what the buckets hold */
	wear_refill(a, t, realtime_us);
	if (!a->id || insert_at(b, place, a) < 0)
		return NULL;
	return TAKE_PTR(a);
}

/* Takes over the account that was read. */
static int take_disk(void *record, void *book)
{
	WearAccount *read = record;
	WearBook *b = book;
	size_t place = find_place(b, read->id);
	_cleanup_(account_freep) WearAccount *a = NULL;
	int r;

	if (fabs(read->starts) > CYCLES_MAX || fabs(read->loads) > CYCLES_MAX)
		return -ERANGE;
	if (is_at(b, place, read->id))
		return -EEXIST;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = *read;
	read->id = NULL;
	r = insert_at(b, place, a);
	if (r >= 0)
		TAKE_PTR(a);
	return r;
}

static const RecordKind disk_kind = {
	.name = "disk",
	.size = sizeof(WearAccount),
	.take = take_disk,
	.fields = {
		FIELD(WearAccount, id, "id"),
		FIELD(WearAccount, starts, "starts"),
		FIELD(WearAccount, loads, "loads"),
		FIELD(WearAccount, starts_used, "starts-used"),
		FIELD(WearAccount, loads_used, "loads-used"),
		FIELD(WearAccount, realtime_us, "refilled"),
	},
};

static const RecordsFormat format = {
	.name = "wear",
	.kinds = (const RecordKind *const[]){ &disk_kind, NULL },
	.loss = "the wear account that it held begins anew",
};

/* The old format, which is read once and saved in the new one:
 *
 *	storpower-wear 1
 *	# a comment
 *	disk "ID" starts=8.250000 loads=320.500000 starts-used=17 loads-used=40 refilled=US
 */
static const char old_header[] = "storpower-wear 1\n";

static const RecordsFormat old_format = {
	.name = "wear",
	.kinds = (const RecordKind *const[]){ &disk_kind, NULL },
	.loss = "the wear account that it held begins anew",
	.unsealed = true,
};

static int load(WearBook *b, const char *path)
{
	_cleanup_free_ char *text = NULL;
	bool old;
	size_t n;
	int r = read_bytes(path, &text, &n);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	old = strncmp(text, old_header, strlen(old_header)) == 0;
	r = records_read(old ? &old_format : &format, path, text, n, b);
	/* a copy that cannot be kept is complained of there; the accounts matter more */
	if (r > 0)
		(void)set_aside_copy(path, text, n);
	return MIN(r, 0);
}

int wear_book_load(const char *path, WearBook **ret)
{
	_cleanup_(wear_book_freep) WearBook *b = calloc(1, sizeof(*b));
	int r = b ? 0 : -ENOMEM;

	if (r >= 0 && path)
		r = load(b, path);
	if (r >= 0)
		*ret = TAKE_PTR(b);
	return r;
}

int wear_book_save(const WearBook *b, const char *path)
{
	_cleanup_free_ char *text = NULL;
	RecordsWriter w;
	size_t n;
	int r = path ? records_begin(&w, format.name) : 0;

	if (r < 0 || !path)
		return r;
	for (size_t i = 0; i < b->n; i++)
		records_add(&w, &disk_kind, b->accounts[i]);
	r = records_end(&w, &text, &n);
	return r < 0 ? r : write_bytes_atomic(path, text, n, 0644);
}
