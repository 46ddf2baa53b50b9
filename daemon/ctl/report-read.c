/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sums of a report, from the ledger. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "base/text.h"
#include "ctl/report.h"

typedef struct Reading {
	ReportBy by;
	TimePiece piece;
	ReportRows *rows;
} Reading;

static void row_clear(ReportRow *row)
{
	free(row->key);
	free(row->name);
	free(row->detail);
	free(row->source);
	free(row->scope);
}

void report_rows_clear(ReportRows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		row_clear(&rows->all[i]);
	free(rows->all);
	*rows = (ReportRows){};
}

bool report_claim_key(const char *key, uint64_t *ret_cookie, int64_t *ret_created_s)
{
	const char *at = strchr(key, '@');
	_cleanup_free_ char *cookie = at ? strndup(key, (size_t)(at - key)) : NULL;
	unsigned long n, created_s;

	if (!cookie || parse_unsigned(cookie, UINT64_MAX, &n) < 0 ||
	    parse_unsigned(at + 1, INT64_MAX, &created_s) < 0)
		return false;
	*ret_cookie = n;
	*ret_created_s = (int64_t)created_s;
	return true;
}

/* What a sum of a thing is added to. */
static const char *key_of(ReportBy by, const LedgerThing *t)
{
	switch (by) {
	case BY_POOL: return t->pool;
	case BY_GROUP: return t->group;
	case BY_DEVICE:
	case BY_CGROUP:
	case BY_CLAIM: return t->id;
	default: return "";
	}
}

static const char *name_of(ReportBy by, const LedgerThing *t)
{
	switch (by) {
	case BY_POOL: return *t->pool ? t->pool : "(no pool)";
	case BY_GROUP: return *t->group ? t->group : "(no group)";
	default: return t->name;
	}
}

static int fill_row(const Reading *r, ReportRow *row, const LedgerThing *t)
{
	char name[32] = "node";

	if (report_by_time(r->by))
		report_step_name(name, sizeof(name), row->time_s, &r->piece);
	row->key = strdup(t ? key_of(r->by, t) : name);
	row->name = printable_copy(t ? name_of(r->by, t) : name);
	row->detail = printable_copy(t && r->by == BY_DEVICE ? t->model : "");
	row->source = printable_copy(t && r->by == BY_CLAIM ? t->model : "");
	row->scope = printable_copy(t && r->by == BY_CLAIM ? t->group : "");
	return row->key && row->name && row->detail && row->source && row->scope ? 0 : -ENOMEM;
}

static int take(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	const Reading *r = userdata;
	ReportRow *row = ARRAY_GROW(r->rows->all, r->rows->n);

	if (!row)
		return -ENOMEM;
	row->time_s = time_s;
	row->things = 1;
	row->sum = *sum;
	return fill_row(r, row, thing);
}

