/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl report --html: one page that needs nothing but itself. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "ctl/report-page.h"

#define STEPS_SHOWN 300 /* at most: what a screen can tell apart */

/* A length of which whole hours, days or thirty days are made, so that few sums are read. */
static unsigned step_of(int64_t seconds)
{
	static const unsigned steps[] = { 1,      5,          15,         60,    300,      900,
					  HOUR_S, 3 * HOUR_S, 6 * HOUR_S, DAY_S, 7 * DAY_S };

	for (size_t i = 0; i < ELEMENTSOF(steps); i++)
		if (seconds / steps[i] <= STEPS_SHOWN)
			return steps[i];
	return 30 * DAY_S;
}

static int read_page(Ledger *l, ReportPage *p)
{
	const Report *r = p->report;
	int status =
		report_read_series(l, r, step_of(r->until_s - r->since_s), &p->series, &p->step_s);

	if (status >= 0)
		status = report_read_rows(l, r, BY_DEVICE, &p->devices);
	if (status >= 0)
		status = report_read_rows(l, r, BY_POOL, &p->pools);
	if (status >= 0)
		status = report_read_rows(l, r, BY_GROUP, &p->groups);
	if (status >= 0)
		status = report_read_rows(l, r, BY_CGROUP, &p->cgroups);
	return status;
}

static void write_page(FILE *f, const ReportPage *p)
{
	page_head(f, p);
	page_cards(f, p);
	page_power(f, p);
	page_users(f, p);
	page_limits(f, p);
	page_saved(f, p);
	page_costs(f, p);
	page_foot(f, p);
}

static int page_text(const ReportPage *p, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	write_page(f, p);
	if (fclose(f) != 0)
		return -ENOMEM;
	*ret = TAKE_PTR(text);
	return 0;
}

static void page_done(ReportPage *p)
{
	ReportRows *all[] = { &p->series, &p->devices, &p->pools, &p->groups, &p->cgroups };

	for (size_t i = 0; i < ELEMENTSOF(all); i++)
		report_rows_clear(all[i]);
}

int report_html(const Ctl *c, Ledger *l, const Report *r)
{
	_cleanup_(page_done) ReportPage p = { .report = r };
	_cleanup_free_ char *text = NULL;
	int status = read_page(l, &p);

	if (status < 0)
		return complain(STATUS_FAILURE, "The ledger %s cannot be read: %s", r->ledger,
				ledger_error(l));
	report_total_figures(r, &p.total);
	status = page_text(&p, &text);
	if (status >= 0)
		status = write_file_atomic(c->report.html, text, 0644);
	if (status < 0)
		return complain(STATUS_FAILURE, "%s cannot be written: %s", c->report.html,
				strerror(-status));
	return STATUS_OK;
}
