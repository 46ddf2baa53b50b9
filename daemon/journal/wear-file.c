/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The wear accounts and their file: a disk a line, in the order of their ids.
 *
 *	storpower-wear 1
 *	disk "wwid:naa.5000c500a1b2c3d4" starts=8.250000 loads=320.500000 starts-used=17
 *		loads-used=40 refilled=1763740800000000
 */

#include "journal/wear-file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/quote.h"
#include "base/text.h"

#define WEAR_FILE_VERSION "storpower-wear 1"
/* No disk comes near; what is beyond was not written by us. */
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

/* " NAME=VALUE" at *p. */
static int read_value(const char **p, const char *name, char *buf, size_t size)
{
	size_t n = strlen(name), length;

	if (**p != ' ' || strncmp(*p + 1, name, n) != 0 || (*p)[n + 1] != '=')
		return -EBADMSG;
	*p += n + 2;
	length = strcspn(*p, " ");
	if (length >= size)
		return -EBADMSG;
	memcpy(buf, *p, length);
	buf[length] = '\0';
	*p += length;
	return 0;
}

static int read_cycles(const char **p, const char *name, double *ret)
{
	char value[32];
	int r = read_value(p, name, value, sizeof(value));

	if (r >= 0)
		r = parse_double(value, ret);
	return r < 0 || fabs(*ret) <= CYCLES_MAX ? r : -ERANGE;
}

static int read_count(const char **p, const char *name, uint64_t *ret)
{
	char value[32];
	unsigned long v;
	int r = read_value(p, name, value, sizeof(value));

	if (r >= 0)
		r = parse_unsigned(value, UINT64_MAX, &v);
	if (r >= 0)
		*ret = v;
	return r;
}

static int read_account(const char *p, WearAccount *a)
{
	int r = quote_read(&p, &a->id);

	if (r >= 0)
		r = read_cycles(&p, "starts", &a->starts);
	if (r >= 0)
		r = read_cycles(&p, "loads", &a->loads);
	if (r >= 0)
		r = read_count(&p, "starts-used", &a->starts_used);
	if (r >= 0)
		r = read_count(&p, "loads-used", &a->loads_used);
	if (r >= 0)
		r = read_count(&p, "refilled", &a->realtime_us);
	return r < 0 || *p == '\0' ? r : -EBADMSG;
}

static int load_line(WearBook *b, const char *line)
{
	static const char disk[] = "disk ";
	_cleanup_(account_freep) WearAccount *a = NULL;
	size_t place;
	int r;

	if (*line == '#' || *line == '\0')
		return 0;
	if (strncmp(line, disk, sizeof(disk) - 1) != 0)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	r = a ? read_account(line + sizeof(disk) - 1, a) : -ENOMEM;
	if (r < 0)
		return r;
	place = find_place(b, a->id);
	if (is_at(b, place, a->id))
		return -EEXIST;
	r = insert_at(b, place, a);
	if (r >= 0)
		TAKE_PTR(a);
	return r;
}

/* A line that does not end was not written whole, though what is there may look right. */
static int load_part(WearBook *b, const char *text, size_t n)
{
	_cleanup_free_ char *line = strndup(text, n);

	if (!line)
		return -ENOMEM;
	return text[n] == '\n' ? load_line(b, line) : -EBADMSG;
}

static int load_text(WearBook *b, const char *path, const char *text)
{
	static const char version[] = WEAR_FILE_VERSION "\n";

	if (strncmp(text, version, sizeof(version) - 1) != 0)
		return log_error_errno(EBADMSG, "%s:1: not \"%s\": no wear account is read", path,
				       WEAR_FILE_VERSION);
	text += sizeof(version) - 1;
	for (unsigned number = 2; *text; number++) {
		size_t n = strcspn(text, "\n");
		int r = load_part(b, text, n);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			log_warning_errno(r,
					  "%s:%u: leaving this line out: the wear account of its "
					  "disk begins anew",
					  path, number);
		text += n + (text[n] == '\n');
	}
	return 0;
}

int wear_book_load(const char *path, WearBook **ret)
{
	_cleanup_(wear_book_freep) WearBook *b = calloc(1, sizeof(*b));
	_cleanup_free_ char *text = NULL;
	int r = b ? 0 : -ENOMEM;

	if (r >= 0 && path)
		r = read_file(path, &text);
	if (r >= 0 && path)
		r = load_text(b, path, text);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = TAKE_PTR(b);
	return 0;
}

static void save_account(FILE *f, const WearAccount *a)
{
	fputs("disk ", f);
	quote_write(f, a->id);
	fprintf(f,
		" starts=%.6f loads=%.6f starts-used=%" PRIu64 " loads-used=%" PRIu64
		" refilled=%" PRIu64 "\n",
		a->starts, a->loads, a->starts_used, a->loads_used, a->realtime_us);
}

int wear_book_save(const WearBook *b, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f;

	if (!path)
		return 0;
	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;
	fputs(WEAR_FILE_VERSION
	      "\n# Written by storpowerd. Cycles that each disk has left, and those it used; "
	      "when it last earned some,\n# by the wall clock in microseconds.\n",
	      f);
	for (size_t i = 0; i < b->n; i++)
		save_account(f, b->accounts[i]);
	if (fclose(f) != 0)
		return -ENOMEM;
	return write_file_atomic(path, text, 0644);
}
