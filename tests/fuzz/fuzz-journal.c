/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/file.h"
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

/* Whatever the file holds, the journal opens, still works, and reads back what it then holds. */
static Journal *check_journal(const FuzzFolder *folder, Journal *j)
{
	_cleanup_free_ char *once = NULL, *twice = NULL;

	(void)journal_forget(j, "fuzz", "again");
	fuzz_check(journal_record(j, "fuzz", "knob", &(KnobValue){ "128" }) == 0);
	fuzz_check(journal_sync(j) == 0);
	j = reopened(folder, j);
	fuzz_check(journal_original(j, "fuzz", "knob"));
	once = rewritten(folder, j);
	j = reopened(folder, j);
	twice = contents(folder->path);
	fuzz_check(strcmp(once, twice) == 0); /* opening a whole journal writes nothing */
	return j;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
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
	if (r == 0)
		j = check_journal(&folder, j);
	fuzz_close_folder(&folder);
	return 0;
}
