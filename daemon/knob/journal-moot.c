/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/journal-private.h"

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