static int compare_keys(const void *a, const void *b)
{
	const ReportRow *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static bool same_name(const ReportRow *a, const ReportRow *b)
{
	return streq(a->name, b->name);
}

/* A device that was renamed is called by the name under which it used most. */
static void merge_into(ReportRow *to, ReportRow *row)
{
	const bool renamed =
		!same_name(to, row) && row->sum.of[AMOUNT_ENERGY_UJ] > to->sum.of[AMOUNT_ENERGY_UJ];

	amounts_add(&to->sum, &row->sum);
	to->things += row->things;
	if (renamed) {
		free(to->name);
		to->name = TAKE_PTR(row->name);
	}
	row_clear(row);
}

static void merge(ReportRows *rows, bool one_thing)
{
	size_t n = 0;

	if (rows->n)
		qsort(rows->all, rows->n, sizeof(*rows->all), compare_keys);
	for (size_t i = 0; i < rows->n; i++) {
		if (n && streq(rows->all[n - 1].key, rows->all[i].key))
			merge_into(&rows->all[n - 1], &rows->all[i]);
		else
			rows->all[n++] = rows->all[i];
	}
	rows->n = n;
	for (size_t i = 0; i < n && one_thing; i++)
		rows->all[i].things = 1;
}

static int compare_energy(const void *a, const void *b)
{
	const ReportRow *x = a, *y = b;
	const int64_t left = x->sum.of[AMOUNT_ENERGY_UJ], right = y->sum.of[AMOUNT_ENERGY_UJ];

	return left > right ? -1 : left < right ? 1 : strcmp(x->key, y->key);
}

static int compare_times(const void *a, const void *b)
{
	const ReportRow *x = a, *y = b;

	return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

static void sort(ReportRows *rows, bool by_time)
{
	if (rows->n)
		qsort(rows->all, rows->n, sizeof(*rows->all),
		      by_time ? compare_times : compare_energy);
}

static int read_steps(Ledger *l, const Report *r, Reading *reading, unsigned step_s,
		      unsigned *ret_step_s)
{
	int status = 0;

	*ret_step_s = step_s;
	for (int64_t at = r->since_s; at < r->until_s && status >= 0; at = reading->piece.until_s) {
		reading->piece = report_piece(at, r->until_s, r->now_s, step_s);
		*ret_step_s = MAX(*ret_step_s, reading->piece.step_s);
		status = ledger_read(l,
				     &(LedgerQuery){ .kind = THING_NODE,
						     .since_s = at,
						     .until_s = reading->piece.until_s,
						     .step_s = reading->piece.step_s,
						     .offset_s = reading->piece.offset_s },
				     take, reading);
	}
	return status;
}

static ThingKind kind_of(ReportBy by)
{
	return by == BY_NODE     ? THING_NODE
	       : by == BY_CGROUP ? THING_CGROUP
	       : by == BY_CLAIM  ? THING_CLAIM
				 : THING_DEVICE;
}

int report_read_rows(Ledger *l, const Report *r, ReportBy by, ReportRows *ret)
{
	ReportRows rows = {};
	Reading reading = { .by = by, .rows = &rows };
	unsigned step_s;
	int status;

	if (report_by_time(by))
		status = read_steps(l, r, &reading, by == BY_DAY ? DAY_S : HOUR_S, &step_s);
	else
		status = ledger_read(l,
				     &(LedgerQuery){ .kind = kind_of(by),
						     .since_s = r->since_s,
						     .until_s = r->until_s,
						     .by_thing = true },
				     take, &reading);
	if (status < 0) {
		report_rows_clear(&rows);
		return status;
	}
	/* the highest draw of a thing is known, wherever it was meanwhile */
	merge(&rows, by != BY_POOL && by != BY_GROUP);
	sort(&rows, report_by_time(by));
	*ret = rows;
	return 0;
}

int report_read_series(Ledger *l, const Report *r, unsigned step_s, ReportRows *ret,
		       unsigned *ret_step_s)
{
	ReportRows rows = {};
	Reading reading = { .by = BY_HOUR, .rows = &rows };
	int status = read_steps(l, r, &reading, step_s, ret_step_s);

	if (status < 0) {
		report_rows_clear(&rows);
		return status;
	}
	sort(&rows, true);
	*ret = rows;
	return 0;
}

static int take_total(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	(void)thing;
	(void)time_s;
	amounts_add(userdata, sum);
	return 0;
}

int report_read_total(Ledger *l, Report *r)
{
	return ledger_read(
		l,
		&(LedgerQuery){ .kind = THING_NODE, .since_s = r->since_s, .until_s = r->until_s },
		take_total, &r->total);
}

static double span_of(const Amounts *a)
{
	return (double)a->of[AMOUNT_SPAN_US] / 1e6;
}

void report_row_figures(const Report *r, const ReportRow *row, ReportFigures *ret)
{
	ReportTerms terms = r->terms;

	if (!report_by_time(r->by) && r->by != BY_NODE)
		terms.usable_tb = NAN;
	report_figures(&row->sum, span_of(report_by_time(r->by) ? &row->sum : &r->total),
		       row->things > 1, &terms, ret);
}

void report_total_figures(const Report *r, ReportFigures *ret)
{
	report_figures(&r->total, span_of(&r->total), false, &r->terms, ret);
}
