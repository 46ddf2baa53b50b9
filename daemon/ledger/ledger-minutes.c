/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What happens to entries when their minute is over, and when they are old. */

#include <errno.h>

#include "ledger/ledger-internal.h"

/* "a = a + excluded.a, ..." */
#define ADDED   "@ = @ + excluded.@"
#define HIGHEST "@ = max(@, excluded.@)"

/* What is deleted in a minute, in minutes of what was written. */
#define PACE 2

/* The sums of each minute, from which those of longer times are formed. */
static int sum_minutes(Ledger *l, const char *which)
{
	_cleanup_free_ char *sums = ledger_columns("sum(@) AS @", "max(@) AS @");

	/* rounded downwards before 1970, too */
	return sums ? ledger_runf(l,
				  "CREATE TEMP TABLE ended AS SELECT kind, time - (time %% 60 + 60)"
				  " %% 60 AS minute, thing, %s FROM open WHERE %s"
				  " GROUP BY kind, minute, thing",
				  sums, which)
		    : -ENOMEM;
}

static int add_seconds(Ledger *l, const char *added, const char *which)
{
	return ledger_runf(l,
			   "INSERT INTO %s SELECT * FROM open WHERE %s"
			   " ON CONFLICT(kind, time, thing) DO UPDATE SET %s",
			   ledger_resolutions[RESOLUTION_SECOND].table, which, added);
}

static int add_minutes(Ledger *l, const ResolutionInfo *to, const char *columns, const char *added)
{
	return ledger_runf(
		l,
		"INSERT INTO %s SELECT kind, minute - (minute %% %u + %u) %% %u, thing, %s"
		" FROM ended WHERE true"
		" ON CONFLICT(kind, time, thing) DO UPDATE SET %s",
		to->table, to->step_s, to->step_s, to->step_s, columns, added);
}

static int add_up(Ledger *l, const char *which)
{
	_cleanup_free_ char *columns = ledger_columns("@", "@");
	_cleanup_free_ char *added = ledger_columns(ADDED, HIGHEST);
	int r = columns && added ? add_seconds(l, added, which) : -ENOMEM;

	if (r >= 0)
		r = sum_minutes(l, which);
	for (Resolution i = RESOLUTION_MINUTE; i < _RESOLUTION_MAX && r >= 0; i++)
		r = add_minutes(l, &ledger_resolutions[i], columns, added);
	return r < 0 ? r : ledger_run(l, "DROP TABLE ended");
}

/* Of the oldest, so much as was written meanwhile and once more. */
static int delete_old(Ledger *l, const ResolutionInfo *of, ThingKind kind, int64_t now_s)
{
	const unsigned pace_s = PACE * MAX(of->step_s, 60U);

	if (!of->kept_s[kind])
		return 0;
	return ledger_runf(l,
			   "DELETE FROM %s WHERE kind = %d AND time < min(%lld,"
			   " (SELECT min(time) FROM %s WHERE kind = %d) + %u)",
			   of->table, (int)kind, (long long)(now_s - of->kept_s[kind]), of->table,
			   (int)kind, pace_s);
}

static int delete_all_old(Ledger *l, int64_t now_s)
{
	int r = 0;

	for (Resolution i = 0; i < _RESOLUTION_MAX; i++)
		for (ThingKind k = 0; k < _THING_KIND_MAX && r >= 0; k++)
			r = delete_old(l, &ledger_resolutions[i], k, now_s);
	return r;
}

static int has_ended(Ledger *l, const char *which, bool *ret)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *s = NULL;
	char sql[160];
	int r, code;

	snprintf(sql, sizeof(sql), "SELECT 1 FROM open WHERE %s LIMIT 1", which);
	r = ledger_prepare(l, sql, &s);
	if (r < 0)
		return r;
	code = sqlite3_step(s);
	*ret = code == SQLITE_ROW;
	return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : ledger_fail(l, code);
}

int ledger_end_minutes(Ledger *l, int64_t now_s)
{
	const int64_t minute_s = now_s - now_s % 60;
	char which[96];
	bool ended;
	int r;

	snprintf(which, sizeof(which), "(time < %lld OR time >= %lld)", (long long)minute_s,
		 (long long)minute_s + 60);
	r = has_ended(l, which, &ended);
	if (r < 0 || !ended)
		return r;
	r = add_up(l, which);
	if (r >= 0)
		r = ledger_runf(l, "DELETE FROM open WHERE %s", which);
	return r < 0 ? r : delete_all_old(l, now_s);
}
