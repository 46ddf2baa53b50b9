/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Promises that hold whatever happens: random nodes, random claims coming and going, random faults.
 * STORPOWER_CASES sets the number of steps (cases.h). */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "cases.h"
#include "control/gather.h"
#include "given-back.h"
#include "sim-fixture.h"

#define STEPS_PER_NODE 50
#define CLAIMS_MAX     8
#define EPSILON_W      1e-6
/* What a plan's value, MB/s, holds besides throughput asked for: spare capacity and staying put. */
#define SPARE_MB_S  0.01
#define TRADED      0.001 /* of a share, for them */
#define FLOOR_SHARE 0.25  /* of both policies */

static uint64_t seed;

/* splitmix64 */
static uint64_t random_u64(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static unsigned below(unsigned n)
{
	return (unsigned)(random_u64() % n);
}

static const char *const profiles[] = {
	"samsung-pm9a3",
	"intel-p5510",
	"dell-ps1010",
	"samsung-pm1733",
	"intel-d3-s4510",
	"seagate-exos-7e2000",
	"seagate-constellation-es2",
};

static void write_devices(FILE *f, unsigned section, bool constant, const char *cache)
{
	static const char *const sizes[] = { "4K", "16K", "64K", "256K" };
	const char *profile = profiles[below(ELEMENTSOF(profiles))];
	bool disk = strstr(profile, "seagate"), nvme = !disk && !strstr(profile, "s4510");
	unsigned demand;

	fprintf(f,
		"[devices d%u]\ncount = %u\nprofile = %s\ngroup = %s\nread = %u%%\nrandom = %u%%\n",
		section, 1 + below(2), profile, nvme ? "flash" : "disks", below(101), below(101));
	fprintf(f, "read_size = %s\nwrite_size = %s\ndepth = %u\n", sizes[below(4)],
		sizes[below(4)], 1 + below(64));
	demand = below(constant ? 3 : 5);
	switch (demand) {
	case 0: fprintf(f, "demand = saturate\n"); break;
	case 1: fprintf(f, "demand = idle\n"); break;
	case 2: fprintf(f, "demand = constant %u\n", 1 + below(200)); break;
	case 3:
		fprintf(f, "demand = sine mean=%u swing=100 period=2min\n", 100 + below(500));
		break;
	case 4: fprintf(f, "demand = burst high=%u low=0 on=10s off=1min\n", 1 + below(300)); break;
	}
	if (nvme && below(3) == 0)
		fprintf(f, "power_limit = yes\n");
	if (disk && below(2))
		fprintf(f, "pool = p%u\nhba = h%u\n", below(2), below(2));
	if (disk && cache && demand > 0 && below(2))
		fprintf(f, "cache = %s\ncache_size = %uG\ncached_reads = %u%%\n", cache,
			1 + below(20), below(101));
}

/* What the disks' writes may be held on. */
static void write_cache(FILE *f)
{
	fprintf(f, "[devices front]\nprofile = samsung-pm9a3\ngroup = flash\nread = 50%%\n"
		   "random = 100%%\nread_size = 16K\nwrite_size = 64K\ndepth = 16\n"
		   "demand = constant 50\n");
}

/* The sections share a prefix by kind, so names are unique. */
static void write_node(const char *path, bool constant)
{
	_cleanup_fclose_ FILE *f = fopen(path, "we");
	unsigned n = 1 + below(4);
	bool cached = below(3) == 0;

	assert_non_null(f);
	fprintf(f,
		"[node]\nname = random\npolicy = %s\nseed = %u\nmodel_error = %u%%\nnoise = %s\n"
		"sensors = %s\n",
		below(2) ? "archive" : "balanced", below(1000), below(5), constant ? "0%" : "1%",
		below(2) ? "all" : "none");
	if (cached)
		write_cache(f);
	for (unsigned i = 0; i < n; i++)
		write_devices(f, i, constant, cached ? "front" : NULL);
}

typedef struct Case {
	Fixture f;
	uint64_t cookies[CLAIMS_MAX];
	size_t n_cookies;
	char *before;
	bool constant;
	uint64_t fault_us; /* when one was last injected */
} Case;

static uint64_t now_us(const Case *c)
{
	return clock_now_us(&c->f.loop->clock);
}

static void open_case(Case *c, bool constant)
{
	char dir[] = "/tmp/storpower-test-XXXXXX";
	_cleanup_free_ char *path = NULL;

	*c = (Case){ .constant = constant };
	assert_non_null(mkdtemp(dir));
	path = text_printf("%s/random.node", dir);
	write_node(path, constant);
	fixture_open_in(&c->f, path, dir);
	c->before = fixture_dump(&c->f);
	fixture_start(&c->f);
	fixture_run(&c->f, 1 + below(20));
}

static void close_case(Case *c)
{
	free(c->before);
	fixture_close(&c->f);
}

static void add_claim(Case *c)
{
	char target[32];
	DeviceState d;
	Claim claim = {
		.class = (ClaimClass)below(_CLASS_MAX),
		.scope = below(4)   ? SCOPE_NODE
			 : below(2) ? SCOPE_DEVICE
				    : SCOPE_GROUP,
		.target = target,
		.unit = below(2) ? LIMIT_PERCENT : LIMIT_WATTS,
		.source = "test",
		.reason = "because",
		.owner = below(2) ? ":1.7" : NULL,
		.expiry_us = USEC_NEVER,
	};

	claim.limit = claim.unit == LIMIT_PERCENT ? below(101) : below(120);
	assert_int_equal(control_device(c->f.control, 0, &d), 0);
	if (claim.scope == SCOPE_NODE)
		claim.target = NULL;
	else
		snprintf(target, sizeof(target), "%s",
			 claim.scope == SCOPE_DEVICE ? d.device->name : d.device->group);
	if (below(4) == 0)
		claim.start_us = now_us(c) + below(10 * USEC_PER_SEC);
	if (below(3) == 0)
		claim.expiry_us = MAX(now_us(c), claim.start_us) + (1 + below(20)) * USEC_PER_SEC;
	c->cookies[c->n_cookies++] = fixture_claim(&c->f, &claim);
}

static void end_claim(Case *c)
{
	uint64_t cookie = c->cookies[--c->n_cookies];

	if (claims_find(control_claims(c->f.control), cookie))
		fixture_release(&c->f, cookie);
}

static void inject(Case *c)
{
	static const SimFault faults[] = { SIM_HEALTHY, SIM_REFUSE, SIM_IGNORE,
					   SIM_RESET,   SIM_SLOW,   SIM_RESYNC };
	DeviceState d;

	if (control_device(c->f.control, below((unsigned)control_device_count(c->f.control)), &d) >=
	    0)
		sim_node_inject(c->f.node, d.device->name, faults[below(ELEMENTSOF(faults))]);
	c->fault_us = now_us(c);
}

static void heal(Case *c)
{
	DeviceState d;

	for (size_t i = 0; control_device(c->f.control, i, &d) >= 0; i++)
		sim_node_inject(c->f.node, d.device->name, SIM_HEALTHY);
}

static bool settled(Case *c)
{
	DeviceState d;

	for (size_t i = 0; control_device(c->f.control, i, &d) >= 0; i++)
		if (d.changing || *d.problem)
			return false;
	return true;
}

static void print_state(Case *c, const ControlState *s)
{
	char text[200];
	DeviceState d;

	const Claim *claim;

	print_error("caps %.6f W, budget %.6f W, shortfall %.6f W\n", s->watts.cap_w, s->budget_w,
		    s->shortfall_w);
	for (size_t i = 0; (claim = claims_get(control_claims(c->f.control), i)); i++)
		print_error("claim %llu: %.3f %s on %s, from %llu us, now %llu us\n",
			    (unsigned long long)claim->cookie, claim->limit,
			    claim->unit == LIMIT_PERCENT ? "%" : "W", claim->target ?: "node",
			    (unsigned long long)claim->start_us, (unsigned long long)now_us(c));
	for (size_t i = 0; control_device(c->f.control, i, &d) >= 0; i++)
		print_error("%s: cap %.3f W, planned %.3f W: %s\n", d.device->name, d.watts.cap_w,
			    d.planned.cap_w, setting_text(text, sizeof(text), &d.setting));
	for (size_t i = 0; i < control_decision_count(c->f.control); i++) {
		const Decision *n = control_decision(c->f.control, i);

		print_error("%s: %s (%s)\n", n->device, n->what, n->why);
	}
}

/* The same for claims on one device or group. */
static void assert_limits_or_degraded(Case *c, const ControlState *s)
{
	const Claims *claims = control_claims(c->f.control);
	uint64_t now = now_us(c);
	const Claim *claim;

	for (size_t i = 0; (claim = claims_get(claims, i)); i++) {
		double cap_w = 0, operating_w = 0, limit_w;
		DeviceState d;

		if (claim->scope == SCOPE_NODE || !claim_active(claim, now))
			continue;
		for (size_t k = 0; control_device(c->f.control, k, &d) >= 0; k++)
			if (streq(claim->target, claim->scope == SCOPE_DEVICE ? d.device->name
									      : d.device->group)) {
				cap_w += d.watts.cap_w;
				operating_w += d.watts.operating_w;
			}
		limit_w = limit_watts(claim->limit, claim->unit, operating_w);
		if (cap_w > limit_w + s->shortfall_w + EPSILON_W)
			print_state(c, s);
		assert_true(cap_w <= limit_w + s->shortfall_w + EPSILON_W);
	}
}

static bool differs(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs)
	{
		KnobValue found;

		if (!hk->touched || md->errands.busy ||
		    hk->knob->mechanism == MECHANISM_CONDITION ||
		    hk->knob->read(md->device, &found) < 0 ||
		    knob_fulfils(hk->knob, md->device, &hk->current, &found))
			continue;
		print_error("%s: %s: \"%s\" is held, found \"%s\"\n", md->device->name,
			    hk->knob->name, hk->wanted.text, found.text);
		return true;
	}
	return false;
}

