/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>

#include "fuzz.h"
#include "journal/journal-line.h"
#include "journal/journal.h"

/* Random bytes hardly ever carry a right checksum: an input that starts with '!' has one put behind
 * each of its lines, so that what lies behind the check is reached too. */
static char *sealed(const char *text, size_t *ret_n)
{
	char *out = NULL;
	FILE *f = open_memstream(&out, ret_n);

	if (!f)
		abort();
	while (*text) {
		int n = (int)strcspn(text, "\n");

		fprintf(f, "%.*s #%08x\n", n, text, journal_checksum(text, (size_t)n));
		text += n + (text[n] == '\n');
	}
	if (fclose(f) != 0)
		abort();
	return out;
}

static void put_file(const char *path, const char *text, size_t n)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fuzz_check(fd >= 0 && write(fd, text, n) == (ssize_t)n);
}

/* Whatever the file holds, the journal opens, still works, and reads back what it then holds. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[] = "/dev/shm/fuzz-journal-XXXXXX"; /* memory: syncs are free */
	static const KnobValue value = { "128" };
	_cleanup_free_ char *text = fuzz_text(data, size), *lines = NULL;
	_cleanup_(journal_closep) Journal *j = NULL;
	char path[64], damaged[80];
	size_t n, known;

	if (folder[sizeof(folder) - 2] == 'X')
		fuzz_check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/journal", folder);
	snprintf(damaged, sizeof(damaged), "%s.damaged", path);
	if (*text == '!') {
		lines = sealed(text + 1, &n);
		put_file(path, lines, n);
	} else {
		put_file(path, text, size);
	}
	if (journal_open(path, "boot", &j) >= 0) {
		fuzz_check(journal_record(j, "fuzz", "knob", &value) == 0);
		fuzz_check(journal_sync(j) == 0);
		known = journal_size(j);
		j = journal_close(j);
		unlink(damaged);
		fuzz_check(journal_open(path, "boot", &j) == 0);
		fuzz_check(journal_size(j) == known && access(damaged, F_OK) < 0);
		fuzz_check(journal_original(j, "fuzz", "knob"));
	}
	unlink(path);
	rmdir(folder);
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	return 0;
}
