/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the page of a report is made of. */

#include "ctl/report.h"

/* All that the page shows. */
typedef struct ReportPage {
	const Report *report;
	ReportFigures total;
	ReportRows series, devices, pools, groups, cgroups;
	unsigned step_s; /* of the series */
} ReportPage;

extern const char report_style[]; /* report-style.c: its style sheet */

/* report-escape.c: as the text of an element or of an attribute, in which a line does not break
 * before a "%". */
void html_text(FILE *f, const char *text);
/* A printf() whose whole result is text. */
void html_printf(FILE *f, const char *format, ...) _printf_(2, 3);

/* report-page.c, report-page-use.c, report-page-limit.c: one section each. */
void page_head(FILE *f, const ReportPage *p);
void page_cards(FILE *f, const ReportPage *p);
void page_power(FILE *f, const ReportPage *p);
void page_users(FILE *f, const ReportPage *p);
void page_limits(FILE *f, const ReportPage *p);
void page_saved(FILE *f, const ReportPage *p);
void page_costs(FILE *f, const ReportPage *p);
void page_foot(FILE *f, const ReportPage *p);
