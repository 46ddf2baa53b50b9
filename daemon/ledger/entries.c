/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger/entries.h"

#include <errno.h>
#include <string.h>

static char *copy(const char *text)
{
	return strdup(text ?: "");
}

int ledger_thing_new(const LedgerThing *like, LedgerThing **ret)
{
	_cleanup_(ledger_thing_unrefp) LedgerThing *t = malloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	*t = (LedgerThing){ .kind = like->kind,
			    .id = copy(like->id),
			    .name = copy(like->name),
			    .model = copy(like->model),
			    .group = copy(like->group),
			    .pool = copy(like->pool),
			    .refs = 1 };
	if (!t->id || !t->name || !t->model || !t->group || !t->pool)
		return -ENOMEM;
	*ret = TAKE_PTR(t);
	return 0;
}

LedgerThing *ledger_thing_ref(LedgerThing *t)
{
	t->refs++;
	return t;
}

LedgerThing *ledger_thing_unref(LedgerThing *t)
{
	if (!t || --t->refs)
		return NULL;
	free(t->id);
	free(t->name);
	free(t->model);
	free(t->group);
	free(t->pool);
	free(t);
	return NULL;
}

int ledger_thing_compare(const LedgerThing *a, const LedgerThing *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->id, b->id)
		       ?: strcmp(a->name, b->name)
		       ?: strcmp(a->model, b->model)
		       ?: strcmp(a->group, b->group)
		       ?: strcmp(a->pool, b->pool);
}

int ledger_entries_add(LedgerEntries *e, int64_t time_s, LedgerThing *thing, const Amounts *amounts)
{
	LedgerEntry *entry = ARRAY_GROW(e->all, e->n);

	if (!entry)
		return -ENOMEM;
	*entry = (LedgerEntry){ time_s, ledger_thing_ref(thing), *amounts };
	return 0;
}

int ledger_entries_move(LedgerEntries *to, LedgerEntries *from)
{
	const size_t before = to->n;

	for (size_t i = 0; i < from->n; i++) {
		LedgerEntry *entry = ARRAY_GROW(to->all, to->n);

		if (!entry) {
			to->n = before;
			return -ENOMEM;
		}
		*entry = from->all[i];
	}
	free(from->all);
	*from = (LedgerEntries){};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const LedgerEntry *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return x->thing == y->thing ? 0 : x->thing < y->thing ? -1 : 1;
}

static int64_t floor_to(int64_t time_s, unsigned step_s)
{
	int64_t rest = time_s % step_s;

	return time_s - (rest < 0 ? rest + step_s : rest);
}

void ledger_entries_merge(LedgerEntries *e, unsigned step_s)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->n; i++)
		e->all[i].time_s = floor_to(e->all[i].time_s, step_s);
	if (e->n)
		qsort(e->all, e->n, sizeof(*e->all), compare);
	for (size_t i = 0; i < e->n; i++) {
		if (kept && compare(&e->all[kept - 1], &e->all[i]) == 0) {
			amounts_add(&e->all[kept - 1].amounts, &e->all[i].amounts);
			ledger_thing_unref(e->all[i].thing);
		} else {
			e->all[kept++] = e->all[i];
		}
	}
	e->n = kept;
}

void ledger_entries_clear(LedgerEntries *e)
{
	for (size_t i = 0; i < e->n; i++)
		ledger_thing_unref(e->all[i].thing);
	free(e->all);
	*e = (LedgerEntries){};
}
