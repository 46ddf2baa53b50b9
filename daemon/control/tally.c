/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/tally.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/tally-device.h"
#include "control/trust.h"

/* Nobody looked for so long: the machine slept, and what was drawn then is not known. */
#define GAP_US (60 * USEC_PER_SEC)

int tally_init(Tally *t)
{
	const LedgerThing node = { .kind = THING_NODE, .name = (char *)"node" };
	int r = ledger_thing_new(&node, &t->node);

	return r < 0 ? r : tally_cgroups_init(&t->cgroups);
}

/* Those of which everything is written. */
static void forget_claims(Tally *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_claims; i++)
		if (t->claims[i]->refs > 1)
			t->claims[kept++] = t->claims[i];
		else
			ledger_thing_unref(t->claims[i]);
	t->n_claims = kept;
}

void tally_done(Tally *t)
{
	ledger_entries_clear(&t->entries);
	forget_claims(t);
	free(t->claims);
	tally_cgroups_done(&t->cgroups);
	tally_devices_done(&t->devices);
	t->node = ledger_thing_unref(t->node);
	tariff_done(&t->tariff);
}

static void skip(Tally *t, Tools *tools)
{
	tally_devices_skip(&t->devices);
	if (tally_cgroups_skip(&t->cgroups, tools->meter) < 0)
		log_oom();
}

/* Of the devices that the claim limits, in one span; NULL: of all. */
static Amounts sum_of(const TallyDevices *d, const Claim *claim)
{
	Amounts sum = {};

	for_each_tallied(const Tallied, t, d) if (!claim || limits_claim_covers(claim, t->md))
	{
		amounts_add(&sum, &t->span);
		sum.of[AMOUNT_SPAN_US] = t->span.of[AMOUNT_SPAN_US];
	}
	sum.of[AMOUNT_HIGHEST_MW] =
		sum.of[AMOUNT_SPAN_US] ? sum.of[AMOUNT_ENERGY_UJ] * 1000 / sum.of[AMOUNT_SPAN_US]
				       : 0;
	return sum;
}

/* A sensor of the node has measured all of it, and errs once. */
static void note_measured(const Gauges *g, Amounts *node)
{
	if (isnan(g->measured_w))
		return;
	node->of[AMOUNT_MEASURED_UJ] = node->of[AMOUNT_ENERGY_UJ];
	node->of[AMOUNT_ERROR_UJ] = llround(SENSOR_ERROR * (double)node->of[AMOUNT_ENERGY_UJ]);
}

/* What the limit allowed in that span. */
static void note_limit(Amounts *a, double limit_w, double shortfall_w)
{
	double seconds = (double)a->of[AMOUNT_SPAN_US] * 1e-6;

	if (limit_w >= LIMIT_MAX_W || seconds <= 0)
		return;
	a->of[AMOUNT_LIMITED_US] = a->of[AMOUNT_SPAN_US];
	a->of[AMOUNT_BUDGET_UJ] = llround(limit_w * seconds * 1e6);
	a->of[AMOUNT_SHORTFALL_UJ] = llround(shortfall_w * seconds * 1e6);
	/* who is held at the limit is above it by a sensor's noise every other second */
	if ((double)a->of[AMOUNT_ENERGY_UJ] > (double)a->of[AMOUNT_BUDGET_UJ] * (1 + SENSOR_ERROR))
		a->of[AMOUNT_ABOVE_US] = a->of[AMOUNT_SPAN_US];
}

static int add_node(Tally *t, const TallyNode *node, int64_t time_s)
{
	Amounts sum = sum_of(&t->devices, NULL);

	note_measured(node->gauges, &sum);
	note_limit(&sum, node->budget_w, node->shortfall_w);
	sum.of[AMOUNT_REQUESTS] = (int64_t)t->requests;
	t->requests = 0;
	amounts_add(&t->sum, &sum);
	return ledger_entries_add(&t->entries, time_s, t->node, &sum);
}

static int add_devices(Tally *t, int64_t time_s)
{
	int r = 0;

	for_each_tallied(const Tallied, d, &t->devices) if (r >= 0) r =
		ledger_entries_add(&t->entries, time_s, d->thing, &d->span);
	return r;
}

