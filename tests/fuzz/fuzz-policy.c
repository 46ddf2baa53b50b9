/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz-ini.h"
#include "plan/policy.h"

static void put_mechanisms(FuzzReport *r, unsigned set)
{
	fputs("forbid=", r->stream);
	for (unsigned bit = 1; bit && bit <= set; bit <<= 1)
		if (set & bit)
			fprintf(r->stream, "%s ", mechanism_name((Mechanism)bit));
	fputs("\n", r->stream);
}

static void put_floor(FuzzReport *r, const RuleFloor *floor)
{
	if (floor->mb_s > 0)
		fuzz_put_number(r, "floor=", floor->mb_s, "MB/s\n");
	else
		fuzz_put_percent(r, "floor", floor->share);
	fuzz_check(floor->mb_s >= 0 && floor->share >= 0 && floor->share <= 1);
}

static void put_rule(FuzzReport *r, const PolicyRule *rule)
{
	fprintf(r->stream, "[devices %s]\n", rule->match);
	fuzz_put_number(r, "weight=", rule->weight, "\n");
	if (rule->floor.given)
		put_floor(r, &rule->floor);
	if (rule->p99_us)
		fuzz_put_us(r, "p99", (double)rule->p99_us);
	put_mechanisms(r, rule->forbidden);
	fuzz_put_bool(r, "protect", rule->protect);
	fuzz_put_bool(r, "keep_awake", rule->keep_awake);
	if (rule->limit.watts > 0)
		fuzz_put_fixed(r, "limit", rule->limit.watts, "W");
	if (rule->limit.share > 0)
		fuzz_put_percent(r, "limit", rule->limit.share);
	fprintf(r->stream, "redirect=%s\n", rule->redirect == REDIRECT_HOLD ? "hold" : "as-found");
	fuzz_check(rule->weight >= 0 && rule->limit.share <= 1);
}

static char *report(const char *path, bool *ret_complaints)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	FuzzReport r;

	if (policy_read(path, &p) < 0)
		return NULL;
	fuzz_check(p->rest <= p->deepest);
	*ret_complaints = p->ignored > 0;
	fuzz_report_begin(&r);
	fprintf(r.stream, "[policy]\ndescription=%s\n", p->description);
	put_mechanisms(&r, p->forbidden);
	fprintf(r.stream, "deepest=%s\nrest=%s\n", condition_name(p->deepest),
		condition_name(p->rest));
	fuzz_put_us(&r, "rest_idle", (double)p->rest_idle_us);
	fuzz_put_us(&r, "sleep_idle", (double)p->sleep_idle_us);
	fuzz_put_us(&r, "sleep_min", (double)p->sleep_min_us);
	fuzz_put_us(&r, "dwell", (double)p->dwell_us);
	fuzz_put_number(&r, "hysteresis=", p->hysteresis, "\n");
	fuzz_put_number(&r, "demand_headroom=", p->demand_headroom, "\n");
	if (isfinite(p->fairness))
		fuzz_put_number(&r, "fairness=", p->fairness, "\n");
	else
		fputs("fairness=max\n", r.stream);
	put_floor(&r, &p->floor);
	fuzz_put_number(&r, "latency_weight=", p->latency_weight, "\n");
	for (size_t i = 0; i < p->n_rules; i++)
		put_rule(&r, &p->rules[i]);
	return fuzz_report_end(&r);
}

static const FuzzIni ini = {
	.name = "fuzz.policy",
	.report = report,
	.free = (const char *const[]){ "description", NULL },
	.defaults =
		(const char *const[][2]){
			{ "policy description", "" },
			{ "policy forbid", "" },
			{ "policy deepest", "standby_z" },
			{ "policy rest_idle", "1min" },
			{ "policy sleep_idle", "15min" },
			{ "policy sleep_min", "30min" },
			{ "policy dwell", "10s" },
			{ "policy hysteresis", "3%" },
			{ "policy demand_headroom", "1.25" },
			{ "policy latency_weight", "0" },
			{ "policy fairness", "1" },
			{ "policy floor", "25%" },
			{ "devices weight", "1" },
			{ "devices floor", "" },
			{ "devices p99", "" },
			{ "devices forbid", "" },
			{ "devices protect", "no" },
			{ "devices keep_awake", "no" },
			{ "devices limit", "" },
			{ "devices redirect", "as-found" },
			{ NULL },
		},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_ini(&ini, data, size);
	return 0;
}
