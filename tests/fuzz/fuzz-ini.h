/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The oracle of what people write: configuration, policies, profiles and nodes. A target reads a
 * text and writes all that was read of it as a text again, its own way. Then:
 *
 * - that text reads as itself: reading and reporting agree, field by field;
 * - what a file in the plainest form says, as a reader of its own finds it here, is what is
 *   reported; and of what it does not say, the default is;
 * - a file that is taken and complained of is the same without the lines that were named;
 * - no line that means nothing can be added to a file that is taken: it is named with its number.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

#include "base/file.h"
#include "base/text.h"
#include "fuzz-value.h"
#include "fuzz.h"

/* What is to be covered is the daemon. */
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)

typedef struct FuzzIni {
	const char *name; /* of the file */
	/* What is read of the file, as text; NULL: nothing can be used, or a text cannot say it.
	 * *ret_complaints: lines that it went without. */
	char *(*report)(const char *path, bool *ret_complaints);
	const char *many;        /* of this section there may be several of one name; NULL: none */
	const char *const *free; /* keys whose values may be any text or many, up to NULL */
	/* "SECTION KEY" (of a section its first word alone) and the default, up to NULL. */
	const char *const (*defaults)[2];
} FuzzIni;

/* ---- what is said ---- */

static char fuzz_said[1 << 16];

int __wrap_log_full(int level, int error, const char *format, ...);
int __wrap_log_full(int level, int error, const char *format, ...)
{
	size_t n = strlen(fuzz_said);
	va_list ap;

	(void)level;
	va_start(ap, format);
	if (n + 1200 < sizeof(fuzz_said)) {
		vsnprintf(fuzz_said + n, 1100, format, ap);
		strcat(fuzz_said, "\n");
	}
	va_end(ap);
	return error > 0 ? -error : error;
}

/* Is there a complaint of the line? */
static bool fuzz_complained(const char *path, unsigned line)
{
	char begin[128];

	snprintf(begin, sizeof(begin), "%s:%u: ", path, line);
	for (const char *at = fuzz_said; *at; at += strcspn(at, "\n") + 1)
		if (strncmp(at, begin, strlen(begin)) == 0)
			return true;
	return false;
}

/* ---- the file ---- */

static FuzzFolder fuzz_folder;

static void fuzz_done(void)
{
	fuzz_close_folder(&fuzz_folder);
}

static char *fuzz_report(const FuzzIni *ini, const char *text, size_t size, bool *ret_complaints)
{
	static int fd = -EBADF; /* the file stays the same: that is faster */

	if (fd < 0) {
		fuzz_open_folder(&fuzz_folder, ini->name);
		atexit(fuzz_done);
		fd = open(fuzz_folder.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	}
	fuzz_check(pwrite(fd, text, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0);
	*fuzz_said = '\0';
	*ret_complaints = false;
	return ini->report(fuzz_folder.path, ret_complaints);
}

/* ---- a reader of the plainest form ---- */

typedef struct FuzzEntry {
	char *section, *key, *value; /* key NULL: a heading */
	unsigned line;
} FuzzEntry;

typedef struct FuzzEntries {
	FuzzEntry *list;
	size_t n;
	unsigned lines;
	bool plain; /* no line is in any other form */
} FuzzEntries;

static void fuzz_entries_done(FuzzEntries *e)
{
	for (size_t i = 0; i < e->n; i++) {
		free(e->list[i].section);
		free(e->list[i].key);
		free(e->list[i].value);
	}
	free(e->list);
}

#define FUZZ_KEY_BYTES "abcdefghijklmnopqrstuvwxyz_0123456789"

static bool fuzz_is_plain_heading(const char *line, size_t n)
{
	static const char *const others[] = { "  ", "[ ", " ]", "] ", "#" };

	for (size_t i = 0; i < ELEMENTSOF(others); i++)
		if (strstr(line, others[i]))
			return false;
	return line[n - 1] == ']';
}

static void fuzz_take_line(FuzzEntries *e, char *line)
{
	const char *section = e->n ? e->list[e->n - 1].section : NULL;
	FuzzEntry *entry;
	size_t n = strlen(line), key = strspn(line, FUZZ_KEY_BYTES);
	const char *value = line + key + strspn(line + key, " ");

	e->lines++;
	while (n && strchr(" \t", line[n - 1]))
		line[--n] = '\0';
	if (!*line || *line == '#')
		return;
	if (strpbrk(line, ";\t\r") ||
	    (*line == '[' ? !fuzz_is_plain_heading(line, n) : !key || *value != '=' || !section)) {
		e->plain = false;
		return;
	}
	entry = ARRAY_GROW(e->list, e->n);
	fuzz_check(entry);
	entry->line = e->lines;
	if (*line == '[') {
		entry->section = strndup(line + 1, n - 2);
		return;
	}
	value++;
	entry->section = strdup(section);
	entry->key = strndup(line, key);
	entry->value = strdup(value + strspn(value, " "));
}

static FuzzEntries fuzz_entries(const char *text)
{
	FuzzEntries e = { .plain = true };

	for (const char *at = text, *end = text + strlen(text); at < end;) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end);

		fuzz_take_line(&e, line);
	}
	return e;
}

