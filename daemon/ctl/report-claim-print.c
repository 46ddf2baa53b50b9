/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The record of a claim: for people, as JSON and as CSV. */

#include <math.h>

#include "ctl/report-claim.h"
#include "ctl/table.h"
#include "ctl/words.h"

static const struct Field {
	const char *json, *csv;
	size_t offset; /* of a double in ClaimFigures */
} fields[] = {
#define FIELD(json, csv, member)                                                                   \
	{                                                                                          \
		json, csv, offsetof(ClaimFigures, member)                                          \
	}
	FIELD("LimitedSeconds", "limited_s", limited_s),
	FIELD("CompliantSeconds", "compliant_s", compliant_s),
	FIELD("Compliance", "compliance", compliance),
	FIELD("AboveSeconds", "above_s", above_s),
	FIELD("LongestAboveSeconds", "longest_above_s", longest_s),
	FIELD("BaselinePower", "baseline_w", baseline_w),
	FIELD("MeanPower", "mean_w", mean_w),
	FIELD("BudgetPower", "budget_w", budget_w),
	FIELD("AskedPower", "asked_w", asked_w),
	FIELD("DeliveredPower", "delivered_w", delivered_w),
	FIELD("DeliveredShare", "delivered_share", delivered),
	FIELD("EnergyNotDrawn", "not_drawn_j", not_drawn_j),
	FIELD("ErrorEnergy", "error_j", error_j),
	FIELD("ShortfallPower", "shortfall_w", shortfall_w),
	FIELD("LostBytes", "lost_bytes", lost_bytes),
	FIELD("LostShare", "lost_share", lost),
	FIELD("LostThroughput", "lost_mb_s", lost_mb_s),
	{},
};

static double field(const struct Field *f, const ClaimFigures *of)
{
	return *(const double *)((const char *)of + f->offset);
}

static void print_who(const Ctl *c, const ClaimRecord *r, const ClaimFigures *f)
{
	char created[40], first[40], last[40], span[REPORT_TEXT];

	report_line(c, "Claim", "%llu, asked for at %s", (unsigned long long)r->cookie,
		    report_time_text(created, sizeof(created), r->created_s));
	report_line(c, "Asked by", "%s%s%s%s", r->source, *r->class ? ", class " : "", r->class,
		    *r->scope ? "" : ", of the node");
	if (*r->scope)
		report_line(c, "Limits", "the %s", r->scope);
	report_line(c, "Reason", "%s", *r->reason ? r->reason : "none was given");
	report_line(c, "In force", "%s, from %s to %s", report_span(span, f->limited_s),
		    report_time_text(first, sizeof(first), r->first_s),
		    report_time_text(last, sizeof(last), r->last_s));
}

static void print_power(const Ctl *c, const ClaimFigures *f)
{
	char baseline[REPORT_TEXT], budget[REPORT_TEXT], mean[REPORT_TEXT], delivered[REPORT_TEXT],
		asked[REPORT_TEXT], share[REPORT_TEXT], energy[REPORT_TEXT], error[REPORT_TEXT];

	report_line(c, "Baseline", "%s on the mean would have been drawn without it",
		    report_watts(baseline, f->baseline_w));
	report_line(c, "Budget", "%s on the mean, and %s were drawn",
		    report_watts(budget, f->budget_w), report_watts(mean, f->mean_w));
	if (f->asked_w > 0)
		report_line(c, "Delivered", "%s less than the baseline, %s of the %s asked for",
			    report_watts(delivered, f->delivered_w),
			    report_percent(share, f->delivered), report_watts(asked, f->asked_w));
	else
		report_line(c, "Delivered",
			    "%s less than the baseline, which was within the budget anyway",
			    report_watts(delivered, f->delivered_w));
	report_line(c, "Not drawn", "%s, where the energy drawn is right to %s %s",
		    report_energy(energy, f->not_drawn_j), words_plus_minus(),
		    report_energy(error, f->error_j));
}

static void print_compliance(const Ctl *c, const ClaimRecord *r, const ClaimFigures *f)
{
	char compliant[REPORT_TEXT], share[REPORT_TEXT], above[REPORT_TEXT], longest[REPORT_TEXT],
		watts[REPORT_TEXT], bytes[REPORT_TEXT], lost[REPORT_TEXT], rate[32];

	report_line(c, "Compliance", "%s within the budget, %s of the time",
		    report_span(compliant, f->compliant_s), report_percent(share, f->compliance));
	if (f->above_s > 0)
		report_line(c, "Overload", "%s in all, the longest %s%s",
			    report_span(above, f->above_s), report_span(longest, f->longest_s),
			    r->step_s > 1
				    ? " or less: the seconds of that time are not known any more"
				    : "");
	else
		report_line(c, "Overload", "none");
	if (f->shortfall_w > 0)
		report_line(c, "Shortfall",
			    "%s on the mean: the devices cannot be brought down to the budget",
			    report_watts(watts, f->shortfall_w));
	report_line(c, "Lost", "%s to the limit, %s of what would have been moved, %s MB/s",
		    report_moved(bytes, f->lost_bytes), report_percent(lost, f->lost),
		    format_number(rate, sizeof(rate), f->lost_mb_s));
}

int claim_print(const Ctl *c, const ClaimRecord *r)
{
	ClaimFigures f;

	claim_record_figures(r, &f);
	pager_open(c);
	print_who(c, r, &f);
	print_power(c, &f);
	print_compliance(c, r, &f);
	putchar('\n');
	print_wrapped("", 0,
		      "It is counted while it is the limit in force. The baseline and what was "
		      "lost are modelled, from what the workloads ask for.",
		      c->width);
	return STATUS_OK;
}

int claim_json(const Ctl *c, const ClaimRecord *r)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	ClaimFigures f;

	claim_record_figures(r, &f);
	json_put_count(o, "Cookie", r->cookie);
	json_put_count(o, "Created", (uint64_t)r->created_s);
	json_put_count(o, "Since", (uint64_t)r->first_s);
	json_put_count(o, "Until", (uint64_t)r->last_s);
	json_put_count(o, "Resolution", r->step_s);
	json_put_text(o, "Reason", r->reason);
	json_put_text(o, "Source", r->source);
	json_put_text(o, "Scope", r->scope);
	json_put_text(o, "Class", r->class);
	for (const struct Field *at = fields; at->json; at++)
		json_put_number(o, at->json, field(at, &f));
	json_print(c, o);
	return STATUS_OK;
}

int claim_csv(const ClaimRecord *r)
{
	const char *const texts[] = { r->reason, r->source, r->scope, r->class };
	ClaimFigures f;

	claim_record_figures(r, &f);
	printf("claim,created,since,until,resolution_s,reason,source,scope,class");
	for (const struct Field *at = fields; at->csv; at++)
		printf(",%s", at->csv);
	printf("\r\n%llu,%lld,%lld,%lld,%u", (unsigned long long)r->cookie, (long long)r->created_s,
	       (long long)r->first_s, (long long)r->last_s, r->step_s);
	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		putchar(',');
		csv_text(stdout, texts[i]);
	}
	for (const struct Field *at = fields; at->csv; at++) {
		putchar(',');
		csv_number(stdout, field(at, &f));
	}
	fputs("\r\n", stdout);
	return STATUS_OK;
}
