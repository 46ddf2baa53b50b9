/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/set-aside.h"
#include "base/text.h"
#include "journal/journal-private.h"

int journal_take_original(void *line, void *loader)
{
	Journal *j = ((JournalLoader *)loader)->journal;
	const JournalLine *l = line;
	KnobValue original;
	int r;

	if (strlen(l->value) >= sizeof(original.text))
		return -EBADMSG;
	memcpy(original.text, l->value, strlen(l->value) + 1);
	r = journal_insert(j, l->device, l->knob, l->boot, &original);
	j->n_lines++;
	/* a second original can follow from a damaged line between them */
	return r == -EEXIST ? 0 : r;
}

static int take_forget(void *line, void *loader)
{
	Journal *j = ((JournalLoader *)loader)->journal;
	const JournalLine *l = line;
	int r = journal_remove(j, l->device, l->knob);

	j->n_lines++;
	/* its original may have been in a damaged line */
	return r == -ENOENT ? 0 : r;
}

const RecordKind journal_original_kind = {
	.name = "original",
	.size = sizeof(JournalLine),
	.take = journal_take_original,
	.fields = {
		FIELD(JournalLine, device, "device"),
		FIELD(JournalLine, knob, "knob"),
		FIELD(JournalLine, value, "value"),
		FIELD(JournalLine, boot, "boot"),
	},
};

const RecordKind journal_forget_kind = {
	.name = "forget",
	.size = sizeof(JournalLine),
	.take = take_forget,
	.fields = {
		FIELD(JournalLine, device, "device"),
		FIELD(JournalLine, knob, "knob"),
	},
};

static const RecordKind *const kinds[] = { &journal_original_kind, &journal_forget_kind,
					   &journal_old_header_kind, &journal_old_original_kind,
					   NULL };

static bool contains(const char *line, size_t n, const char *what)
{
	return memmem(line, n, what, strlen(what));
}

static bool begins(const char *line, size_t n, const char *what)
{
	return n >= strlen(what) && memcmp(line, what, strlen(what)) == 0;
}

/* The first line holds no original and has no quotes; what is forgotten has none either. A newline
 * that is gone joins two lines. */
static bool may_hold_original(const char *line, size_t n)
{
	if (begins(line, n, "storpower-"))
		return contains(line, n, "\"");
	return !begins(line, n, "forget ") || contains(line, n, "original ") ||
	       contains(line, n, "was ");
}

/* What a damaged line has behind KEY=", up to the next quote; any bytes. */
static char *read_damaged(const char *line, size_t n, const char *key)
{
	_cleanup_free_ char *begin = text_printf(" %s=\"", key);
	const char *at = begin ? memmem(line, n, begin, strlen(begin)) : NULL;
	const char *value = at ? at + strlen(begin) : NULL;
	const char *end = at ? memchr(value, '"', n - (size_t)(value - line)) : NULL;

	return end ? strndup(value, (size_t)(end - value)) : strdup("(unreadable)");
}

static void take_damaged(const char *line, size_t n, void *loader)
{
	Journal *j = ((JournalLoader *)loader)->journal;
	_cleanup_free_ char *device = read_damaged(line, n, "device"),
			    *knob = read_damaged(line, n, "knob"),
			    *value = read_damaged(line, n, "value");

	if (!may_hold_original(line, n))
		return;
	j->n_lost++;
	log_warning("%s: what can be read of that line, right or wrong: device %s, knob %s, "
		    "originally %s",
		    j->file.path, device ?: "", knob ?: "", value ?: "");
}

static const RecordsFormat format = {
	.name = JOURNAL_NAME,
	.kinds = kinds,
	.damaged = take_damaged,
	.loss = "the original that it may have held is lost; check the settings of your devices",
	.appended = true,
};

static int load(Journal *j, JournalLoader *l)
{
	const char *path = j->file.path;
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = read_bytes(path, &text, &n);

	if (r >= 0)
		r = records_read(&format, path, text, n, l);
	if (r == -EPROTONOSUPPORT)
		return log_error_errno(r,
				       "%s: written by a newer storpower; restore with that "
				       "version, then remove the file",
				       path);
	if (r < 0)
		return log_error_errno(r, "%s: cannot read the journal", path);
	j->distrusted = r > 0 || l->old_boot;
	/* a copy that cannot be kept is complained of there; putting things back matters more */
	if (r & RECORDS_DAMAGED)
		j->kept = set_aside_copy(path, text, n) >= 0;
	return 0;
}

int journal_load(Journal *j)
{
	JournalLoader l = { .journal = j };
	int r = load(j, &l);

	free(l.old_boot);
	return r;
}
