/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the manager does with what a journal holds of a device, without a manager. */

#include <errno.h>

#include "journal/journal.h"
#include "redirect/knob-registry.h"

/* In registry order; forgets what reads back right. The first error after having tried all;
 * -EOPNOTSUPP where a record is of a knob that is not known. */
static inline int journal_restore_device(Journal *j, Device *d, size_t *ret_restored)
{
	size_t restored = 0;
	bool all = true;
	int first = 0;

	journal_forget_moot(j, knob_survival);
	for (const Knob *const *k = knob_registry; *k; k++) {
		const KnobValue *was = journal_original(j, d->id, (*k)->name);
		int r = was ? knob_apply(*k, d, was, NULL) : 0;

		first = first ?: r;
		all &= r == 0;
		if (!was || r < 0)
			continue;
		restored++;
		journal_forget(j, d->id, (*k)->name);
	}
	if (ret_restored)
		*ret_restored = restored;
	return all && journal_size_of(j, d->id) > 0 ? -EOPNOTSUPP : first;
}
