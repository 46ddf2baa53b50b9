/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of a report for people: who used it, or when it was used. */

#include <math.h>
#include <string.h>

#include "ctl/report.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define ROWS_SHOWN 24 /* but for -o wide, or times */
#define NAME_SHOWN 30

/* A long name without its middle: the end of a cgroup's path tells most. */
static const char *short_name(char buf[128], const Ctl *c, const char *name)
{
	const size_t n = strlen(name);
	size_t tail = n - MIN(n, (size_t)NAME_SHOWN - 12);

	if (c->wide || text_width(name) <= NAME_SHOWN)
		return name;
	while ((name[tail] & 0xc0) == 0x80)
		tail++;
	snprintf(buf, 128, "%.*s%s%s", (int)text_break(name, 8), name, words_ellipsis(),
		 name + tail);
	return buf;
}

/* The figures of one table have one unit each: that of the whole. */
typedef struct TableUnits {
	const char *energy, *co2; /* headers */
	double joules, kg;
	int cents; /* digits of money */
} TableUnits;

static TableUnits units_of(const ReportFigures *total)
{
	const double j = total->energy.joules, cost = total->money.cost;
	TableUnits u = { ">KWH", ">KG CO2E", 3.6e6, 1, 2 };

	if (j < 3.6e7) {
		u.energy = j < 3.6e4 ? ">J" : ">WH";
		u.joules = j < 3.6e4 ? 1 : 3.6e3;
	}
	if (total->carbon.kg < 10) {
		u.co2 = ">G CO2E";
		u.kg = 1e-3;
	}
	if (cost > 0 && cost < 10)
		u.cents = MIN(2 - (int)floor(log10(cost)), 6) + 1;
	return u;
}

/* "" for what is not known: a column of these is left out. */
static const char *figure(char buf[REPORT_TEXT], double v)
{
	return isnan(v) ? "" : format_number(buf, REPORT_TEXT, v);
}

static const char *money(char buf[REPORT_TEXT], double v, const TableUnits *u)
{
	if (isnan(v))
		return "";
	snprintf(buf, REPORT_TEXT, "%.*f", u->cents, v);
	return buf;
}

static void add_thing(Table *t, const char *name, const char *model, const ReportFigures *f,
		      const ReportFigures *total, const TableUnits *u)
{
	char sum[REPORT_TEXT], share[REPORT_TEXT], idle[REPORT_TEXT], mean[REPORT_TEXT],
		highest[REPORT_TEXT], mib[REPORT_TEXT], io[REPORT_TEXT], cost[REPORT_TEXT],
		kg[REPORT_TEXT];

	table_row(t, name, model, figure(sum, f->energy.joules / u->joules),
		  report_percent(share, f->energy.joules / total->energy.joules),
		  figure(idle, f->energy.idle_j / u->joules), figure(mean, f->energy.mean_w),
		  figure(highest, f->energy.highest_w), figure(mib, f->work.mib_j),
		  figure(io, f->work.io_j), money(cost, f->money.cost, u),
		  figure(kg, f->carbon.kg / u->kg));
}

static void add_rest(Table *t, const Report *r, size_t from, const ReportFigures *total,
		     const TableUnits *u)
{
	ReportRow rest = { .things = 2 };
	ReportFigures f;
	char name[32];

	for (size_t i = from; i < r->rows.n; i++)
		amounts_add(&rest.sum, &r->rows.all[i].sum);
	report_row_figures(r, &rest, &f);
	snprintf(name, sizeof(name), "(%zu more)", r->rows.n - from);
	add_thing(t, name, "", &f, total, u);
}

static void print_things(const Ctl *c, const Report *r, const ReportFigures *total)
{
	const TableUnits u = units_of(total);
	const char *const headers[] = { "DEVICE", "POOL", "GROUP", "CGROUP", "NODE" };
	const char *const columns[] = { headers[r->by], "MODEL",   u.energy,  ">SHARE",
					">IDLE",        ">MEAN W", ">MOST W", ">MIB/J",
					">IO/J",        ">COST",   u.co2,     NULL };
	const size_t shown = c->wide || r->rows.n <= ROWS_SHOWN ? r->rows.n : ROWS_SHOWN - 1;
	_cleanup_(table_freep) Table *t = table_new(columns);
	char buf[128];

	for (size_t i = 0; i < shown; i++) {
		const ReportRow *row = &r->rows.all[i];
		ReportFigures f;

		report_row_figures(r, row, &f);
		add_thing(t, short_name(buf, c, row->name), row->detail, &f, total, &u);
	}
	if (shown < r->rows.n)
		add_rest(t, r, shown, total, &u);
	if (r->by != BY_NODE)
		add_thing(t, "total", "", total, total, &u);
	table_may_drop(t, c, "1 6 9 10 7 8 4");
	table_print(t, c);
}

static void add_time(Table *t, const char *name, const ReportFigures *f, const TableUnits *u)
{
	char sum[REPORT_TEXT], mean[REPORT_TEXT], highest[REPORT_TEXT], budget[REPORT_TEXT],
		above[REPORT_TEXT], lost[REPORT_TEXT], mib[REPORT_TEXT], io[REPORT_TEXT],
		cost[REPORT_TEXT], kg[REPORT_TEXT];

	table_row(t, name, figure(sum, f->energy.joules / u->joules),
		  figure(mean, f->energy.mean_w), figure(highest, f->energy.highest_w),
		  figure(budget, f->limit.budget_w),
		  f->limit.limited_s > 0 ? report_span(above, f->limit.above_s) : "",
		  f->limit.limited_s > 0 ? report_percent(lost, f->limit.lost) : "",
		  figure(mib, f->work.mib_j), figure(io, f->work.io_j),
		  money(cost, f->money.cost, u), figure(kg, f->carbon.kg / u->kg));
}

static void print_times(const Ctl *c, const Report *r, const ReportFigures *total)
{
	const TableUnits u = units_of(total);
	const char *const columns[] = { r->by == BY_DAY ? "DAY" : "HOUR",
					u.energy,
					">MEAN W",
					">MOST W",
					">BUDGET W",
					">ABOVE",
					">LOST",
					">MIB/J",
					">IO/J",
					">COST",
					u.co2,
					NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < r->rows.n; i++) {
		ReportFigures f;

		report_row_figures(r, &r->rows.all[i], &f);
		add_time(t, r->rows.all[i].name, &f, &u);
	}
	add_time(t, "total", total, &u);
	table_may_drop(t, c, "7 8 3 9 10 6 5 4");
	table_print(t, c);
}

void report_print_rows(const Ctl *c, const Report *r, const ReportFigures *total)
{
	if (report_by_time(r->by))
		print_times(c, r, total);
	else
		print_things(c, r, total);
}
