/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger/backlog.h"

static const unsigned steps_s[] = { 1, 60, 3600, 86400 };

int backlog_put(Backlog *b, LedgerEntries *counted)
{
	int r = ledger_entries_move(&b->entries, counted);

	while (b->entries.n > BACKLOG_ENTRIES_MAX) {
		b->step = MIN(b->step + 1, ELEMENTSOF(steps_s) - 1);
		ledger_entries_merge(&b->entries, steps_s[b->step]);
		if (b->step == ELEMENTSOF(steps_s) - 1)
			break;
	}
	return r;
}

LedgerEntries backlog_take(Backlog *b)
{
	LedgerEntries all = b->entries;

	*b = (Backlog){};
	return all;
}

void backlog_clear(Backlog *b)
{
	ledger_entries_clear(&b->entries);
	*b = (Backlog){};
}
