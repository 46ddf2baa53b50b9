/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who used it: bars, idle and above idle apart. */

#include <math.h>

#include "ctl/report-page.h"

#define BARS_SHOWN 12

static double joules(const ReportRow *row)
{
	return (double)row->sum.of[AMOUNT_ENERGY_UJ] / 1e6;
}

static void part(FILE *f, const char *class, double share)
{
	if (share > 0)
		fprintf(f, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", class, 100 * share);
}

static void bar(FILE *f, const ReportPage *p, const ReportRow *row, double longest_j)
{
	const double idle_j = (double)row->sum.of[AMOUNT_IDLE_UJ] / 1e6;
	char energy[REPORT_TEXT], share[REPORT_TEXT];

	fputs("<div class=\"bar\"><div><span class=\"name\">", f);
	html_text(f, row->name);
	fputs("</span><span class=\"value\">", f);
	html_printf(f, "%s · %s", report_energy(energy, joules(row)),
		    report_percent(share, joules(row) / p->total.energy.joules));
	fputs("</span></div><span class=\"track\">", f);
	part(f, "k-idle", fmin(idle_j, joules(row)) / longest_j);
	part(f, "k-busy", fmax(0, joules(row) - idle_j) / longest_j);
	fputs("</span></div>\n", f);
}

static void rest(FILE *f, const ReportPage *p, const ReportRows *rows, double longest_j)
{
	ReportRow sum = {};
	char name[40];

	for (size_t i = BARS_SHOWN; i < rows->n; i++)
		amounts_add(&sum.sum, &rows->all[i].sum);
	snprintf(name, sizeof(name), "%zu more", rows->n - BARS_SHOWN);
	sum.name = name;
	bar(f, p, &sum, fmax(longest_j, joules(&sum)));
}

static void bars(FILE *f, const ReportPage *p, const char *heading, const ReportRows *rows)
{
	const double longest_j = rows->n ? fmax(joules(&rows->all[0]), 1e-9) : 1;

	if (!rows->n)
		return;
	fprintf(f, "<div><h3>%s</h3>\n", heading);
	for (size_t i = 0; i < MIN(rows->n, (size_t)BARS_SHOWN); i++)
		bar(f, p, &rows->all[i], longest_j);
	if (rows->n > BARS_SHOWN)
		rest(f, p, rows, longest_j);
	fputs("</div>\n", f);
}

void page_users(FILE *f, const ReportPage *p)
{
	fputs("<section>\n<h2>Who used it</h2>\n<ul class=\"legend\">"
	      "<li><i class=\"k-idle\"></i>idle</li><li><i class=\"k-busy\"></i>above idle</li>"
	      "</ul>\n<div class=\"users\">\n",
	      f);
	bars(f, p, "By cgroup", &p->cgroups);
	bars(f, p, "By device", &p->devices);
	if (p->pools.n > 1)
		bars(f, p, "By pool", &p->pools);
	if (p->groups.n > 1)
		bars(f, p, "By group", &p->groups);
	fputs("</div>\n</section>\n", f);
}
