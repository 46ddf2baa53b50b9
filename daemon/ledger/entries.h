/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Entries of the ledger before they are written, in memory: what was counted of which thing when.
 * Pure. */

#include <stddef.h>

#include "base/cleanup.h"
#include "ledger/amounts.h"

typedef enum ThingKind {
	THING_NODE,
	THING_DEVICE,
	THING_CGROUP,
	THING_CLAIM, /* of the node, while it is the one that limits: an event that is settled on */
	_THING_KIND_MAX,
} ThingKind;

/* What is counted. A device that moves to another group is another thing from then on, so that
 * sums by group stay those of their time. */
typedef struct LedgerThing {
	ThingKind kind;
	char *id; /* stays the same over reboots: "wwid:eui.002538..."; the path of a cgroup; "" */
	char *name;                 /* "nvme0n1"; the path of a cgroup; "node" */
	char *model, *group, *pool; /* "": none; of a claim its source, scope and class */
	unsigned refs;              /* for the loop alone */
} LedgerThing;

/* Copies the texts; NULL is taken for "". *ret has one reference. -ENOMEM. */
int ledger_thing_new(const LedgerThing *like, LedgerThing **ret);
LedgerThing *ledger_thing_ref(LedgerThing *t);
LedgerThing *ledger_thing_unref(LedgerThing *t); /* returns NULL */
DEFINE_CLEANUP(LedgerThing *, ledger_thing_unref);
/* By all that is told of them: below, above or 0. */
int ledger_thing_compare(const LedgerThing *a, const LedgerThing *b);

typedef struct LedgerEntry {
	int64_t time_s; /* when its span began, since the epoch */
	LedgerThing *thing;
	Amounts amounts;
} LedgerEntry;

typedef struct LedgerEntries {
	LedgerEntry *all;
	size_t n;
} LedgerEntries;

/* Takes a reference of the thing. -ENOMEM. */
int ledger_entries_add(LedgerEntries *e, int64_t time_s, LedgerThing *thing,
		       const Amounts *amounts);
/* Moves all of them to the end of `to`. On -ENOMEM all stay where they are. */
int ledger_entries_move(LedgerEntries *to, LedgerEntries *from);
/* Merges the entries of a thing whose spans begin in the same `step_s` seconds of the epoch. */
void ledger_entries_merge(LedgerEntries *e, unsigned step_s);
void ledger_entries_clear(LedgerEntries *e);
