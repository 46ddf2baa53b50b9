/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables of storpowerctl efficiency. */

#include <math.h>

#include "ctl/ctl-efficiency.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define TEXT_SIZE 32

/* "" for what is not known: a column of these is left out. */
static const char *figure(char buf[TEXT_SIZE], double v)
{
	return isnan(v) ? "" : format_number(buf, TEXT_SIZE, v);
}

static bool is_estimated(const EfficiencyRow *row, IoSize size)
{
	bool estimated = false;

	for (IoKind k = 0; k < _IO_KIND_MAX; k++)
		estimated |= row->at[size][k].estimated;
	return estimated;
}

static double per_joule(const EfficiencyRow *row, IoSize size, IoKind kind)
{
	const Efficiency *e = &row->at[size][kind];

	return size == LARGE_IO ? e->mb_j : e->io_j;
}

/* "11.0/9.7/10.2": reading, writing and both at once */
static const char *watts_text(char *buf, size_t length, const EfficiencyRow *row, IoSize size)
{
	const Efficiency *at = row->at[size];

	snprintf(buf, length, "%.1f/%.1f/%.1f", at[IO_READ].watts, at[IO_WRITE].watts,
		 at[IO_MIXED].watts);
	return buf;
}

static void print_size(const Ctl *c, EfficiencyReport *r, IoSize size)
{
	static const char *const columns[] = { "PROFILE", ">R+W",     ">READ", ">WRITE",
					       ">MIXED",  ">W R/W/M", " ",     NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	efficiency_sort(r, size);
	for (size_t i = 0; i < r->n; i++) {
		const EfficiencyRow *row = &r->rows[i];
		char both[TEXT_SIZE], text[_IO_KIND_MAX][TEXT_SIZE], watts[3 * TEXT_SIZE];

		for (IoKind k = 0; k < _IO_KIND_MAX; k++)
			figure(text[k], per_joule(row, size, k));
		table_row(t, row->profile->name, figure(both, row->both[size]), text[IO_READ],
			  text[IO_WRITE], text[IO_MIXED],
			  watts_text(watts, sizeof(watts), row, size),
			  model_mark(is_estimated(row, size)));
	}
	table_may_drop(t, c, "5");
	table_print(t, c);
}

static void print_workload(const Ctl *c, EfficiencyReport *r)
{
	static const char *const columns[] = { "PROFILE", ">MB/J",  ">IO/J",      ">WATTS", ">MB/S",
					       ">IOPS",   ">KG/PB", ">KG/1E9 IO", " ",      NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	efficiency_sort(r, LARGE_IO);
	for (size_t i = 0; i < r->n; i++) {
		const Efficiency *e = &r->rows[i].asked;
		char mb_j[TEXT_SIZE], io_j[TEXT_SIZE], watts[TEXT_SIZE], mb_s[TEXT_SIZE],
			iops[TEXT_SIZE], kg_pb[TEXT_SIZE], kg_io[TEXT_SIZE];

		table_row(t, r->rows[i].profile->name, figure(mb_j, e->mb_j), figure(io_j, e->io_j),
			  figure(watts, e->watts), figure(mb_s, e->mb_s), figure(iops, e->iops),
			  figure(kg_pb, efficiency_kg_per_pb(e->mb_s, e->watts, r->g_kwh)),
			  figure(kg_io, efficiency_kg_per_giga_io(e->iops, e->watts, r->g_kwh)),
			  model_mark(e->estimated));
	}
	table_may_drop(t, c, "4 5 7 6");
	table_print(t, c);
}

/* Money is told to the cent. */
static const char *cost_text(char buf[TEXT_SIZE], double cost)
{
	if (isnan(cost))
		return "";
	snprintf(buf, TEXT_SIZE, "%.2f", cost);
	return buf;
}

static void print_year(const Ctl *c, const EfficiencyReport *r, bool full)
{
	const char *const columns[] = { full ? "A YEAR AT FULL LOAD" : "A YEAR IDLE",
					">WATTS",
					">COST",
					">KG CO2E",
					">KW/PB",
					">T CO2E/PB",
					NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < r->n; i++) {
		const double w = full ? r->rows[i].full_w : r->rows[i].profile->idle_w;
		char watts[TEXT_SIZE], cost[TEXT_SIZE], kg[TEXT_SIZE], kw_pb[TEXT_SIZE],
			t_pb[TEXT_SIZE];

		table_row(t, r->rows[i].profile->name, figure(watts, w),
			  cost_text(cost, efficiency_year_cost(w, r->price_kwh)),
			  figure(kg, efficiency_year_kg(w, r->g_kwh)),
			  figure(kw_pb, efficiency_per_joule(w, r->usable_tb)),
			  figure(t_pb, efficiency_year_t_per_pb(w, r->usable_tb, r->g_kwh)));
	}
	table_may_drop(t, c, "2 3 4 5");
	putchar('\n');
	table_print(t, c);
}

static void print_years(const Ctl *c, const EfficiencyReport *r)
{
	char usable[TEXT_SIZE];

	if (isnan(r->price_kwh) && isnan(r->g_kwh) && isnan(r->usable_tb))
		return;
	if (!isnan(r->usable_tb))
		printf("\nOf each device %s TB are usable, and PB are usable ones.\n",
		       figure(usable, r->usable_tb));
	print_year(c, r, false);
	print_year(c, r, true);
}

static void print_mixes(const Ctl *c, EfficiencyReport *r)
{
	puts("MB/J of sequential IO of 256 KiB, 64 outstanding\n");
	print_size(c, r, LARGE_IO);
	puts("\nIO/J of random IO of 4 KiB, 64 outstanding\n");
	print_size(c, r, SMALL_IO);
	putchar('\n');
	print_wrapped("", 0,
		      "R+W is reads and writes in turn, which the order is by, and MIXED half of "
		      "each at once. est.: the profile's points are estimates, or the mix was not "
		      "measured.",
		      c->width);
}

void efficiency_print(const Ctl *c, EfficiencyReport *r)
{
	char workload[256];

	pager_open(c);
	if (r->workload) {
		print_wrapped("Workload  ", 10,
			      model_workload_text(workload, sizeof(workload), &r->mix), c->width);
		putchar('\n');
		print_workload(c, r);
	} else {
		print_mixes(c, r);
	}
	print_years(c, r);
}
