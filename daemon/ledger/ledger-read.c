/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums of what was written. A time is read from the coarsest entries that lie in it whole: a year
 * from months, and what is left of its ends from days, hours, minutes and seconds. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "ledger/ledger-internal.h"

static int64_t round_down(int64_t time_s, int64_t step_s)
{
	int64_t rest = time_s % step_s;

	return time_s - (rest < 0 ? rest + step_s : rest);
}

static int64_t round_up(int64_t time_s, int64_t step_s)
{
	return round_down(time_s + step_s - 1, step_s);
}

int64_t ledger_align(ThingKind kind, int64_t time_s, int64_t now_s)
{
	for (Resolution i = 0; i < _RESOLUTION_MAX; i++) {
		const ResolutionInfo *of = &ledger_resolutions[i];

		if (!of->kept_s[kind] || time_s >= now_s - of->kept_s[kind])
			return round_down(time_s, of->step_s);
	}
	return round_down(time_s, ledger_resolutions[_RESOLUTION_MAX - 1].step_s);
}

/* May entries of this resolution stand in one step whole? */
static bool fits(const LedgerQuery *q, const ResolutionInfo *of)
{
	return !q->step_s || (q->step_s % of->step_s == 0 && q->offset_s % of->step_s == 0);
}

static void select_from(FILE *f, const char *table, ThingKind kind, int64_t since_s,
			int64_t until_s)
{
	fprintf(f, "%s SELECT * FROM %s WHERE kind = %d AND time >= %lld AND time < %lld",
		streq(table, "open") ? "" : " UNION ALL", table, (int)kind, (long long)since_s,
		(long long)until_s);
}

static void select_span(FILE *f, const LedgerQuery *q, int resolution, int64_t since_s,
			int64_t until_s)
{
	const ResolutionInfo *of = &ledger_resolutions[resolution];
	int64_t first_s = round_up(since_s, of->step_s), last_s = round_down(until_s, of->step_s);

	if (since_s >= until_s)
		return;
	if (resolution > 0 && (!fits(q, of) || first_s >= last_s)) {
		select_span(f, q, resolution - 1, since_s, until_s);
		return;
	}
	select_from(f, of->table, q->kind, first_s, last_s);
	if (resolution > 0) {
		select_span(f, q, resolution - 1, since_s, first_s);
		select_span(f, q, resolution - 1, last_s, until_s);
	}
}

static void print_query(FILE *f, const LedgerQuery *q, const char *sums)
{
	const char *thing = q->by_thing ? "thing" : "0";

	if (q->step_s)
		fprintf(f,
			"SELECT (time + %lld - ((time + %lld) %% %u + %u) %% %u) - %lld AS step, ",
			(long long)q->offset_s, (long long)q->offset_s, q->step_s, q->step_s,
			q->step_s, (long long)q->offset_s);
	else
		fputs("SELECT 0 AS step, ", f);
	fprintf(f, "%s AS which, %s FROM (", thing, sums);
	select_from(f, "open", q->kind, q->since_s, q->until_s);
	select_span(f, q, _RESOLUTION_MAX - 1, q->since_s, q->until_s);
	fputs(") GROUP BY step, which ORDER BY step", f);
}

static char *query_text(const LedgerQuery *q)
{
	_cleanup_free_ char *sums = ledger_columns("sum(@)", "max(@)"), *sql = NULL;
	size_t size;
	FILE *f = sums ? open_memstream(&sql, &size) : NULL;

	if (!f)
		return NULL;
	print_query(f, q, sums);
	return fclose(f) == 0 ? TAKE_PTR(sql) : NULL;
}

static char *column_text(sqlite3_stmt *s, int column)
{
	return (char *)sqlite3_column_text(s, column) ?: (char *)"";
}

/* Its texts live until the statement is reset. */
static int read_thing(Ledger *l, sqlite3_stmt *s, int64_t row, LedgerThing *ret)
{
	int code;

	sqlite3_reset(s);
	sqlite3_bind_int64(s, 1, row);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EBADMSG : ledger_fail(l, code);
	*ret = (LedgerThing){ .kind = (ThingKind)sqlite3_column_int(s, 0),
			      .id = column_text(s, 1),
			      .name = column_text(s, 2),
			      .model = column_text(s, 3),
			      .group = column_text(s, 4),
			      .pool = column_text(s, 5) };
	return 0;
}

static int take_sum(Ledger *l, const LedgerQuery *q, sqlite3_stmt *sums, sqlite3_stmt *things,
		    LedgerTake take, void *userdata)
{
	LedgerThing thing;
	Amounts sum;
	int r = q->by_thing ? read_thing(l, things, sqlite3_column_int64(sums, 1), &thing) : 0;

	if (r < 0)
		return r;
	for (Amount a = 0; a < _AMOUNT_MAX; a++)
		sum.of[a] = sqlite3_column_int64(sums, 2 + (int)a);
	return take(q->by_thing ? &thing : NULL, sqlite3_column_int64(sums, 0), &sum, userdata);
}

int ledger_read(Ledger *l, const LedgerQuery *q, LedgerTake take, void *userdata)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *sums = NULL, *things = NULL;
	_cleanup_free_ char *sql = query_text(q);
	int r = sql ? ledger_prepare(l, sql, &sums) : -ENOMEM, code = SQLITE_DONE;

	if (r >= 0)
		r = ledger_prepare(l,
				   "SELECT kind, stable, name, model, in_group, pool FROM thing"
				   " WHERE id = ?",
				   &things);
	while (r >= 0 && (code = sqlite3_step(sums)) == SQLITE_ROW)
		r = take_sum(l, q, sums, things, take, userdata);
	if (r < 0)
		return r;
	return code == SQLITE_DONE ? 0 : ledger_fail(l, code);
}

int ledger_earliest(Ledger *l, ThingKind kind, int64_t *ret_time_s)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *s = NULL;
	int code, r = ledger_prepare(l,
				     "SELECT min(time) FROM (SELECT time FROM open WHERE kind = ?1"
				     " UNION ALL SELECT min(time) FROM day WHERE kind = ?1)",
				     &s);

	if (r < 0)
		return r;
	sqlite3_bind_int(s, 1, (int)kind);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return ledger_fail(l, code);
	if (sqlite3_column_type(s, 0) == SQLITE_NULL)
		return -ENOENT;
	*ret_time_s = sqlite3_column_int64(s, 0);
	return 0;
}

int ledger_note(Ledger *l, const char *key, char **ret)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *s = NULL;
	int code, r = ledger_prepare(l, "SELECT text FROM note WHERE key = ?", &s);

	if (r < 0)
		return r;
	sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -ENOENT : ledger_fail(l, code);
	*ret = strdup(column_text(s, 0));
	return *ret ? 0 : -ENOMEM;
}
