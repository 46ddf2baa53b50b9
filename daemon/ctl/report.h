/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl report: what its files share. */

#include "ctl/ctl-carbon.h"
#include "ctl/report-figures.h"
#include "ctl/report-time.h"

typedef enum ReportBy {
	BY_DEVICE,
	BY_POOL,
	BY_GROUP,
	BY_CGROUP,
	BY_NODE,
	BY_DAY,
	BY_HOUR,
	_REPORT_BY_MAX,
	BY_CLAIM = _REPORT_BY_MAX, /* beside them all: its amounts are the node's once more */
} ReportBy;

const char *report_by_name(ReportBy by); /* "device" */
static inline bool report_by_time(ReportBy by)
{
	return by == BY_DAY || by == BY_HOUR;
}

/* What one device, pool, ... or hour used. All texts are printable. */
typedef struct ReportRow {
	char *key;    /* what it is sorted and merged by */
	char *name;   /* "2026-11-24 10:00" of a time */
	char *detail; /* model of a device; "" */
	char *source; /* of a claim */
	char *scope;  /* likewise */
	int64_t time_s;
	unsigned things; /* so many were added up */
	Amounts sum;
} ReportRow;

typedef struct ReportRows {
	ReportRow *all;
	size_t n;
} ReportRows;

typedef struct Report {
	int64_t since_s, until_s, now_s;
	ReportBy by;
	Amounts total; /* of the node */
	ReportRows rows, claims;
	ReportTerms terms;
	char *currency; /* "EUR"; "" */
	char *ledger;   /* its path */
} Report;

/* The figures of a row; a mean is one over all the time that was counted, so that means add up. */
void report_row_figures(const Report *r, const ReportRow *row, ReportFigures *ret);
/* Those of the node. */
void report_total_figures(const Report *r, ReportFigures *ret);

/* report-read.c. 0 or -errno; a failed reading leaves nothing behind. */
int report_read_total(Ledger *l, Report *r);
/* Sorted: what used most comes first, or by time. */
int report_read_rows(Ledger *l, const Report *r, ReportBy by, ReportRows *ret);
/* Of the node, in steps of so many seconds or, of what is older, more. *ret_step_s is the longest.
 */
int report_read_series(Ledger *l, const Report *r, unsigned step_s, ReportRows *ret,
		       unsigned *ret_step_s);
void report_rows_clear(ReportRows *rows);
/* Of a claim's key "COOKIE@EPOCH". */
bool report_claim_key(const char *key, uint64_t *ret_cookie, int64_t *ret_created_s);

/* ctl-report.c: of --ledger or of the daemon; malloc'd, NULL when out of memory. */
char *report_ledger_path(Ctl *c);
/* Complains that it cannot be read, and returns an exit status. r: -errno; why: in words, or "". */
int report_unreadable(const char *path, int r, const char *why);

/* report-fields.c: the figures as JSON and CSV name them. */
typedef struct ReportField {
	const char *json, *csv;
	size_t offset; /* of a double in ReportFigures */
	bool of_node;  /* rows of other things have none */
} ReportField;
extern const ReportField report_fields[];
double report_field(const ReportField *f, const ReportFigures *of);

/* report-words.c: "1.23 kWh", "820 g", "3.2 TB", "0.22 EUR"; "-" for NAN. */
#define REPORT_TEXT 48
char *report_energy(char buf[REPORT_TEXT], double joules);
/* "4.42 MJ" */
char *report_joules(char buf[REPORT_TEXT], double joules);
char *report_kg(char buf[REPORT_TEXT], double kg);
char *report_moved(char buf[REPORT_TEXT], double bytes);
char *report_money(char buf[REPORT_TEXT], double money, const char *currency);
char *report_count(char buf[REPORT_TEXT], double n);
char *report_span(char buf[REPORT_TEXT], double s);
char *report_percent(char buf[REPORT_TEXT], double share);
char *report_watts(char buf[REPORT_TEXT], double watts);
/* A line of a block, wrapped, behind its label. */
void report_line(const Ctl *c, const char *label, const char *format, ...) _printf_(3, 4);
/* "2026-11-23 00:00 to 2026-11-24 00:00" */
char *report_range(char *buf, size_t size, const Report *r);
/* Was all of the time counted? */
bool report_is_whole(const Report *r, const ReportFigures *f);
/* report-remarks.c: what the figures are, in whole sentences, one after another; false: there is no
 * such sentence. */
bool report_remark(char *buf, size_t size, const Report *r, const ReportFigures *f, size_t i);

/* Each prints or writes, and returns the exit status. */
int report_print(const Ctl *c, const Report *r); /* report-text.c */
/* report-table.c: the rows, and the total. */
void report_print_rows(const Ctl *c, const Report *r, const ReportFigures *total);
int report_json(const Ctl *c, const Report *r); /* report-json.c */
int report_csv(const Report *r);                /* report-csv.c */
void csv_text(FILE *f, const char *text);
void csv_number(FILE *f, double v);
int report_html(const Ctl *c, Ledger *l, const Report *r);  /* report-html.c */
int report_claim(const Ctl *c, Ledger *l, const Report *r); /* report-claim.c */