static bool fuzz_same_key(const FuzzEntry *a, const FuzzEntry *b)
{
	return a->key && b->key && *a->key == *b->key && streq(a->key, b->key) &&
	       streq(a->section, b->section);
}

/* How many entries of this section and key, or headings of this section, stand before it. */
static size_t fuzz_rank(const FuzzEntries *e, const FuzzEntry *entry)
{
	size_t n = 0;

	for (const FuzzEntry *before = e->list; before < entry; before++)
		n += entry->key ? fuzz_same_key(before, entry)
				: !before->key && streq(before->section, entry->section);
	return n;
}

static const FuzzEntry *fuzz_nth(const FuzzEntries *e, const FuzzEntry *like, size_t rank)
{
	for (size_t i = 0; i < e->n; i++)
		if (fuzz_same_key(&e->list[i], like) && !rank--)
			return &e->list[i];
	return NULL;
}

static bool fuzz_is_free(const FuzzIni *ini, const char *key)
{
	for (const char *const *f = ini->free; *f; f++)
		if (streq(*f, key))
			return true;
	return false;
}

/* ---- the oracles ---- */

/* All that the file says is reported, and nothing else but defaults. */
static void fuzz_check_said(const FuzzIni *ini, const FuzzEntries *file, const FuzzEntries *report)
{
	for (size_t i = 0; i < file->n; i++) {
		const FuzzEntry *e = &file->list[i];
		const FuzzEntry *found = e->key ? fuzz_nth(report, e, fuzz_rank(file, e)) : NULL;

		if (e->key && (!found || !fuzz_same_value(e->key, e->value, found->value))) {
			fprintf(stderr, "line %u: [%s] %s=%s, reported: %s\n", e->line, e->section,
				e->key, e->value, found ? found->value : "(nothing)");
			abort();
		}
	}
	for (size_t k = 0; k < report->n; k++) {
		const FuzzEntry *e = &report->list[k];
		_cleanup_free_ char *name = NULL;

		if (!e->key || fuzz_nth(file, e, fuzz_rank(report, e)))
			continue;
		name = text_printf("%.*s %s", (int)strcspn(e->section, " "), e->section, e->key);
		for (size_t i = 0; name && ini->defaults[i][0]; i++)
			fuzz_check(!streq(name, ini->defaults[i][0]) ||
				   fuzz_same_value(e->key, e->value, ini->defaults[i][1]));
	}
}

/* Lines that mean nothing, wherever they stand. */
static const char *const fuzz_nonsense[] = {
	"nosuch = 1", "[nosuch]",     "[nosuch x]", "just words", "gr\374n = 1",    "[open",
	"[x] y = 1",  "\033[31m = 1", "= 1",        "[]",         "\302\2331m = 1",
};

/* The text with a line put in before line `at`, or in its place. */
static char *fuzz_with_line(const char *text, unsigned at, const char *line, bool replace)
{
	const char *rest = text;

	while (--at)
		rest += strcspn(rest, "\n") + 1;
	return text_printf("%.*s%s\n%s", (int)(rest - text), text, line,
			   replace ? rest + strcspn(rest, "\n") + !!strchr(rest, '\n') : rest);
}

static void fuzz_check_refused(const FuzzIni *ini, char *text, unsigned line)
{
	bool complaints;
	char *report = fuzz_report(ini, text, strlen(text), &complaints);

	if ((report && !complaints) || !fuzz_complained(fuzz_folder.path, line)) {
		fprintf(stderr, "nobody complained of line %u, but:\n%s%s\n", line, fuzz_said,
			text);
		abort();
	}
	free(report);
	free(text);
}

/* The value of a key that takes a number, spoilt. */
static void fuzz_check_spoilt(const FuzzIni *ini, const char *text, const FuzzEntry *e,
			      uint32_t chance)
{
	static const char *const spoilt[] = { "nan", "inf", "-inf", "-1", "0x1p4", "1e999", "" };
	size_t i = chance % (ELEMENTSOF(spoilt) + 2);
	_cleanup_free_ char *line = NULL;
	double v;
	int dimension;

	if (fuzz_is_free(ini, e->key) || !fuzz_quantity(e->value, &v, &dimension))
		return;
	line = i < ELEMENTSOF(spoilt) ? text_printf("%s = %s", e->key, spoilt[i])
				      : text_printf("%s = %s %s", e->key, e->value,
						    i == ELEMENTSOF(spoilt) ? "zz" : "nan");
	fuzz_check_refused(ini, fuzz_with_line(text, e->line, line, true), e->line);
}

