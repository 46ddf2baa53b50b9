/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The old format of the journal, which is read once and written anew when the journal is opened.
 *Its checksums are the same:
 *
 *	storpower-journal 1 boot=BOOT-ID #0123abcd	what follows was recorded in this boot
 *	was "DEVICE" "KNOB" "ORIGINAL" #0123abcd
 *	forget "DEVICE" "KNOB" #0123abcd
 */

#include <errno.h>

#include "journal/journal-private.h"

typedef struct OldHeader {
	uint64_t version;
	char *boot;
} OldHeader;

static int take_header(void *header, void *loader)
{
	JournalLoader *l = loader;
	OldHeader *h = header;

	if (h->version != 1)
		return -EBADMSG;
	free(l->old_boot);
	l->old_boot = TAKE_PTR(h->boot);
	return 0;
}

/* When the header is lost nobody knows the boot. It is taken for this one, so that the original is
 * written back and not forgotten. */
static int take_original(void *line, void *loader)
{
	const JournalLoader *l = loader;
	JournalLine whole = *(JournalLine *)line;

	whole.boot = l->old_boot ?: l->journal->boot_id;
	return journal_take_original(&whole, loader);
}

const RecordKind journal_old_header_kind = {
	.name = "storpower-journal",
	.size = sizeof(OldHeader),
	.take = take_header,
	.fields = { FIELD(OldHeader, version, "version"), FIELD(OldHeader, boot, "boot") },
};

const RecordKind journal_old_original_kind = {
	.name = "was",
	.size = sizeof(JournalLine),
	.take = take_original,
	.fields = {
		FIELD(JournalLine, device, "device"),
		FIELD(JournalLine, knob, "knob"),
		FIELD(JournalLine, value, "value"),
	},
};
