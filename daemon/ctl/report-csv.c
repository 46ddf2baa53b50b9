/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl report --csv, after RFC 4180: a line for each row, without a total, which whoever
 * adds up a column would count twice. */

#include <math.h>
#include <string.h>

#include "ctl/report.h"

void csv_text(FILE *f, const char *text)
{
	if (!strpbrk(text, "\",\r\n")) {
		fputs(text, f);
		return;
	}
	putc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
	putc('"', f);
}

void csv_number(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, "%.10g", v);
}

static void print_line(const Report *r, const ReportRow *row)
{
	const bool of_node = report_by_time(r->by) || r->by == BY_NODE;
	ReportFigures f;

	report_row_figures(r, row, &f);
	csv_text(stdout, row->name);
	putchar(',');
	csv_text(stdout, row->detail);
	for (const ReportField *field = report_fields; field->csv; field++) {
		putchar(',');
		if (of_node || !field->of_node)
			csv_number(stdout, report_field(field, &f));
	}
	fputs("\r\n", stdout);
}

int report_csv(const Report *r)
{
	printf("%s,model", report_by_name(r->by));
	for (const ReportField *field = report_fields; field->csv; field++)
		printf(",%s", field->csv);
	fputs("\r\n", stdout);
	for (size_t i = 0; i < r->rows.n; i++)
		print_line(r, &r->rows.all[i]);
	return STATUS_OK;
}