/* The line a second time, the first one standing. */
static void fuzz_check_repeated(const FuzzIni *ini, const char *text, const FuzzEntries *file,
				const FuzzEntry *e)
{
	_cleanup_free_ char *line =
		e->key ? text_printf("%s = %s", e->key, e->value) : text_printf("[%s]", e->section);
	unsigned at = e->key ? e->line + 1 : file->lines + 1;

	if (e->key ? streq(e->key, "match") || streq(e->key, "point")
		   : ini->many && streq(e->section, ini->many))
		return;
	fuzz_check_refused(ini, fuzz_with_line(text, at, line, false), at);
}

static void fuzz_check_changed(const FuzzIni *ini, const char *text, const FuzzEntries *file,
			       uint32_t chance)
{
	unsigned at = 1 + chance / 8 % (file->lines + 1);
	const FuzzEntry *e = file->n ? &file->list[chance / 8 % file->n] : NULL;
	_cleanup_free_ char *ended = text_printf("%s\n", text), *junk = NULL;
	char too_long[400];

	if (strlen(text) && text[strlen(text) - 1] == '\n')
		ended[strlen(text)] = '\0';
	memset(too_long, 'x', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	switch (e ? chance % 8 : 0) {
	case 1: fuzz_check_refused(ini, fuzz_with_line(ended, at, too_long, false), at); break;
	case 2:
	case 3: fuzz_check_repeated(ini, ended, file, e); break;
	case 4:
	case 5:
		if (e->key)
			fuzz_check_spoilt(ini, ended, e, chance / 64);
		break;
	case 6:
		junk = text_printf("[%s] junk", e->section);
		fuzz_check_refused(ini, fuzz_with_line(ended, at, junk, false), at);
		break;
	default:
		fuzz_check_refused(
			ini,
			fuzz_with_line(ended, at,
				       fuzz_nonsense[chance / 64 % ELEMENTSOF(fuzz_nonsense)],
				       false),
			at);
	}
}

/* Empties the lines that were complained of; of a heading those below it, too. */
static bool fuzz_blank_complaints(char *text)
{
	bool section = false, found = false;
	unsigned line = 1;

	for (char *at = text; *at; line++) {
		size_t n = strcspn(at, "\n");
		bool heading = at[strspn(at, " \t")] == '[', named;

		named = fuzz_complained(fuzz_folder.path, line);
		section = heading ? named : section;
		found |= named;
		if (named || section)
			memset(at, ' ', n);
		at += n + (at[n] == '\n');
	}
	return found;
}

/* What was named has had no effect. */
static void fuzz_check_without(const FuzzIni *ini, const char *text, const char *report)
{
	_cleanup_free_ char *rest = strdup(text), *other = NULL;
	bool complaints = true;

	fuzz_check(rest);
	/* inih tells of one line that is no ini at a time; of many nothing is judged */
	for (unsigned i = 0; i < 4 && fuzz_blank_complaints(rest); i++) {
		free(other);
		other = fuzz_report(ini, rest, strlen(rest), &complaints);
	}
	if (other && !fuzz_blank_complaints(rest) && !streq(other, report)) {
		fprintf(stderr, "with the lines named:\n%swithout them:\n%s", report, other);
		abort();
	}
}

/* A text cannot say everything: of what it cannot say nothing is to be judged. */
static bool fuzz_can_say(const char *report)
{
	for (const char *at = report; *at; at += strcspn(at, "\n") + 1)
		if (strcspn(at, "\n") > 198)
			return false;
	return true;
}

static void fuzz_ini(const FuzzIni *ini, const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = fuzz_text(data, size), *report = NULL, *again = NULL;
	bool complaints, others;
	FuzzEntries file, reported;

	report = fuzz_report(ini, text, size, &complaints);
	fuzz_check(!report || complaints || strlen(text) == size);
	if (!report || strlen(text) != size || !fuzz_can_say(report))
		return;
	if (complaints)
		fuzz_check_without(ini, text, report);
	again = fuzz_report(ini, report, strlen(report), &others);
	if (!again || others || !streq(report, again)) {
		fprintf(stderr, "reported:\n%sread again:\n%s%s", report, again ?: "", fuzz_said);
		abort();
	}
	file = fuzz_entries(text);
	reported = fuzz_entries(report);
	if (!complaints && file.plain) {
		fuzz_check_said(ini, &file, &reported);
		fuzz_check_changed(ini, text, &file, fuzz_chance(data, size));
	}
	fuzz_entries_done(&file);
	fuzz_entries_done(&reported);
}

#pragma clang attribute pop
