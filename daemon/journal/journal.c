/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "journal/journal.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "journal/journal-private.h"

Journal *journal_close(Journal *j)
{
	if (!j)
		return NULL;
	while (j->n)
		journal_remove(j, j->records[j->n - 1]->device, j->records[j->n - 1]->knob);
	free(j->records);
	free(j->pending);
	free(j->boot_id);
	journal_file_close(&j->file);
	free(j);
	return NULL;
}

/* Begins what is to be written; a file of no lines wants its first line too. */
static int begin_pending(const Journal *j, RecordsWriter *w)
{
	return records_begin(w, j->n_lines ? NULL : JOURNAL_NAME);
}

/* Puts what was begun behind what is pending. */
static int end_pending(Journal *j, RecordsWriter *w)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = records_end(w, &text, &n);
	char *bigger = r >= 0 ? realloc(j->pending, j->n_pending + n) : NULL;

	if (!bigger)
		return -ENOMEM;
	j->pending = bigger;
	memcpy(j->pending + j->n_pending, text, n);
	j->n_pending += n;
	return 0;
}

static int add_line(Journal *j, const RecordKind *kind, const JournalLine *line)
{
	RecordsWriter w;
	int r = begin_pending(j, &w);

	if (r < 0)
		return r;
	records_add(&w, kind, line);
	r = end_pending(j, &w);
	j->n_lines += r >= 0;
	return r;
}

/* Everything still recorded. */
static int fill_pending(Journal *j)
{
	RecordsWriter w;
	int r;

	j->n_pending = 0;
	j->n_lines = 0;
	r = begin_pending(j, &w);
	if (r < 0)
		return r;
	for (; j->n_lines < j->n; j->n_lines++) {
		JournalRecord *record = j->records[j->n_lines];

		records_add(&w, &journal_original_kind,
			    &(JournalLine){ record->device, record->knob, record->original.text,
					    record->boot });
	}
	return end_pending(j, &w);
}

static int rewrite(Journal *j)
{
	int r;

	j->distrusted = true;
	r = fill_pending(j);
	if (r >= 0)
		r = j->n || j->kept
			    ? journal_file_replace(&j->file, j->pending, j->n ? j->n_pending : 0)
			    : journal_file_truncate(&j->file);
	if (r < 0)
		return log_error_errno(r, "%s: cannot rewrite the journal", j->file.path);
	j->n_pending = 0;
	j->dirty = false;
	j->distrusted = j->kept = false;
	return 0;
}

static int flush(Journal *j)
{
	int r;

	if (j->distrusted)
		return rewrite(j);
	if (!j->n_pending)
		return 0;
	r = journal_file_append(&j->file, j->pending, j->n_pending);
	if (r < 0) {
		j->distrusted = true;
		return log_error_errno(r, "%s: cannot write the journal", j->file.path);
	}
	j->n_pending = 0;
	j->dirty = true;
	return 0;
}

int journal_sync(Journal *j)
{
	int r = flush(j);

	if (r < 0 || !j->dirty)
		return r;
	r = journal_file_sync(&j->file);
	if (r < 0) {
		/* after a failed sync the kernel takes the lost pages for clean, so that a second
		 * sync proves nothing (LWN 2018, "PostgreSQL's fsync() surprise"): write it anew */
		j->distrusted = true;
		return log_error_errno(r, "%s: cannot sync the journal", j->file.path);
	}
	j->dirty = false;
	return 0;
}

int journal_record(Journal *j, const char *device_id, const char *knob, const KnobValue *original)
{
	const JournalLine line = { (char *)device_id, (char *)knob, (char *)original->text,
				   j->boot_id };
	int r = journal_insert(j, device_id, knob, j->boot_id, original);

	if (r < 0)
		return r == -EEXIST ? 0 : r;
	r = add_line(j, &journal_original_kind, &line);
	if (r < 0)
		(void)journal_remove(j, device_id, knob);
	return r;
}

int journal_forget(Journal *j, const char *device_id, const char *knob)
{
	const JournalLine line = { .device = (char *)device_id, .knob = (char *)knob };
	int r = journal_remove(j, device_id, knob);

	if (r < 0)
		return r;
	/* the last one out empties the file; else half of it must be chaff to be worth a rewrite */
	if (!j->n || j->n_lines > 2 * j->n + 64)
		return rewrite(j);
	r = add_line(j, &journal_forget_kind, &line);
	return r < 0 ? r : flush(j);
}

static int open_and_load(Journal *j, const char *path)
{
	int r = journal_file_open(path, &j->file);

	if (r >= 0)
		r = journal_load(j);
	/* a full disk must not keep anything from being put back: it is tried again at the next
	 * sync, and rewrite() has said so */
	if (r >= 0 && j->distrusted)
		(void)rewrite(j);
	return r;
}

int journal_open(const char *path, const char *boot_id, Journal **ret)
{
	_cleanup_(journal_closep) Journal *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return -ENOMEM;
	j->file.fd = -EBADF;
	j->boot_id = strdup(boot_id);
	if (!j->boot_id)
		return -ENOMEM;
	r = open_and_load(j, path);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(j);
	return 0;
}
