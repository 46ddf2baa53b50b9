/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl report: what was used, by whom, and what it cost. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "ctl/report-capacity.h"

#define LEDGER   "/var/lib/storpower/ledger"
#define A_DAY    "-24h"
#define FROM_NOW 1 /* the second that is counted now is in it */

/* ---- what was asked ---- */

static int read_time(const char *option, const char *text, int64_t now_s, int64_t *ret_s)
{
	if (report_parse_time(text, now_s, ret_s) >= 0)
		return STATUS_OK;
	return complain(
		STATUS_USAGE,
		"--%s=%s: a time such as 2026-11-24, \"2026-11-24 10:00\", 10:00, -2h, -7d, "
		"yesterday or today would be right",
		option, text);
}

static int read_times(const Ctl *c, Report *r)
{
	const char *since = c->report.since ?: A_DAY, *until = c->report.until ?: "now";
	int status = read_time("since", since, r->now_s, &r->since_s)
			     ?: read_time("until", until, r->now_s, &r->until_s);

	if (status)
		return status;
	r->until_s = MIN(r->until_s, r->now_s);
	if (r->since_s >= r->until_s)
		return complain(STATUS_USAGE,
				"--since=%s is not before --until=%s: nothing lies between", since,
				until);
	/* what is summed of the past begins and ends with a whole span that is still known */
	r->since_s = report_align(r->since_s, r->now_s);
	r->until_s =
		r->until_s == r->now_s ? r->now_s + FROM_NOW : report_align(r->until_s, r->now_s);
	return STATUS_OK;
}

static int read_by(const Ctl *c, ReportBy *ret)
{
	if (!c->report.by) {
		*ret = BY_DEVICE;
		return STATUS_OK;
	}
	for (ReportBy by = 0; by < _REPORT_BY_MAX; by++)
		if (streq(c->report.by, report_by_name(by))) {
			*ret = by;
			return STATUS_OK;
		}
	return complain(STATUS_USAGE,
			"--by=%s: device, pool, group, cgroup, node, day or hour would be right",
			c->report.by);
}

static bool terms_given(const Ctl *c)
{
	return carbon_given(c, CARBON_PRICE) || carbon_given(c, CARBON_INTENSITY) ||
	       carbon_given(c, CARBON_SIZE) || carbon_given(c, CARBON_PROTECTION) ||
	       carbon_given(c, CARBON_FILL);
}

static int check_forms(const Ctl *c)
{
	if (c->json + c->report.csv + !!c->report.html > 1)
		return complain(STATUS_USAGE, "--json, --csv and --html are three forms of a "
					      "report: one of them would be right");
	if (c->report.claim && (c->report.html || c->report.by || c->report.since ||
				c->report.until || terms_given(c)))
		return complain(
			STATUS_USAGE,
			"A claim's record is of its whole time, in energy and watts: it has "
			"no --since, --until and --by, no price, intensity or capacity, and "
			"is no --html");
	return STATUS_OK;
}

static int read_terms(Ctl *c, ReportTerms *t)
{
	return carbon_number(c, CARBON_PRICE, &t->price_kwh)
		       ?: carbon_intensity_alone(c, &t->g_kwh) ?: report_usable(c, &t->usable_tb);
}

/* ---- the ledger ---- */

char *report_ledger_path(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;

	if (c->report.ledger)
		return strdup(c->report.ledger);
	if (ctl_daemon_runs(c) && !ctl_get_known_state(c, &state) &&
	    *json_text(state, "LedgerPath"))
		return strdup(json_text(state, "LedgerPath"));
	return strdup(LEDGER);
}

int report_unreadable(const char *path, int r, const char *why)
{
	switch (-r) {
	case ENOENT:
		return complain(STATUS_FAILURE,
				"There is no ledger %s: storpowerd keeps one as soon as it runs; "
				"name another with --ledger=FILE",
				path);
	case EACCES:
	case EPERM:
		return complain(STATUS_REFUSED,
				"The ledger %s is for root alone: sudo storpowerctl report", path);
	default:
		return complain(STATUS_FAILURE, "The ledger %s cannot be read: %s", path,
				*why ? why : strerror(-r));
	}
}

/* Nothing was counted in that time: says since when anything was. */
static int nothing(Ledger *l, const Report *r)
{
	char range[80], first[40];
	int64_t earliest_s;

	report_range(range, sizeof(range), r);
	if (ledger_earliest(l, THING_NODE, &earliest_s) < 0)
		return complain(STATUS_FAILURE,
				"The ledger %s holds nothing yet: storpowerd writes "
				"what it counts every second",
				r->ledger);
	report_time_text(first, sizeof(first), earliest_s);
	return complain(
		STATUS_FAILURE,
		"Nothing was counted from %s: the ledger %s begins on %.10s, and --since=%.10s "
		"--by=day shows which days it has",
		range, r->ledger, first, first);
}

static int read_currency(Ledger *l, Report *r)
{
	_cleanup_free_ char *note = NULL;
	int status = ledger_note(l, "currency", &note);

	if (status < 0 && status != -ENOENT)
		return status;
	r->currency = printable_copy(note ?: "");
	return r->currency ? 0 : -ENOMEM;
}

static int read_ledger(Ledger *l, Report *r)
{
	int status = read_currency(l, r);

	if (status >= 0)
		status = report_read_total(l, r);
	if (status >= 0)
		status = report_read_rows(l, r, r->by, &r->rows);
	if (status >= 0)
		status = report_read_rows(l, r, BY_CLAIM, &r->claims);
	return status;
}

static int show(const Ctl *c, Ledger *l, const Report *r)
{
	if (c->report.html)
		return report_html(c, l, r);
	if (c->report.csv)
		return report_csv(r);
	return c->json ? report_json(c, r) : report_print(c, r);
}

static int report(Ctl *c, Report *r)
{
	_cleanup_(ledger_closep) Ledger *l = NULL;
	int status = ledger_open_to_read(r->ledger, &l);

	if (status < 0)
		return report_unreadable(r->ledger, status, l ? ledger_error(l) : "");
	if (c->report.claim)
		return report_claim(c, l, r);
	status = read_ledger(l, r);
	if (status < 0)
		return report_unreadable(r->ledger, status, ledger_error(l));
	if (!r->total.of[AMOUNT_SPAN_US])
		return nothing(l, r);
	return show(c, l, r);
}

int verb_report(Ctl *c)
{
	Report r = { .now_s = (int64_t)(realtime_us() / USEC_PER_SEC) };
	int status;

	log_set_plain();
	status = check_forms(c) ?: read_times(c, &r) ?: read_by(c, &r.by) ?: read_terms(c, &r.terms);
	if (!status) {
		r.ledger = report_ledger_path(c);
		status = r.ledger ? report(c, &r) : complain(STATUS_FAILURE, "Out of memory");
	}
	report_rows_clear(&r.rows);
	report_rows_clear(&r.claims);
	free(r.currency);
	free(r.ledger);
	return status;
}
