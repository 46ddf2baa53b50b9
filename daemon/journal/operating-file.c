/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device a line (base/records.h):
 *
 *	storpower-operating 2 #01234567
 *	device id="nvme:S5GYNX0R1234" watts=14.6 #89abcdef
 */

#include "journal/operating-file.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/records.h"
#include "base/set-aside.h"
#include "base/text.h"

#define WATTS_MAX 1000.0 /* as in a profile: a number beyond it was not written by us */

typedef struct Entry {
	char *id; /* Device.id */
	double watts;
} Entry;

struct OperatingBook {
	char *path; /* NULL: in memory alone */
	Entry *entries;
	size_t n;
};

static Entry *find(const OperatingBook *b, const char *id)
{
	for (size_t i = 0; i < b->n; i++)
		if (streq(b->entries[i].id, id))
			return &b->entries[i];
	return NULL;
}

static int note(OperatingBook *b, const char *id, double watts)
{
	Entry *e = find(b, id);
	char *copy = e ? e->id : strdup(id);

	if (!e && copy)
		e = ARRAY_GROW(b->entries, b->n);
	if (!e) {
		free(copy);
		return -ENOMEM;
	}
	*e = (Entry){ copy, watts };
	return 0;
}

static int take_device(void *record, void *book)
{
	const Entry *e = record;

	if (e->watts <= 0 || e->watts > WATTS_MAX)
		return -ERANGE;
	return find(book, e->id) ? -EEXIST : note(book, e->id, e->watts);
}

static const RecordKind device_kind = {
	.name = "device",
	.size = sizeof(Entry),
	.take = take_device,
	.fields = { FIELD(Entry, id, "id"), FIELD(Entry, watts, "watts") },
};

static const RecordsFormat format = {
	.name = "operating",
	.kinds = (const RecordKind *const[]){ &device_kind, NULL },
	.loss = "100 % of the device that it named is what the profile knows",
};

static int load(OperatingBook *b)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = read_bytes(b->path, &text, &n);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = records_read(&format, b->path, text, n, b);
	/* a copy that cannot be kept is complained of there; what is known matters more */
	if (r > 0)
		(void)set_aside_copy(b->path, text, n);
	return MIN(r, 0);
}

int operating_book_open(const char *path, OperatingBook **ret)
{
	_cleanup_(operating_book_freep) OperatingBook *b = calloc(1, sizeof(*b));
	int r = 0;

	if (!b)
		return -ENOMEM;
	if (path) {
		b->path = strdup(path);
		r = b->path ? load(b) : -ENOMEM;
	}
	if (r >= 0)
		*ret = TAKE_PTR(b);
	return r;
}

OperatingBook *operating_book_free(OperatingBook *b)
{
	if (!b)
		return NULL;
	for (size_t i = 0; i < b->n; i++)
		free(b->entries[i].id);
	free(b->entries);
	free(b->path);
	free(b);
	return NULL;
}

double operating_book_get(const OperatingBook *b, const char *id)
{
	const Entry *e = find(b, id);

	return e ? e->watts : 0;
}

static int save(const OperatingBook *b)
{
	_cleanup_free_ char *text = NULL;
	RecordsWriter w;
	size_t n;
	int r = records_begin(&w, format.name);

	if (r < 0)
		return r;
	for (size_t i = 0; i < b->n; i++)
		records_add(&w, &device_kind, &b->entries[i]);
	r = records_end(&w, &text, &n);
	return r < 0 ? r : write_bytes_atomic(b->path, text, n, 0644);
}

int operating_book_set(OperatingBook *b, const char *id, double watts)
{
	int r = note(b, id, watts);

	return r < 0 || !b->path ? r : save(b);
}
