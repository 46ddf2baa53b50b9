/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The ledger's file: made, opened, and set aside where it is damaged. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "base/set-aside.h"
#include "base/text.h"
#include "ledger/ledger-internal.h"

#define VERSION 1
/* A reader or a checkpoint is not in the way for longer. */
#define BUSY_MS 250

#define HOUR_S 3600LL
#define DAY_S  86400LL
#define YEAR_S (365 * DAY_S)

/* By kind: node, device, cgroup, claim. */
const ResolutionInfo ledger_resolutions[_RESOLUTION_MAX] = {
	[RESOLUTION_SECOND] = { "second", 1, { HOUR_S, HOUR_S, HOUR_S, HOUR_S } },
	[RESOLUTION_MINUTE] = { "minute", 60, { 7 * DAY_S, 7 * DAY_S, 7 * DAY_S, 7 * DAY_S } },
	[RESOLUTION_HOUR] = { "hour", HOUR_S, { 5 * YEAR_S, 5 * YEAR_S, 90 * DAY_S, 5 * YEAR_S } },
	[RESOLUTION_DAY] = { "day", DAY_S, { 0, 0, 5 * YEAR_S, 0 } },
	[RESOLUTION_MONTH] = { "month", 30 * DAY_S, { 0, 0, 5 * YEAR_S, 0 } },
};

/* The log is written back to the file as it grows; after a crash of the machine the last seconds
 * may be missing, and never half a transaction. */
static const char settings[] = "PRAGMA journal_mode = WAL;"
			       "PRAGMA synchronous = NORMAL;"
			       "PRAGMA journal_size_limit = 16777216;"
			       "PRAGMA temp_store = MEMORY;";

static const char things[] =
	"CREATE TABLE thing(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, stable TEXT NOT NULL,"
	" name TEXT NOT NULL, model TEXT NOT NULL, in_group TEXT NOT NULL, pool TEXT NOT NULL,"
	" UNIQUE(kind, stable, name, model, in_group, pool));"
	"CREATE TABLE note(key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;";

static int make_tables(Ledger *l)
{
	_cleanup_free_ char *columns = ledger_columns("@ INTEGER NOT NULL", "@ INTEGER NOT NULL");
	int r = columns ? ledger_run(l, things) : -ENOMEM;

	if (r >= 0)
		r = ledger_runf(l, "CREATE TABLE open(kind, time, thing, %s)", columns);
	for (Resolution i = 0; i < _RESOLUTION_MAX && r >= 0; i++)
		r = ledger_runf(l,
				"CREATE TABLE %s(kind INTEGER, time INTEGER, thing INTEGER, %s,"
				" PRIMARY KEY(kind, time, thing)) WITHOUT ROWID",
				ledger_resolutions[i].table, columns);
	return r < 0 ? r : ledger_runf(l, "PRAGMA user_version = %d", VERSION);
}

static int make_schema(Ledger *l)
{
	int r = ledger_run(l, "BEGIN IMMEDIATE");

	if (r >= 0)
		r = make_tables(l);
	if (r >= 0)
		r = ledger_run(l, "COMMIT");
	if (r < 0)
		(void)sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static int read_version(Ledger *l, int *ret)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *s = NULL;
	int r = ledger_prepare(l, "PRAGMA user_version", &s), code;

	if (r < 0)
		return r;
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return ledger_fail(l, code);
	*ret = sqlite3_column_int(s, 0);
	return 0;
}

static int check_version(Ledger *l)
{
	int version = 0, r = read_version(l, &version);

	if (r < 0)
		return r;
	if (version == 0 && l->writes)
		return make_schema(l);
	if (version == VERSION)
		return 0;
	snprintf(l->error, sizeof(l->error),
		 version ? "it is of version %d, and this storpower knows version %d"
			 : "nothing has been written to it yet",
		 version, VERSION);
	return version ? -EPROTONOSUPPORT : -ENOENT;
}

static void close_db(Ledger *l)
{
	ledger_forget_things(l);
	sqlite3_finalize(l->insert);
	sqlite3_close(l->db);
	l->insert = NULL;
	l->db = NULL;
}

static int connect(Ledger *l)
{
	int code =
		sqlite3_open_v2(l->path, &l->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (code != SQLITE_OK)
		return ledger_fail(l, code);
	sqlite3_busy_timeout(l->db, BUSY_MS);
	return l->writes ? ledger_run(l, settings) : ledger_run(l, "PRAGMA query_only = 1");
}

static int open_db(Ledger *l)
{
	int r = connect(l);

	if (r >= 0)
		r = check_version(l);
	if (r < 0)
		close_db(l);
	return r;
}

/* SQLite would make it readable for everybody. */
static int make_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	return fd < 0 ? -errno : 0;
}

/* What belongs to a file that was set aside does not belong to the next. */
static int set_aside_with(const char *path, const char *suffix)
{
	_cleanup_free_ char *file = text_printf("%s%s", path, suffix);

	if (!file)
		return -ENOMEM;
	return access(file, F_OK) < 0 ? 0 : set_aside(file, "going on with a new one");
}

int ledger_set_aside(Ledger *l)
{
	int r;

	close_db(l);
	r = set_aside_with(l->path, "");
	if (r >= 0)
		r = set_aside_with(l->path, "-wal");
	if (r >= 0)
		r = set_aside_with(l->path, "-shm");
	return r;
}

static int open_to_write(Ledger *l)
{
	int r = set_aside_unless_file(l->path);

	if (r >= 0)
		r = make_file(l->path);
	if (r >= 0)
		r = open_db(l);
	return r;
}

int ledger_reopen(Ledger *l)
{
	int r;

	if (l->db)
		return 0;
	*l->error = '\0';
	r = open_to_write(l);
	if (r == -EBADMSG && (r = ledger_set_aside(l)) >= 0)
		r = open_to_write(l);
	if (r < 0 && !*l->error)
		snprintf(l->error, sizeof(l->error), "%s", strerror(-r));
	return r;
}

static int new_ledger(const char *path, bool writes, Ledger **ret)
{
	_cleanup_(ledger_closep) Ledger *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->path = strdup(path);
	if (!l->path)
		return -ENOMEM;
	l->writes = writes;
	*ret = TAKE_PTR(l);
	return 0;
}

int ledger_open(const char *path, Ledger **ret)
{
	return new_ledger(path, true, ret);
}

int ledger_open_to_read(const char *path, Ledger **ret)
{
	_cleanup_(ledger_closep) Ledger *l = NULL;
	int r = new_ledger(path, false, &l);

	if (r >= 0)
		r = open_db(l);
	if (r >= 0)
		*ret = TAKE_PTR(l);
	return r;
}

Ledger *ledger_close(Ledger *l)
{
	if (!l)
		return NULL;
	close_db(l);
	free(l->path);
	free(l);
	return NULL;
}

const char *ledger_error(const Ledger *l)
{
	return l->error;
}
