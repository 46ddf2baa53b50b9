/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/file.h"
#include "base/text.h"
#include "fuzz.h"
#include "journal/journal.h"

static char *contents(const char *path)
{
	char *text = NULL;

	fuzz_check(read_file(path, &text) == 0);
	return text;
}

static Journal *reopened(const FuzzFolder *folder, Journal *j)
{
	size_t known = journal_size(j);

	journal_close(j);
	unlink(folder->damaged);
	fuzz_check(journal_open(folder->path, "boot", &j) == 0);
	fuzz_check(journal_size(j) == known && access(folder->damaged, F_OK) < 0);
	return j;
}

/* Writes all of it anew: what is forgotten often is worth a rewrite. */
static char *rewritten(const FuzzFolder *folder, Journal *j)
{
	size_t often = journal_size(j) + 70;

	for (size_t i = 0; i < often; i++) {
		fuzz_check(journal_record(j, "fuzz", "again", &(KnobValue){ "128" }) == 0);
		fuzz_check(journal_forget(j, "fuzz", "again") == 0);
	}
	return contents(folder->path);
}

/* Whether this line may speak of that knob, in whatever form: of an older version, unquoted,
 * escaped. */
static bool may_name(const char *line, const char *device, const char *knob)
{
	return strchr(line, '\\') || (strstr(line, device) && strstr(line, knob));
}

static size_t count_naming(const char *text, size_t size, const char *device, const char *knob)
{
	size_t n = 0;

	for (const char *at = text, *end = text + size; at < end;) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end);

		n += may_name(line, device, knob);
	}
	return n;
}

/* The original that a line in the plainest form holds, if no other line may be of its knob. */
static void check_line(const Journal *j, const char *text, size_t size, const char *line)
{
	_cleanup_free_ char *device = NULL, *knob = NULL, *value = NULL;
	const KnobValue *original;
	int end = 0;

	(void)sscanf(line,
		     "original device=\"%m[a-z0-9-]\" knob=\"%m[a-z0-9-]\" "
		     "value=\"%m[a-z0-9 -]\" boot=%n",
		     &device, &knob, &value, &end);
	if (!end || count_naming(text, size, device, knob) > 1)
		return;
	original = journal_original(j, device, knob);
	fuzz_check(original && streq(original->text, value));
}

/* A file that was not set aside has lost no original but that of a torn last line. */
static void check_whole(const Journal *j, const char *text, size_t size)
{
	for (const char *at = text, *end = text + size; at < end;) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end);

		if (at[-1] == '\n')
			check_line(j, text, size, line);
	}
}

/* Whatever bit of a file is flipped, the file is set aside. */
static void check_flipped(const FuzzFolder *folder, uint32_t chance)
{
	_cleanup_free_ char *text = contents(folder->path);
	_cleanup_(journal_closep) Journal *j = NULL;
	size_t n = strlen(text);

	fuzz_flip_bit(text, n, chance);
	fuzz_check(write_bytes_atomic(folder->path, text, n, 0600) == 0);
	fuzz_check(journal_open(folder->path, "boot", &j) == 0);
	fuzz_check_set_aside(folder, text, n);
}

/* Whatever the file holds, the journal opens, still works, and reads back what it then holds. */
static Journal *check_journal(const FuzzFolder *folder, Journal *j, uint32_t chance)
{
	_cleanup_free_ char *once = NULL, *twice = NULL;

	(void)journal_forget(j, "fuzz", "again");
	fuzz_check(journal_record(j, "fuzz", "knob", &(KnobValue){ "128" }) == 0);
	fuzz_check(journal_sync(j) == 0);
	j = reopened(folder, j);
	fuzz_check(journal_original(j, "fuzz", "knob"));
	if (chance % 8) /* that takes long */
		return j;
	once = rewritten(folder, j);
	j = reopened(folder, j);
	twice = contents(folder->path);
	fuzz_check(strcmp(once, twice) == 0); /* opening a whole journal writes nothing */
	return j;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t chance = fuzz_chance(data, size);
	_cleanup_free_ char *text = fuzz_sealed(data, &size);
	_cleanup_(journal_closep) Journal *j = NULL;
	FuzzFolder folder;
	int r;

	fuzz_open_folder(&folder, "journal");
	fuzz_check(write_bytes_atomic(folder.path, text, size, 0600) == 0);
	r = journal_open(folder.path, "boot", &j);
	fuzz_check(r == 0 || r == -EPROTONOSUPPORT);
	fuzz_check_kept(&folder, text, size);
	fuzz_check(r < 0 || journal_lost(j) == 0 || access(folder.damaged, F_OK) == 0);
	if (r == 0 && access(folder.damaged, F_OK) < 0)
		check_whole(j, text, size);
	if (r == 0) {
		j = journal_close(check_journal(&folder, j, chance));
		check_flipped(&folder, chance / 8);
	}
	fuzz_close_folder(&folder);
	return 0;
}