/* Entries of one thing can be merged while they cannot be written. */
static int known_claim(Tally *t, const LedgerThing *like, LedgerThing **ret)
{
	LedgerThing **slot;
	int r;

	for (size_t i = 0; i < t->n_claims; i++)
		if (ledger_thing_compare(t->claims[i], like) == 0) {
			*ret = t->claims[i];
			return 0;
		}
	slot = ARRAY_GROW(t->claims, t->n_claims);
	if (!slot)
		return -ENOMEM;
	r = ledger_thing_new(like, slot);
	if (r < 0)
		t->n_claims--;
	else
		*ret = *slot;
	return r;
}

/* Cookies begin anew where the claims' file is lost. */
static int claim_thing(Tally *t, const Claim *c, const Tools *tools, LedgerThing **ret)
{
	uint64_t created_s = (c->created_us + tools->realtime_offset_us) / USEC_PER_SEC;
	char id[64], scope[160];
	const LedgerThing like = { .kind = THING_CLAIM,
				   .id = id,
				   .name = c->reason,
				   .model = c->source,
				   .group = scope,
				   .pool = (char *)claim_class_name(c->class) };

	snprintf(id, sizeof(id), "%llu@%llu", (unsigned long long)c->cookie,
		 (unsigned long long)created_s);
	snprintf(scope, sizeof(scope), "%s%s%s", claim_scope_name(c->scope), c->target ? " " : "",
		 c->target ?: "");
	return known_claim(t, &like, ret);
}

static int add_claim(Tally *t, const TallyNode *node, const Claim *c, const Tools *tools,
		     int64_t time_s)
{
	LedgerThing *thing = NULL;
	Amounts sum = sum_of(&t->devices, c);
	double operating_w = limits_claim_operating_w(tools->fleet, c);
	int r = claim_thing(t, c, tools, &thing);

	if (r < 0)
		return r;
	if (c->scope == SCOPE_NODE)
		note_measured(node->gauges, &sum);
	note_limit(&sum, limit_watts(c->limit, c->unit, operating_w),
		   c->scope == SCOPE_NODE ? node->shortfall_w : 0);
	return ledger_entries_add(&t->entries, time_s, thing, &sum);
}

/* Each limit that is the lowest where it holds. */
static int add_claims(Tally *t, const TallyNode *node, const Tools *tools, int64_t time_s)
{
	const Claim *c;
	int r = 0;

	forget_claims(t);
	for (size_t i = 0; r >= 0 && (c = claims_get(node->limits->claims, i)); i++)
		if (!c->pins && claim_active(c, tools->now_us) &&
		    limits_claim_in_force(node->limits, tools->fleet, c))
			r = add_claim(t, node, c, tools, time_s);
	return r;
}

static int count(Tally *t, const TallyNode *node, Tools *tools, double seconds, int64_t time_s)
{
	const TallySpan span = { .seconds = seconds,
				 .gauges = node->gauges,
				 .fleet = tools->fleet,
				 .rate = tariff_at(&t->tariff, &tools->config->ledger.tariff,
						   time_s) };
	int r = tally_devices_count(&t->devices, &span);

	if (r >= 0)
		r = add_node(t, node, time_s);
	if (r >= 0)
		r = add_devices(t, time_s);
	if (r >= 0)
		r = add_claims(t, node, tools, time_s);
	return r < 0 ? r
		     : tally_cgroups_take(&t->cgroups, tools->meter, &t->devices, time_s,
					  &t->entries);
}

/* The span is told by when it began, by the clock as it is now. */
void tally_look(Tally *t, const TallyNode *node, Tools *tools, int64_t time_s)
{
	uint64_t passed_us = tools->now_us - t->counted_us;
	double seconds = (double)passed_us / USEC_PER_SEC;
	bool counts = t->counted_us && passed_us > 0 && passed_us <= GAP_US;

	if (t->counted_us && !passed_us)
		return;
	t->counted_us = tools->now_us;
	if (tally_devices_follow(&t->devices, tools->fleet) < 0)
		log_oom();
	else if (!counts)
		skip(t, tools);
	else if (count(t, node, tools, seconds, time_s - llround(seconds)) < 0)
		log_oom();
}

void tally_note_requests(Tally *t, uint64_t n)
{
	t->requests += n;
}
