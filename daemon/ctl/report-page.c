/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The page of a report: its head, the headline figures, cost and carbon, and what is measured. */

#include "ctl/report-page.h"

#include <math.h>
#include <stdarg.h>
#include <unistd.h>

#include "ctl/report-svg.h"
#include "ctl/table.h"

#define SENTENCE 512

void page_head(FILE *f, const ReportPage *p)
{
	char host[256] = "", range[80], span[REPORT_TEXT];

	(void)gethostname(host, sizeof(host) - 1);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\">\n<title>Storage energy of ",
	      f);
	html_text(f, host);
	fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<header>\n<h1>",
		report_style);
	html_printf(f, "Storage energy of %s", host);
	fputs("</h1>\n<p class=\"quiet\">", f);
	html_text(f, report_range(range, sizeof(range), p->report));
	if (!report_is_whole(p->report, &p->total))
		html_printf(f, "; counted were %s of it", report_span(span, p->total.span_s));
	fputs(". Figures by storpower.", f);
	fputs("</p>\n</header>\n", f);
}

static void card(FILE *f, const char *what, const char *figure, const char *format, ...)
	_printf_(4, 5);
static void card(FILE *f, const char *what, const char *figure, const char *format, ...)
{
	char text[SENTENCE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fputs("<div class=\"card\"><h3>", f);
	html_text(f, what);
	fputs("</h3><b>", f);
	html_text(f, figure);
	fputs("</b><small>", f);
	html_text(f, text);
	fputs("</small></div>\n", f);
}

static void energy_cards(FILE *f, const ReportPage *p)
{
	const ReportEnergy *e = &p->total.energy;
	char sum[REPORT_TEXT], error[REPORT_TEXT], idle[REPORT_TEXT], mean[REPORT_TEXT],
		highest[REPORT_TEXT];

	card(f, "Energy", report_energy(sum, e->joules), "± %s; %s of it idle",
	     report_percent(error, e->error_j / e->joules),
	     report_percent(idle, e->idle_j / e->joules));
	card(f, "Power", report_watts(mean, e->mean_w), "on the mean; %s at most in a second",
	     report_watts(highest, e->highest_w));
}

static void money_cards(FILE *f, const ReportPage *p)
{
	const ReportMoney *m = &p->total.money;
	const ReportCarbon *k = &p->total.carbon;
	const char *currency = p->report->currency;
	char cost[REPORT_TEXT], year[REPORT_TEXT], kg[REPORT_TEXT], kg_year[REPORT_TEXT];

	if (isnan(m->cost))
		card(f, "Cost", "–", "no price was known");
	else
		card(f, "Cost", report_money(cost, m->cost, currency), "%s a year at this draw",
		     report_money(year, m->year, currency));
	if (isnan(k->kg))
		card(f, "Carbon", "–", "no carbon intensity was known");
	else
		card(f, "Carbon", report_kg(kg, k->kg), "of CO2e; %s a year at this draw",
		     report_kg(kg_year, k->year_kg));
}

static void limit_cards(FILE *f, const ReportPage *p)
{
	const ReportLimit *l = &p->total.limit;
	char saved[REPORT_TEXT], share[REPORT_TEXT], sleep[REPORT_TEXT], within[REPORT_TEXT],
		limited[REPORT_TEXT], above[REPORT_TEXT];

	if (!isnan(l->saved_j))
		card(f, "Saved", report_energy(saved, l->saved_j),
		     "against no budget, %s; %s by disks that slept",
		     report_percent(share, l->saved_j / l->unlimited_j),
		     isnan(l->sleep_saved_j) ? "nothing" : report_energy(sleep, l->sleep_saved_j));
	if (!(l->limited_s > 0))
		card(f, "Budget kept", "–", "no limit was in force");
	else
		card(f, "Budget kept", report_percent(within, 1 - l->above_s / l->limited_s),
		     "of the %s with a limit; above it for %s", report_span(limited, l->limited_s),
		     report_span(above, l->above_s));
}

void page_cards(FILE *f, const ReportPage *p)
{
	fputs("<section class=\"cards\" aria-label=\"Headline figures\">\n", f);
	energy_cards(f, p);
	money_cards(f, p);
	limit_cards(f, p);
	fputs("</section>\n", f);
}

void page_power(FILE *f, const ReportPage *p)
{
	const Report *r = p->report;
	PowerChart chart = { &p->series, r->since_s, r->until_s, p->step_s, 1040, 320, "wide" };
	char step[REPORT_TEXT];

	fputs("<section>\n<h2>Power against budget</h2>\n<ul class=\"legend\">"
	      "<li><i class=\"k-area\"></i>drawn, the mean of ",
	      f);
	html_text(f, report_span(step, p->step_s));
	fputs("</li><li><i class=\"k-peak\"></i>the highest second</li>", f);
	if (p->total.limit.limited_s > 0)
		fputs("<li><i class=\"k-budget\"></i>budget</li>", f);
	if (p->total.limit.above_s > 0)
		fputs("<li><i class=\"k-above\"></i>above the budget for a moment or more</li>", f);
	fputs("</ul>\n", f);
	svg_power(f, &chart);
	chart.width = 360;
	chart.height = 260;
	chart.class = "narrow";
	svg_power(f, &chart);
	fputs("</section>\n", f);
}

static void fact(FILE *f, const char *what, const char *figure)
{
	fputs("<div><dt>", f);
	html_text(f, what);
	fputs("</dt><dd>", f);
	html_text(f, figure);
	fputs("</dd></div>\n", f);
}

static void fact_number(FILE *f, const char *what, double v, const char *unit)
{
	char number[32], text[REPORT_TEXT + 32];

	if (isnan(v))
		return;
	snprintf(text, sizeof(text), "%s%s%s", format_number(number, sizeof(number), v),
		 *unit ? " " : "", unit);
	fact(f, what, text);
}

static void work_facts(FILE *f, const ReportPage *p)
{
	const ReportWork *w = &p->total.work;
	char text[REPORT_TEXT];

	fact(f, "Read", report_moved(text, w->read_bytes));
	fact(f, "Written", report_moved(text, w->written_bytes));
	fact(f, "IOs", report_count(text, w->ios));
	fact_number(f, "Data per joule", w->mib_j, "MiB/J");
	fact_number(f, "IOs per joule", w->io_j, "IO/J");
	if (!isnan(w->request_j))
		fact(f,
		     report_counts_requests(&p->report->total) ? "Energy per request"
							       : "Energy per request (IO)",
		     report_energy(text, w->request_j));
}

static const char *intensity_name(const ReportPage *p)
{
	const double marginal = p->total.carbon.marginal;

	if (isnan(marginal))
		return "Carbon intensity, as told";
	if (marginal > 0.001 && marginal < 0.999)
		return "Carbon intensity, in part marginal";
	return marginal > 0.5 ? "Carbon intensity, marginal" : "Carbon intensity, average";
}

static void carbon_facts(FILE *f, const ReportPage *p)
{
	const ReportCarbon *k = &p->total.carbon;
	const ReportCapacity *u = &p->total.capacity;
	char text[REPORT_TEXT];

	fact_number(f, "Price of a kWh", p->total.money.price_kwh, p->report->currency);
	fact_number(f, intensity_name(p), k->g_kwh, "g/kWh");
	if (!isnan(k->kg_pb))
		fact(f, "CO2e per PB moved", report_kg(text, k->kg_pb));
	if (!isnan(k->kg_giga_io))
		fact(f, "CO2e per 10⁹ IO", report_kg(text, k->kg_giga_io));
	fact_number(f, "Usable capacity", u->usable_tb, "TB");
	fact_number(f, "Power per usable PB", u->kw_pb, "kW/PB");
	fact_number(f, "Above idle per usable TB", u->above_w_tb, "W/TB");
	fact_number(f, "IOPS per usable TB", u->iops_tb, "IO/s/TB");
	fact_number(f, "CO2e per usable PB and year", u->year_t_pb, "t");
}

void page_costs(FILE *f, const ReportPage *p)
{
	fputs("<section>\n<h2>What it gave, and what it cost</h2>\n<dl>\n", f);
	work_facts(f, p);
	carbon_facts(f, p);
	fputs("</dl>\n</section>\n", f);
}

void page_foot(FILE *f, const ReportPage *p)
{
	char text[SENTENCE];

	fputs("<footer>\n<p><strong>What is measured, and what is modelled.</strong></p>\n", f);
	for (size_t i = 0; report_remark(text, sizeof(text), p->report, &p->total, i); i++) {
		if (!*text)
			continue;
		fputs("<p>", f);
		html_text(f, text);
		fputs("</p>\n", f);
	}
	fputs("</footer>\n</main>\n</body>\n</html>\n", f);
}
