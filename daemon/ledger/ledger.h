/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The ledger: an SQLite database, which storpowerd writes and storpowerctl reads.
 *
 * What is counted in a second lies in the table "open" until its minute is over. Then it is moved
 * to "second" and added to "minute", "hour", "day" and "month", in one transaction: each of these
 * is complete by itself but for what is open, whatever the clock did and whenever the daemon ended.
 *
 * Days are kept for good, hours for five years, minutes for a week and seconds for an hour; of
 * cgroups, whose names may be many, days for five years and hours for ninety days. What is old goes
 * at twice the pace of time at most, so that a clock that is wrong for a moment costs little.
 *
 * Errors are those of errno: -ENOSPC, -EIO, -EACCES, -EROFS, -EBUSY (another process writes),
 * -EBADMSG (damaged), -EPROTONOSUPPORT (another version wrote it), -ENOENT, -ENOMEM. */

#include "ledger/entries.h"

/* Of one day; what the others counted is that of the cgroup "(others)". */
#define LEDGER_CGROUPS_MAX 1000

typedef struct Ledger Ledger;

/* For a daemon that writes: the file is opened, or made with mode 0600, when something is to be
 * written. What is damaged is set aside, and said. -ENOMEM. */
int ledger_open(const char *path, Ledger **ret);
/* To read it, while the daemon writes. */
int ledger_open_to_read(const char *path, Ledger **ret);
Ledger *ledger_close(Ledger *l); /* returns NULL */
DEFINE_CLEANUP(Ledger *, ledger_close);

/* What is wrong, in words, after an error. */
const char *ledger_error(const Ledger *l);

/* Writes all of them, or none. now_s is what the clock says now. After -EBADMSG the file has been
 * set aside, and the next call writes to a new one. */
int ledger_write(Ledger *l, const LedgerEntries *entries, int64_t now_s);

/* Short texts beside the figures: "currency". *ret is malloc'd; -ENOENT. */
int ledger_set_note(Ledger *l, const char *key, const char *text);
int ledger_note(Ledger *l, const char *key, char **ret);

typedef struct LedgerQuery {
	ThingKind kind;
	int64_t since_s, until_s; /* the end is not in it */
	bool by_thing;            /* else all things of the kind together */
	unsigned step_s;          /* by time in steps of so many seconds; 0: all together */
	int64_t offset_s;         /* of the steps' beginnings, as of a time zone from UTC */
} LedgerQuery;

/* One sum. thing is NULL where they are together, time_s the beginning of its step or 0. A negative
 * return ends the reading, and is its result. */
typedef int (*LedgerTake)(const LedgerThing *thing, int64_t time_s, const Amounts *sum,
			  void *userdata);
/* By time, then by things in no order. AMOUNT_SPAN_US of several things together is their sum. */
int ledger_read(Ledger *l, const LedgerQuery *q, LedgerTake take, void *userdata);

/* The earliest day of which anything was counted of these things; -ENOENT: nothing was. */
int ledger_earliest(Ledger *l, ThingKind kind, int64_t *ret_time_s);
/* The last time up to time_s at which a span begins that is still known at now_s: of what is older
 * than an hour, minutes are known alone. */
int64_t ledger_align(ThingKind kind, int64_t time_s, int64_t now_s);
