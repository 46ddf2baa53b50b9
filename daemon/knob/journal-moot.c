/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/journal-private.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "knob/registry.h"

static bool is_of_another_boot(const Journal *j, const JournalRecord *r)
{
	return !streq(r->boot, j->boot_id);
}

static void forget(Journal *j, const JournalRecord *r, const char *knob)
{
	_cleanup_free_ char *device = strdup(r->device);

	if (device)
		(void)journal_forget(j, device, knob);
}

/* What lives in the kernel is the kernel's own default again after a reboot. */
void journal_forget_moot(Journal *j)
{
	for (size_t i = j->n; i > 0; i--) {
		JournalRecord *r = j->records[i - 1];
		const Knob *k = knob_find(r->knob);

		if (!k || k->survives_reboot || !is_of_another_boot(j, r))
			continue;
		if (k->head_survives_reboot)
			r->original.text[strcspn(r->original.text, " ")] = '\0';
		else
			forget(j, r, k->name);
	}
}