/* What is believed of the devices is so. Not told apart from drift: a reset that nobody has looked
 * for yet, and a disk that IO has woken since the last peek. */
static void assert_no_drift(Case *c)
{
	if (now_us(c) < c->fault_us + 3 * USEC_PER_SEC)
		return;
	for_each_device(const Managed, md, &c->f.control->fleet) assert_false(differs(md));
}

/* The shortfall is what the plan is above its budget, no less and no more, and nothing but a floor
 * that is above it makes one. What the budget keeps free for spin-ups is not missing. */
static void assert_shortfall_exact(const Control *m)
{
	const Plan *plan = m->enforcement.plan;
	double over_w = plan->cap_w - plan->budget_w, shortfall_w = plan->shortfall_w, reserve_w;
	Facts facts;

	assert_int_equal(gather_facts(m, gather_policy(m), &facts), 0);
	reserve_w = isfinite(m->limits.budget_w) ? facts.reserve_w : 0;
	facts_done(&facts);

	assert_true(over_w <= shortfall_w + reserve_w + 1e-3);
	if (shortfall_w > 0)
		assert_true(over_w >= shortfall_w - 1e-3);
}

/* What the devices can draw is within the budget, or the shortfall says by how much not. */
static void assert_budget_or_degraded(Case *c)
{
	ControlState s;

	control_state(c->f.control, &s);
	assert_shortfall_exact(c->f.control);
	if (!settled(c))
		return;
	assert_no_drift(c);
	assert_limits_or_degraded(c, &s);
	if (isinf(s.budget_w))
		return;
	assert_int_equal(s.degraded, s.shortfall_w > 0);
	if (s.watts.cap_w > s.budget_w + s.shortfall_w + EPSILON_W)
		print_state(c, &s);
	assert_true(s.watts.cap_w <= s.budget_w + s.shortfall_w + EPSILON_W);
}

