/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is counted has a row of its own in the ledger, and entries its number. */

#include <errno.h>
#include <search.h>

#include "ledger/ledger-internal.h"

#define DAY_S 86400

typedef struct KnownThing {
	LedgerThing *thing; /* a copy: references are for the loop */
	int64_t row;
} KnownThing;

static void free_known(void *p)
{
	KnownThing *k = p;

	ledger_thing_unref(k->thing);
	free(k);
}

static void free_knownp(KnownThing **k)
{
	if (*k)
		free_known(*k);
}

static int compare(const void *a, const void *b)
{
	const KnownThing *x = a, *y = b;

	return ledger_thing_compare(x->thing, y->thing);
}

void ledger_forget_things(Ledger *l)
{
	tdestroy(l->known, free_known);
	l->known = NULL;
	l->n_cgroups = 0;
}

static int bind(Ledger *l, sqlite3_stmt *s, const LedgerThing *t)
{
	const char *const texts[] = { t->id, t->name, t->model, t->group, t->pool };
	int code = sqlite3_bind_int(s, 1, (int)t->kind);

	for (int i = 0; i < (int)ELEMENTSOF(texts) && code == SQLITE_OK; i++)
		code = sqlite3_bind_text(s, i + 2, texts[i], -1, SQLITE_STATIC);
	return code == SQLITE_OK ? 0 : ledger_fail(l, code);
}

/* Runs the statement; 1 with its first column where it has a row. */
static int run(Ledger *l, const char *sql, const LedgerThing *t, int64_t *ret)
{
	_cleanup_(sqlite_finalizep) sqlite3_stmt *s = NULL;
	int r = ledger_prepare(l, sql, &s), code;

	if (r >= 0)
		r = bind(l, s, t);
	if (r < 0)
		return r;
	code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		*ret = sqlite3_column_int64(s, 0);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : ledger_fail(l, code);
}

static int find_or_make(Ledger *l, const LedgerThing *t, int64_t *ret)
{
	int r = run(l,
		    "SELECT id FROM thing WHERE kind = ?1 AND stable = ?2 AND name = ?3"
		    " AND model = ?4 AND in_group = ?5 AND pool = ?6",
		    t, ret);

	if (r != 0)
		return r;
	r = run(l,
		"INSERT INTO thing(kind, stable, name, model, in_group, pool)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
		t, ret);
	if (r == 0)
		*ret = sqlite3_last_insert_rowid(l->db);
	return r;
}

static int get_known(Ledger *l, const LedgerThing *t, int64_t *ret)
{
	const KnownThing asked = { .thing = (LedgerThing *)t };
	_cleanup_(free_knownp) KnownThing *k = NULL;
	KnownThing **found = tfind(&asked, &l->known, compare);
	int r;

	if (found) {
		*ret = (*found)->row;
		return 0;
	}
	k = calloc(1, sizeof(*k));
	r = k ? ledger_thing_new(t, &k->thing) : -ENOMEM;
	if (r >= 0)
		r = find_or_make(l, t, &k->row);
	if (r < 0)
		return r;
	*ret = k->row;
	if (!tsearch(k, &l->known, compare))
		return -ENOMEM;
	l->n_cgroups += t->kind == THING_CGROUP;
	k = NULL;
	return 0;
}

/* Every service that comes and goes may be a name of its own. */
static bool is_too_many(const Ledger *l, const LedgerThing *t)
{
	const KnownThing asked = { .thing = (LedgerThing *)t };

	return t->kind == THING_CGROUP && l->n_cgroups >= LEDGER_CGROUPS_MAX &&
	       !tfind(&asked, &l->known, compare);
}

int ledger_thing_row(Ledger *l, const LedgerThing *t, int64_t now_s, int64_t *ret)
{
	static const LedgerThing others = {
		.kind = THING_CGROUP,
		.id = (char *)"(others)",
		.name = (char *)"(others)",
		.model = (char *)"",
		.group = (char *)"",
		.pool = (char *)"",
	};

	if (l->known_day != now_s / DAY_S)
		ledger_forget_things(l);
	l->known_day = now_s / DAY_S;
	return get_known(l, is_too_many(l, t) ? &others : t, ret);
}
