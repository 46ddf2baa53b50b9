/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SQLite as the ledger uses it. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "ledger/ledger-internal.h"

static int errno_of(int code, int system_errno)
{
	switch (code & 0xff) {
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: return -EBADMSG;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return -EBUSY;
	case SQLITE_NOMEM: return -ENOMEM;
	case SQLITE_READONLY: return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH: return -EACCES;
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR: return system_errno ? -system_errno : -EIO;
	default: return -EIO;
	}
}

int ledger_fail(Ledger *l, int code)
{
	snprintf(l->error, sizeof(l->error), "%s",
		 l->db ? sqlite3_errmsg(l->db) : sqlite3_errstr(code));
	return errno_of(code, l->db ? sqlite3_system_errno(l->db) : 0);
}

int ledger_run(Ledger *l, const char *sql)
{
	int code = sqlite3_exec(l->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : ledger_fail(l, code);
}

int ledger_runf(Ledger *l, const char *format, ...)
{
	_cleanup_free_ char *sql = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&sql, format, args);
	va_end(args);
	if (n < 0) {
		sql = NULL;
		return -ENOMEM;
	}
	return ledger_run(l, sql);
}

int ledger_prepare(Ledger *l, const char *sql, sqlite3_stmt **ret)
{
	int code = sqlite3_prepare_v2(l->db, sql, -1, ret, NULL);

	return code == SQLITE_OK ? 0 : ledger_fail(l, code);
}

void sqlite_finalizep(sqlite3_stmt **s)
{
	sqlite3_finalize(*s);
}

/* Every @ stands for the column's name. */
static void print_column(FILE *f, const char *format, const char *column)
{
	for (const char *p = format; *p; p++)
		if (*p == '@')
			fputs(column, f);
		else
			fputc(*p, f);
}

char *ledger_columns(const char *each, const char *highest)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (Amount a = 0; a < _AMOUNT_MAX; a++) {
		fputs(a ? ", " : "", f);
		print_column(f, amount_is_highest(a) ? highest : each, amount_column(a));
	}
	return fclose(f) == 0 ? TAKE_PTR(text) : NULL;
}
