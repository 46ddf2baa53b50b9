/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl report --claim: the record of one event. */

#include "ctl/report-claim.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"

/* By no more is it set. */
#define CLOCK_SET_S HOUR_S

void claim_record_add(ClaimRecord *record, int64_t time_s, const Amounts *sum)
{
	const int64_t above_us = sum->of[AMOUNT_ABOVE_US];

	if (!record->first_s)
		record->first_s = time_s;
	record->last_s = time_s + MAX((int64_t)record->step_s, 1);
	record->run_us = (time_s == record->next_s ? record->run_us : 0) + above_us;
	if (!above_us)
		record->run_us = 0;
	record->longest_us = MAX(record->longest_us, record->run_us);
	record->next_s = record->last_s;
	amounts_add(&record->sum, sum);
}

static double micro(const ClaimRecord *r, Amount which)
{
	return (double)r->sum.of[which] / 1e6;
}

static double quotient(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

void claim_record_figures(const ClaimRecord *r, ClaimFigures *ret)
{
	const double s = micro(r, AMOUNT_LIMITED_US);
	const double moved =
		(double)r->sum.of[AMOUNT_READ_BYTES] + (double)r->sum.of[AMOUNT_WRITTEN_BYTES];
	ClaimFigures f = { .limited_s = s,
			   .above_s = micro(r, AMOUNT_ABOVE_US),
			   .longest_s = (double)r->longest_us / 1e6,
			   .baseline_w = quotient(micro(r, AMOUNT_UNLIMITED_UJ), s),
			   .mean_w = quotient(micro(r, AMOUNT_ENERGY_UJ), s),
			   .budget_w = quotient(micro(r, AMOUNT_BUDGET_UJ), s),
			   .not_drawn_j =
				   micro(r, AMOUNT_UNLIMITED_UJ) - micro(r, AMOUNT_ENERGY_UJ),
			   .error_j = micro(r, AMOUNT_ERROR_UJ),
			   .shortfall_w = quotient(micro(r, AMOUNT_SHORTFALL_UJ), s),
			   .lost_bytes = (double)r->sum.of[AMOUNT_LOST_BYTES] };

	f.compliant_s = fmax(0, s - f.above_s);
	f.compliance = quotient(f.compliant_s, s);
	f.delivered_w = f.baseline_w - f.mean_w;
	/* nothing was asked of who would have kept to the budget anyway */
	f.asked_w = fmax(0, f.baseline_w - f.budget_w);
	f.delivered = quotient(f.delivered_w, f.asked_w);
	f.lost = quotient(f.lost_bytes, f.lost_bytes + moved);
	f.lost_mb_s = quotient(f.lost_bytes / 1e6, s);
	*ret = f;
}

void claim_record_clear(ClaimRecord *r)
{
	free(r->reason);
	free(r->source);
	free(r->scope);
	free(r->class);
	*r = (ClaimRecord){};
}

/* ---- from the ledger ---- */

typedef struct Search {
	uint64_t cookie;
	char *id; /* of the latest claim with it; NULL: none yet */
	int64_t created_s;
	ClaimRecord record;
} Search;

static int find_latest(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	Search *s = userdata;
	uint64_t cookie;
	int64_t created_s;

	(void)time_s;
	(void)sum;
	if (!report_claim_key(thing->id, &cookie, &created_s) || cookie != s->cookie ||
	    (s->id && created_s <= s->created_s))
		return 0;
	free(s->id);
	s->id = strdup(thing->id);
	s->created_s = created_s;
	return s->id ? 0 : -ENOMEM;
}

static int keep(char **to, const char *text)
{
	free(*to);
	*to = printable_copy(text);
	return *to ? 0 : -ENOMEM;
}

/* The wall clock may have been set between two starts of the daemon, by which the same claim seems
 * to have been made at another time. */
static bool is_latest(const Search *s, const LedgerThing *thing)
{
	uint64_t cookie;
	int64_t created_s;

	return report_claim_key(thing->id, &cookie, &created_s) && cookie == s->cookie &&
	       created_s > s->created_s - CLOCK_SET_S;
}

static int take(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	Search *s = userdata;
	int r;

	if (!is_latest(s, thing))
		return 0;
	claim_record_add(&s->record, time_s, sum);
	r = keep(&s->record.reason, thing->name);
	if (r >= 0)
		r = keep(&s->record.source, thing->model);
	if (r >= 0)
		r = keep(&s->record.scope, thing->group);
	return r < 0 ? r : keep(&s->record.class, thing->pool);
}

static int read_record(Ledger *l, const Report *r, Search *s)
{
	int64_t earliest_s;
	int status = ledger_earliest(l, THING_CLAIM, &earliest_s);
	TimePiece piece;

	if (status < 0)
		return status;
	status = ledger_read(l,
			     &(LedgerQuery){ .kind = THING_CLAIM,
					     .since_s = earliest_s,
					     .until_s = r->now_s + 1,
					     .by_thing = true },
			     find_latest, s);
	if (status < 0 || !s->id)
		return status < 0 ? status : -ENOENT;
	/* what is known of its beginning is known of all of it */
	piece = report_piece(report_align(s->created_s, r->now_s), s->created_s + 1, r->now_s, 1);
	s->record.step_s = piece.step_s;
	return ledger_read(l,
			   &(LedgerQuery){ .kind = THING_CLAIM,
					   .since_s = piece.since_s,
					   .until_s = r->now_s + 1,
					   .by_thing = true,
					   .step_s = piece.step_s },
			   take, s);
}

static int show(const Ctl *c, const ClaimRecord *record)
{
	if (c->report.csv)
		return claim_csv(record);
	return c->json ? claim_json(c, record) : claim_print(c, record);
}

int report_claim(const Ctl *c, Ledger *l, const Report *r)
{
	unsigned long cookie;
	Search s = {};
	int status;

	if (parse_unsigned(c->report.claim, UINT64_MAX, &cookie) < 0)
		return complain(
			STATUS_USAGE,
			"--claim=%s: the number of a claim, as \"set\" prints it, would be right",
			c->report.claim);
	s.cookie = cookie;
	status = read_record(l, r, &s);
	s.record.cookie = cookie;
	s.record.created_s = s.created_s;
	if (status == -ENOENT)
		status = complain(STATUS_REFUSED,
				  "No claim %lu was ever the limit in force: storpowerctl report "
				  "--since=-30d names those that were",
				  cookie);
	else if (status < 0)
		status = complain(STATUS_FAILURE, "The ledger %s cannot be read: %s", r->ledger,
				  ledger_error(l));
	else
		status = show(c, &s.record);
	claim_record_clear(&s.record);
	free(s.id);
	return status;
}
