/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "journal/journal-private.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "journal/journal-line.h"

typedef struct Loader {
	Journal *j;
	char *boot; /* of the last header; NULL: none seen */
	unsigned line;
	bool torn, damaged;
} Loader;

static void loader_clear(Loader *l)
{
	free(l->boot);
}

static int take_line(Loader *l, JournalLine *line)
{
	int r = 0;

	switch (line->kind) {
	case LINE_HEADER:
		free(l->boot);
		l->boot = TAKE_PTR(line->boot);
		l->j->header = streq(l->boot, l->j->boot_id);
		break;
	case LINE_WAS:
		/* With the header lost nobody knows the boot: take it for this one, so that the
		 * original is written back rather than forgotten. */
		r = journal_insert(l->j, line->device, line->knob, l->boot ?: l->j->boot_id,
				   &line->original);
		break;
	case LINE_FORGET: r = journal_remove(l->j, line->device, line->knob); break;
	}
	/* a second original or a second forgetting can follow from a damaged line between them */
	return r == -EEXIST || r == -ENOENT ? 0 : r;
}

static int load_line(Loader *l, const char *text, size_t n)
{
	_cleanup_(journal_line_clear) JournalLine line = { 0 };
	_cleanup_free_ char *copy = strndup(text, n);
	int r;

	if (!copy)
		return -ENOMEM;
	r = strlen(copy) == n ? journal_line_read(copy, &line) : -EBADMSG;
	if (r >= 0)
		r = take_line(l, &line);
	return r;
}

static int complain(Loader *l, bool whole)
{
	const char *path = l->j->file.path;

	if (!whole) {
		log_notice("%s:%u: the last line was never finished: dropping it", path, l->line);
		l->torn = true;
	} else {
		log_warning("%s:%u: damaged line: the original that it may have held is lost; "
			    "check the settings of your devices",
			    path, l->line);
		l->damaged = true;
	}
	return 0;
}

static int load_lines(Loader *l, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ?: end) - text);
		int r;

		l->line++;
		r = load_line(l, text, length);
		if (r == -EPROTONOSUPPORT)
			return log_error_errno(r,
					       "%s:%u: written by a newer storpower; restore with "
					       "that version, then remove the file",
					       l->j->file.path, l->line);
		if (r == -EBADMSG)
			r = complain(l, newline);
		if (r < 0)
			return r;
		l->j->n_lines++;
		/* a whole line without its newline counts, but the next one must not be joined to
		 * it */
		l->torn |= !newline;
		text += length + (newline != NULL);
	}
	return 0;
}

int journal_load(Journal *j)
{
	_cleanup_(loader_clear) Loader l = { .j = j };
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = journal_file_read(&j->file, &text, &n);

	if (r < 0)
		return log_error_errno(r, "%s: cannot read the journal", j->file.path);
	r = load_lines(&l, text, n);
	if (r < 0)
		return r;
	j->distrusted = l.torn || l.damaged;
	/* a copy that cannot be kept is complained of there; putting things back matters more */
	if (l.damaged)
		(void)journal_file_keep_damaged(&j->file, text, n);
	return 0;
}
