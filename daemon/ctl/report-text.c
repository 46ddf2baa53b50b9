/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A report for people: what the node used; who did is in report-table.c. */

#include <math.h>
#include <string.h>

#include "ctl/report.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define TEXT_SIZE 512

static void print_energy(const Ctl *c, const Report *r, const ReportFigures *f)
{
	const ReportEnergy *e = &f->energy;
	char range[80], span[REPORT_TEXT], joules[REPORT_TEXT], sum[REPORT_TEXT],
		error[REPORT_TEXT], share[REPORT_TEXT], idle[REPORT_TEXT], above[REPORT_TEXT],
		mean[REPORT_TEXT], highest[REPORT_TEXT];

	report_range(range, sizeof(range), r);
	if (report_is_whole(r, f))
		report_line(c, "Time", "%s", range);
	else
		report_line(c, "Time", "%s; counted were %s of it", range,
			    report_span(span, f->span_s));
	report_line(c, "Energy", "%s (%s %s %s), %s of it measured", report_energy(sum, e->joules),
		    report_joules(joules, e->joules), words_plus_minus(),
		    report_percent(error, e->error_j / e->joules),
		    report_percent(share, e->measured));
	report_line(c, "", "%s idle, %s above idle", report_energy(idle, e->idle_j),
		    report_energy(above, e->above_j));
	report_line(c, "Power", "%s on the mean, %s at most in a second",
		    report_watts(mean, e->mean_w), report_watts(highest, e->highest_w));
}

static void print_work(const Ctl *c, const Report *r, const ReportFigures *f)
{
	const ReportWork *w = &f->work;
	char read[REPORT_TEXT], written[REPORT_TEXT], ios[REPORT_TEXT], mib[REPORT_TEXT],
		io[REPORT_TEXT], request[REPORT_TEXT];

	if (!(w->ios > 0)) {
		report_line(c, "Work", "none: no IO was counted");
		return;
	}
	report_line(c, "Work", "%s read, %s written, %s IOs", report_moved(read, w->read_bytes),
		    report_moved(written, w->written_bytes), report_count(ios, w->ios));
	report_line(c, "Per joule", "%s MiB, %s IOs; %s a request%s",
		    format_number(mib, sizeof(mib), w->mib_j),
		    format_number(io, sizeof(io), w->io_j), report_energy(request, w->request_j),
		    report_counts_requests(&r->total) ? "" : ", each IO taken as one");
}

static void print_money(const Ctl *c, const Report *r, const ReportFigures *f)
{
	const ReportMoney *m = &f->money;
	char cost[REPORT_TEXT], year[REPORT_TEXT], price[32];

	if (isnan(m->cost)) {
		report_line(c, "Cost", "not known: no price was; --price=0.18 takes one a kWh");
		return;
	}
	report_line(c, "Cost", "%s at %s a kWh%s; %s a year at this mean draw",
		    report_money(cost, m->cost, r->currency),
		    format_number(price, sizeof(price), m->price_kwh),
		    isnan(r->terms.price_kwh) ? ", as it was at the time" : "",
		    report_money(year, m->year, r->currency));
}

static void print_carbon(const Ctl *c, const Report *r, const ReportFigures *f)
{
	const ReportCarbon *k = &f->carbon;
	char kg[REPORT_TEXT], year[REPORT_TEXT], pb[REPORT_TEXT], io[REPORT_TEXT];

	if (isnan(k->kg)) {
		report_line(c, "CO2e",
			    "not known: no carbon intensity was; --intensity=381 takes one "
			    "in g a kWh");
		return;
	}
	report_line(c, "CO2e", "%s at %.0f g a kWh%s; %s a year at this mean draw",
		    report_kg(kg, k->kg), k->g_kwh,
		    !isnan(r->terms.g_kwh) ? ""
		    : k->marginal > 0.999  ? ", marginal, as it was at the time"
		    : k->marginal > 0.001  ? ", partly marginal, as it was at the time"
					   : ", average, as it was at the time",
		    report_kg(year, k->year_kg));
	if (!isnan(k->kg_pb))
		report_line(c, "", "%s a PB moved, %s for 10^9 IOs", report_kg(pb, k->kg_pb),
			    report_kg(io, k->kg_giga_io));
}

