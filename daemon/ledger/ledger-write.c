/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Entries are written a transaction at a time. */

#include <errno.h>

#include "base/text.h"
#include "ledger/ledger-internal.h"

static int prepare_insert(Ledger *l)
{
	_cleanup_free_ char *marks = ledger_columns("?", "?");
	_cleanup_free_ char *sql =
		marks ? text_printf("INSERT INTO open VALUES(?, ?, ?, %s)", marks) : NULL;

	if (l->insert)
		return 0;
	return sql ? ledger_prepare(l, sql, &l->insert) : -ENOMEM;
}

static int insert(Ledger *l, const LedgerEntry *e, int64_t row)
{
	sqlite3_stmt *s = l->insert;
	int column = 0, code;

	sqlite3_bind_int(s, ++column, (int)e->thing->kind);
	sqlite3_bind_int64(s, ++column, e->time_s);
	sqlite3_bind_int64(s, ++column, row);
	for (Amount a = 0; a < _AMOUNT_MAX; a++)
		sqlite3_bind_int64(s, ++column, e->amounts.of[a]);
	code = sqlite3_step(s);
	sqlite3_reset(s);
	return code == SQLITE_DONE ? 0 : ledger_fail(l, code);
}

static int insert_all(Ledger *l, const LedgerEntries *entries, int64_t now_s)
{
	int64_t row;
	int r = 0;

	for (size_t i = 0; i < entries->n && r >= 0; i++) {
		r = ledger_thing_row(l, entries->all[i].thing, now_s, &row);
		if (r >= 0)
			r = insert(l, &entries->all[i], row);
	}
	return r;
}

/* What was written under a number that is rolled back is not known by it. */
static void roll_back(Ledger *l)
{
	(void)sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	ledger_forget_things(l);
}

static int write_all_of(Ledger *l, const LedgerEntries *entries, int64_t now_s)
{
	int r = prepare_insert(l);

	if (r >= 0)
		r = ledger_run(l, "BEGIN IMMEDIATE");
	if (r < 0)
		return r;
	r = ledger_end_minutes(l, now_s);
	if (r >= 0)
		r = insert_all(l, entries, now_s);
	if (r >= 0)
		r = ledger_run(l, "COMMIT");
	if (r < 0)
		roll_back(l);
	return r;
}

int ledger_write(Ledger *l, const LedgerEntries *entries, int64_t now_s)
{
	int r = ledger_reopen(l);

	if (r >= 0)
		r = write_all_of(l, entries, now_s);
	if (r == -EBADMSG && l->db)
		(void)ledger_set_aside(l);
	return r;
}

int ledger_set_note(Ledger *l, const char *key, const char *text)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *s = NULL;
	int r = ledger_reopen(l), code;

	if (r >= 0)
		r = ledger_prepare(l, "INSERT OR REPLACE INTO note VALUES(?, ?)", &s);
	if (r < 0)
		return r;
	sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
	code = sqlite3_step(s);
	return code == SQLITE_DONE ? 0 : ledger_fail(l, code);
}
