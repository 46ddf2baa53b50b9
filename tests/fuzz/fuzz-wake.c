/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/file.h"
#include "base/text.h"
#include "device/wake-record.h"
#include "fuzz.h"

/* The file as it is saved when one more adapter is known. */
static char *saved(const char *path)
{
	_cleanup_(wake_record_closep) WakeRecord *r = NULL;
	char *text = NULL;

	fuzz_check(wake_record_open(path, &r) == 0);
	fuzz_check(wake_record_set(r, "0000:03:00.0 mpt3sas", WAKE_TESTED) == 0);
	fuzz_check(wake_record_get(r, "0000:03:00.0 mpt3sas") == WAKE_TESTED);
	fuzz_check(read_file(path, &text) == 0);
	return text;
}

/* A file that was not set aside has lost no adapter, as far as its lines are in the plainest form.
 */
static void check_whole(const char *text, size_t size, const char *once)
{
	for (const char *at = text, *end = text + size; at < end;) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end), *found = NULL;
		size_t begin = strlen("failed hba=\""), n;

		if (strncmp(line, "failed hba=\"", begin) && strncmp(line, "tested hba=\"", begin))
			continue;
		n = strspn(line + begin, "abcdefghijklmnopqrstuvwxyz0123456789:. ");
		if (strncmp(line + begin + n, "\" #", 3) != 0)
			continue;
		found = text_printf(" hba=\"%.*s\" #", (int)n, line + begin);
		fuzz_check(found && strstr(once, found));
	}
}

/* Whatever bit of a file is flipped, the file is set aside. */
static void check_flipped(const FuzzFolder *folder, char *text, uint32_t chance)
{
	_cleanup_(wake_record_closep) WakeRecord *r = NULL;
	size_t n = strlen(text);

	fuzz_flip_bit(text, n, chance);
	fuzz_check(write_bytes_atomic(folder->path, text, n, 0600) == 0);
	fuzz_check(wake_record_open(folder->path, &r) == 0);
	fuzz_check_set_aside(folder, text, n);
}

/* Whatever the file holds, what is read of it is saved and read back the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t chance = fuzz_chance(data, size);
	_cleanup_free_ char *text = fuzz_sealed(data, &size), *once = NULL, *twice = NULL;
	_cleanup_(wake_record_closep) WakeRecord *r = NULL;
	FuzzFolder folder;
	int q;

	fuzz_open_folder(&folder, "wake-tests");
	fuzz_check(write_bytes_atomic(folder.path, text, size, 0600) == 0);
	q = wake_record_open(folder.path, &r);
	fuzz_check(q == 0 || q == -EPROTONOSUPPORT);
	fuzz_check_kept(&folder, text, size);
	if (q == 0) {
		bool whole = access(folder.damaged, F_OK) < 0;

		once = saved(folder.path);
		if (whole)
			check_whole(text, size, once);
		unlink(folder.damaged);
		twice = saved(folder.path);
		fuzz_check(strcmp(once, twice) == 0 && access(folder.damaged, F_OK) < 0);
		check_flipped(&folder, twice, chance);
	}
	fuzz_close_folder(&folder);
	return 0;
}