static void print_capacity(const Ctl *c, const ReportFigures *f)
{
	const ReportCapacity *u = &f->capacity;
	char tb[32], kw[32], above[32], iops[32], t[32];

	if (isnan(u->usable_tb))
		return;
	report_line(c, "Capacity", "%s TB usable: %s kW a PB; %s W above idle a TB for %s IO/s",
		    format_number(tb, sizeof(tb), u->usable_tb),
		    format_number(kw, sizeof(kw), u->kw_pb),
		    format_number(above, sizeof(above), u->above_w_tb),
		    format_number(iops, sizeof(iops), u->iops_tb));
	if (!isnan(u->year_t_pb))
		report_line(c, "", "%s t of CO2e a PB and year",
			    format_number(t, sizeof(t), u->year_t_pb));
}

static void print_limiting_claims(const Ctl *c, const Report *r)
{
	char text[TEXT_SIZE] = "";
	size_t n = 0;
	uint64_t cookie;
	int64_t created_s;

	for (size_t i = 0; i < r->claims.n && n + 96 < sizeof(text); i++)
		if (report_claim_key(r->claims.all[i].key, &cookie, &created_s))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu (%.60s)",
					      n ? ", " : "", (unsigned long long)cookie,
					      *r->claims.all[i].name ? r->claims.all[i].name
								     : "no reason given");
	if (n)
		report_line(c, "Claims", "%s; see report --claim=N", text);
}

static void print_limit(const Ctl *c, const ReportFigures *f)
{
	const ReportLimit *l = &f->limit;
	char limited[REPORT_TEXT], budget[REPORT_TEXT], above[REPORT_TEXT], lost[REPORT_TEXT],
		share[REPORT_TEXT], missing[REPORT_TEXT];

	if (!(l->limited_s > 0)) {
		report_line(c, "Budget", "none was in force");
		return;
	}
	report_line(c, "Budget", "in force for %s, %s on the mean; exceeded for %s",
		    report_span(limited, l->limited_s), report_watts(budget, l->budget_w),
		    report_span(above, l->above_s));
	if (l->shortfall_j > 0)
		report_line(c, "",
			    "below what the devices can be brought down to, by %s on the mean",
			    report_watts(missing, l->shortfall_j / l->limited_s));
	report_line(c, "Lost", "%s to the limit, %s of what would have been moved",
		    report_moved(lost, l->lost_bytes), report_percent(share, l->lost));
}

/* "1.23 kWh (4.5 %)", or "nothing". */
static const char *saved_text(char *buf, size_t size, double saved_j, double of_j)
{
	char energy[REPORT_TEXT], share[REPORT_TEXT];

	if (saved_j == 0)
		return "nothing";
	snprintf(buf, size, "%s (%s)", report_energy(energy, saved_j),
		 report_percent(share, saved_j / of_j));
	return buf;
}

static void print_saved(const Ctl *c, const ReportFigures *f)
{
	const ReportLimit *l = &f->limit;
	char budget[2 * REPORT_TEXT], sleep[2 * REPORT_TEXT];

	if (!isnan(l->saved_j) && l->limited_s > 0)
		report_line(c, "Saved", "%s against no budget",
			    saved_text(budget, sizeof(budget), l->saved_j, l->unlimited_j));
	if (!isnan(l->sleep_saved_j))
		report_line(c, l->limited_s > 0 ? "" : "Saved", "%s against disks that always turn",
			    saved_text(sleep, sizeof(sleep), l->sleep_saved_j, l->turning_j));
}

static void print_remarks(const Ctl *c, const Report *r, const ReportFigures *f)
{
	char text[TEXT_SIZE];

	putchar('\n');
	for (size_t i = 0; report_remark(text, sizeof(text), r, f, i); i++)
		if (*text)
			print_wrapped("", 0, text, c->width);
}

int report_print(const Ctl *c, const Report *r)
{
	ReportFigures f;

	report_total_figures(r, &f);
	pager_open(c);
	print_energy(c, r, &f);
	print_work(c, r, &f);
	print_money(c, r, &f);
	print_carbon(c, r, &f);
	print_capacity(c, &f);
	print_limit(c, &f);
	print_limiting_claims(c, r);
	print_saved(c, &f);
	putchar('\n');
	report_print_rows(c, r, &f);
	print_remarks(c, r, &f);
	return STATUS_OK;
}
