/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "base/file.h"
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

/* Whatever the file holds, what is read of it is saved and read back the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
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
		once = saved(folder.path);
		unlink(folder.damaged);
		twice = saved(folder.path);
		fuzz_check(strcmp(once, twice) == 0 && access(folder.damaged, F_OK) < 0);
	}
	fuzz_close_folder(&folder);
	return 0;
}
