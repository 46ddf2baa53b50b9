/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/journal-private.h"

#include <errno.h>

#include "base/log.h"
#include "base/text.h"

/* What lives in the kernel is the kernel's own default again after a reboot. */
static bool is_moot(const Journal *j, const Knob *k, const JournalRecord *r)
{
	return !k->survives_reboot && !streq(r->boot, j->boot_id);
}

void journal_forget_moot(Journal *j, const Device *d)
{
	for (const Knob *const *k = knob_registry; *k; k++) {
		const JournalRecord *record = journal_find(j, d->id, (*k)->name);

		if (record && is_moot(j, *k, record))
			(void)journal_forget(j, d->id, (*k)->name);
	}
}

static int restore_knob(Journal *j, Device *d, const Knob *k, size_t *restored)
{
	const JournalRecord *record = journal_find(j, d->id, k->name);
	int r;

	if (!record)
		return 0;
	if (is_moot(j, k, record)) {
		log_debug("%s: %s was \"%s\" before the reboot: nothing to put back", d->name,
			  k->name, record->original.text);
		return journal_forget(j, d->id, k->name);
	}
	r = knob_apply(k, d, &record->original, NULL);
	if (r < 0)
		return log_warning_errno(r,
					 "%s: cannot put %s back to \"%s\"; it stays in the "
					 "journal for the next start or storpowerd --restore",
					 d->name, k->name, record->original.text);
	log_info("%s: put %s back to \"%s\"", d->name, k->name, record->original.text);
	(*restored)++;
	return journal_forget(j, d->id, k->name);
}

static int check_unknown(const Journal *j, const Device *d)
{
	int r = 0;

	for (size_t i = journal_place(j, d->id, ""); i < j->n; i++) {
		const JournalRecord *record = j->records[i];

		if (!streq(record->device, d->id))
			break;
		if (!knob_find(record->knob))
			r = log_warning_errno(EOPNOTSUPP,
					      "%s: the journal holds \"%s\" as original "
					      "of %s, which this version cannot put back; it stays "
					      "in the journal",
					      d->name, record->original.text, record->knob);
	}
	return r;
}

int journal_restore_device(Journal *j, Device *d, size_t *ret_restored)
{
	size_t restored = 0;
	int first = 0, r;

	if (journal_has_device(j, d->id)) {
		for (const Knob *const *k = knob_registry; *k; k++) {
			r = restore_knob(j, d, *k, &restored);
			first = first ?: r;
		}
		r = check_unknown(j, d);
		first = first ?: r;
	}
	if (ret_restored)
		*ret_restored = restored;
	return first;
}