static void step(Case *c)
{
	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		if (c->n_cookies < CLAIMS_MAX)
			add_claim(c);
		break;
	case 3:
	case 4:
		if (c->n_cookies)
			end_claim(c);
		break;
	case 5: control_drop_owner(c->f.control, ":1.7"); break;
	case 6:
		if (!c->constant)
			inject(c);
		break;
	case 7: fixture_run(&c->f, below(30)); break;
	}
	fixture_run(&c->f, 0.3 + below(10) / 10.0);
	assert_budget_or_degraded(c);
}

static void end_all(Case *c)
{
	heal(c);
	control_drop_owner(c->f.control, ":1.7");
	while (c->n_cookies)
		end_claim(c);
	fixture_run(&c->f, 200);
}

static void caps_never_exceed_the_budget_and_all_is_given_back(void **state)
{
	unsigned long steps = cases_of(CASES_BY_DEFAULT), done = 0;

	(void)state;
	seed = 20240709;
	while (done < steps) {
		_cleanup_free_ char *after = NULL;
		Case c;

		open_case(&c, false);
		for (unsigned i = 0; i < STEPS_PER_NODE; i++, done++)
			step(&c);
		end_all(&c);
		after = fixture_dump(&c.f);
		overlook_sleep(after);
		if (strcmp(c.before, after))
			print_error("after %lu steps, before:\n%s\nafter:\n%s\n", done, c.before,
				    after);
		assert_string_equal(c.before, after);
		close_case(&c);
	}
	print_message("# %lu steps\n", done);
}

