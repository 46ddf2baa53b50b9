/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the files of the ledger share. */

#include <sqlite3.h>

#include "ledger/ledger.h"

/* The resolutions, the finest first. */
typedef enum Resolution {
	RESOLUTION_SECOND,
	RESOLUTION_MINUTE,
	RESOLUTION_HOUR,
	RESOLUTION_DAY,
	RESOLUTION_MONTH, /* of thirty days, so that years are read at once */
	_RESOLUTION_MAX,
} Resolution;

typedef struct ResolutionInfo {
	const char *table;
	unsigned step_s;
	int64_t kept_s[_THING_KIND_MAX]; /* 0: for good */
} ResolutionInfo;

extern const ResolutionInfo ledger_resolutions[_RESOLUTION_MAX];

struct Ledger {
	char *path;
	sqlite3 *db; /* NULL: it was set aside, and is made anew when it is written */
	bool writes;
	sqlite3_stmt *insert; /* into "open" */
	void *known;          /* rows of "thing" by what they tell, for tsearch(3) */
	int64_t known_day;    /* of which they are */
	unsigned n_cgroups;   /* of them */
	char error[256];
};

/* ledger-sql.c */
/* Keeps what SQLite says, and returns -errno for its result code. */
int ledger_fail(Ledger *l, int code);
int ledger_run(Ledger *l, const char *sql);
/* A printf of SQL: %lld and %s of names that are ours alone. */
int ledger_runf(Ledger *l, const char *format, ...) _printf_(2, 3);
int ledger_prepare(Ledger *l, const char *sql, sqlite3_stmt **ret);
void sqlite_finalizep(sqlite3_stmt **s);
/* "a, b, c" of every amount, each as `each` says, in which @ stands for its name: "sum(@)"; those
 * whose sum is the highest, as `highest` says. malloc'd, NULL without memory. */
char *ledger_columns(const char *each, const char *highest);

/* ledger-file.c */
/* Opens it to write where it is not open. What is damaged is set aside. */
int ledger_reopen(Ledger *l);
int ledger_set_aside(Ledger *l);

/* ledger-things.c */
/* The row of the thing, which is made where there is none. Of too many cgroups it is that of
 * "(others)". */
int ledger_thing_row(Ledger *l, const LedgerThing *t, int64_t now_s, int64_t *ret);
void ledger_forget_things(Ledger *l);

/* ledger-minutes.c: ends the minutes in "open" that are not that of now_s; deletes what is old. */
int ledger_end_minutes(Ledger *l, int64_t now_s);
