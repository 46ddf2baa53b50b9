/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/journal-private.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "knob/registry.h"

/* What lives in the kernel is the kernel's own default again after a reboot. */
static bool is_moot(const Journal *j, const Knob *k, const JournalRecord *r)
{
	return !k->survives_reboot && !streq(r->boot, j->boot_id);
}

void journal_forget_moot(Journal *j)
{
	for (size_t i = j->n; i > 0; i--) {
		const JournalRecord *r = j->records[i - 1];
		const Knob *k = knob_find(r->knob);

		if (k && is_moot(j, k, r)) {
			_cleanup_free_ char *device = strdup(r->device);

			if (device)
				(void)journal_forget(j, device, k->name);
		}
	}
}