/* Of those that ask for anything. */
static double least_share(const Plan *p)
{
	double least = 1;

	for (size_t i = 0; i < p->n_devices; i++)
		if (p->devices[i].full_mb_s > 0)
			least = MIN(least, p->devices[i].mb_s / p->devices[i].full_mb_s);
	return least;
}

/* Who has the floor that both policies here promise keeps it, and nothing is worth less. */
static void a_higher_budget_never_plans_less(void **state)
{
	unsigned long steps = cases_of(CASES_BY_DEFAULT) / 50, done = 0;

	(void)state;
	seed = 7;
	while (done < steps) {
		double rated, last = 0, last_share = 0, last_floor = INFINITY;
		Case c;

		open_case(&c, true);
		rated = fixture_rated_w(&c.f);
		for (double share = 0; share <= 1.0001; share += 0.02, done++) {
			_cleanup_(plan_freep) Plan *p = NULL;
			_cleanup_free_ char *why = NULL;

			assert_int_equal(control_plan(c.f.control,
						      &(PlanQuery){ .budget_w = rated * share }, &p,
						      &why),
					 0);
			assert_true(p->shortfall_w <= last_floor + EPSILON_W);
			assert_true(p->cap_w <= rated * share + p->shortfall_w + EPSILON_W);
			last_floor = p->shortfall_w;
			if (p->shortfall_w > 0)
				continue; /* for what nothing meets not all is taken */
			if (p->value < last - SPARE_MB_S)
				print_error("%.2f of rated: value %.9f after %.9f\n", share,
					    p->value, last);
			assert_true(p->value >= last - SPARE_MB_S);
			assert_true(least_share(p) >= MIN(last_share, FLOOR_SHARE) - TRADED);
			last = p->value;
			last_share = least_share(p);
		}
		close_case(&c);
	}
}

/* Of which there is always one: the start. */
static const Decision *last_decision(Case *c)
{
	return control_decision(c->f.control, control_decision_count(c->f.control) - 1);
}

static void print_decisions_since(Case *c, uint64_t realtime)
{
	for (size_t i = 0; i < control_decision_count(c->f.control); i++) {
		const Decision *d = control_decision(c->f.control, i);

		if (d->realtime_us > realtime)
			print_error("%s: %s (%s)\n", d->device, d->what, d->why);
	}
}

static void constant_input_does_not_oscillate(void **state)
{
	unsigned long steps = cases_of(CASES_BY_DEFAULT) / 100, done = 0;

	(void)state;
	seed = 99;
	while (done < steps) {
		_cleanup_free_ char *what = NULL;
		uint64_t realtime;
		char limit[16];
		Case c;

		open_case(&c, true);
		snprintf(limit, sizeof(limit), "%u%%", 30 + below(70));
		fixture_set(&c.f, limit);
		fixture_run(&c.f, 90);
		realtime = last_decision(&c)->realtime_us;
		what = strdup(last_decision(&c)->what);
		for (unsigned i = 0; i < 60; i++, done++)
			fixture_run(&c.f, 1);
		print_decisions_since(&c, realtime);
		assert_int_equal(last_decision(&c)->realtime_us, realtime);
		assert_string_equal(last_decision(&c)->what, what);
		close_case(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caps_never_exceed_the_budget_and_all_is_given_back),
		cmocka_unit_test(a_higher_budget_never_plans_less),
		cmocka_unit_test(constant_input_does_not_oscillate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
