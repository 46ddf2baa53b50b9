/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was held back, and what that saved. */

#include <math.h>

#include "ctl/report-claim.h"
#include "ctl/report-page.h"

static void cell(FILE *f, const char *what, const char *text)
{
	fprintf(f, "<td data-k=\"%s\">", what);
	html_text(f, text);
	fputs("</td>", f);
}

static void claim_row(FILE *f, const ReportRow *row)
{
	const ClaimRecord record = { .sum = row->sum };
	uint64_t cookie = 0;
	int64_t created_s;
	ClaimFigures c;
	char text[REPORT_TEXT];

	claim_record_figures(&record, &c);
	(void)report_claim_key(row->key, &cookie, &created_s);
	fputs("<tr><td>", f);
	html_text(f, *row->name ? row->name : "no reason given");
	fputs("<br><span class=\"quiet\">", f);
	html_printf(f, "claim %llu on the %s, by %s", (unsigned long long)cookie,
		    *row->scope ? row->scope : "node", row->source);
	fputs("</span></td>", f);
	cell(f, "In force", report_span(text, c.limited_s));
	cell(f, "Budget", report_watts(text, c.budget_w));
	cell(f, "Baseline", report_watts(text, c.baseline_w));
	cell(f, "Delivered", report_watts(text, c.delivered_w));
	cell(f, "Not drawn", report_energy(text, c.not_drawn_j));
	cell(f, "Kept", report_percent(text, c.compliance));
	cell(f, "Throughput lost", report_percent(text, c.lost));
	fputs("</tr>\n", f);
}

static void claims_table(FILE *f, const ReportPage *p)
{
	fputs("<div class=\"scroll\"><table class=\"stack\">\n<thead><tr><th>Limit</th>"
	      "<th>In force</th><th>Budget</th><th>Baseline</th><th>Delivered</th>"
	      "<th>Not drawn</th><th>Kept</th><th>Throughput lost</th></tr></thead>\n<tbody>\n",
	      f);
	for (size_t i = 0; i < p->report->claims.n; i++)
		claim_row(f, &p->report->claims.all[i]);
	fputs("</tbody></table></div>\n", f);
}

void page_limits(FILE *f, const ReportPage *p)
{
	const ReportLimit *l = &p->total.limit;
	char lost[REPORT_TEXT], share[REPORT_TEXT], limited[REPORT_TEXT], budget[REPORT_TEXT];

	fputs("<section>\n<h2>What was held back</h2>\n<p>", f);
	if (!(l->limited_s > 0)) {
		fputs("No limit was in force: nothing was held back.</p>\n</section>\n", f);
		return;
	}
	html_printf(f,
		    "A limit was in force for %s, %s on the mean. It cost %s of IO, %s of what "
		    "would have been moved in all this time.",
		    report_span(limited, l->limited_s), report_watts(budget, l->budget_w),
		    report_moved(lost, l->lost_bytes), report_percent(share, l->lost));
	fputs("</p>\n", f);
	if (p->report->claims.n)
		claims_table(f, p);
	fputs("</section>\n", f);
}

static void saved_bar(FILE *f, const char *name, double joules, double saved_j, double longest_j)
{
	char energy[REPORT_TEXT], saved[REPORT_TEXT], share[REPORT_TEXT];

	fputs("<div class=\"bar\"><div><span class=\"name\">", f);
	html_text(f, name);
	fputs("</span><span class=\"value\">", f);
	if (isnan(saved_j))
		html_printf(f, "%s", report_energy(energy, joules));
	else
		html_printf(f, "%s · saved %s, %s", report_energy(energy, joules),
			    report_energy(saved, saved_j), report_percent(share, saved_j / joules));
	fprintf(f,
		"</span></div><span class=\"track\"><i class=\"%s\" style=\"width:%.2f%%\"></i>"
		"</span></div>\n",
		isnan(saved_j) ? "k-busy" : "k-idle", 100 * joules / longest_j);
}

void page_saved(FILE *f, const ReportPage *p)
{
	const ReportLimit *l = &p->total.limit;
	const double j = p->total.energy.joules;
	const double longest_j = fmax(j, fmax(l->unlimited_j, l->turning_j));

	if (isnan(l->unlimited_j) && isnan(l->turning_j))
		return;
	fputs("<section>\n<h2>What was saved</h2>\n", f);
	saved_bar(f, "As it was", j, NAN, longest_j);
	if (!isnan(l->unlimited_j))
		saved_bar(f, "Without a budget", l->unlimited_j, l->saved_j, longest_j);
	if (!isnan(l->turning_j))
		saved_bar(f, "With disks that always turn", l->turning_j, l->sleep_saved_j,
			  longest_j);
	fputs("</section>\n", f);
}
