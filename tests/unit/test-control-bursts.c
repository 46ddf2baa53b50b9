/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Random nodes under random limits that tolerate a moment above them: what is tolerated is never
 * exceeded, though all who are busy want everything at the same time, again and again. */

#include "test-control.h"

#include "base/file.h"
#include "cases.h"

#define REGAINED_S 600.0
#define BURSTS     3
#define EVERY_S    120

static uint64_t seed = 7;

static unsigned below(unsigned n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)(seed * 0x2545F4914F6CDD1DULL >> 33) % n;
}

/* Of one profile all are wrong by the same. */
static void write_family(FILE *f, unsigned section, unsigned wrong)
{
	static const char *const profiles[] = { "samsung-pm9a3", "intel-p5510", "dell-ps1010",
						"intel-d3-s4510", "seagate-constellation-es2" };
	static const unsigned most_mb_s[] = { 3000, 3000, 6000, 400, 100 };
	unsigned k = below(ELEMENTSOF(profiles));

	fprintf(f,
		"[devices d%u]\ncount = %u\nprofile = %s\ngroup = g%u\nread = %u%%\nrandom = %u%%\n"
		"read_size = 64K\nwrite_size = 64K\ndepth = %u\nfamily_error = %+d%%\n"
		"demand = constant %u\n",
		section, 1 + below(4), profiles[k], section, below(101), below(101), 8 + below(56),
		(int)((wrong + 8 * k) % 21) - 10, 1 + below(most_mb_s[k]));
}

/* As `untrue`: a meter that sees it late, and profiles that are wrong. */
static void open_random(Fixture *f)
{
	char *text = NULL;
	size_t size;
	FILE *node = open_memstream(&text, &size);
	unsigned families = 1 + below(3), wrong = below(21);

	assert_non_null(node);
	fprintf(node,
		"[node]\nname = random\npolicy = balanced\nseed = %u\nmodel_error = %u%%\n"
		"[sensor node]\nof = node\nnoise = 1%%\nbias = +1%%\ndelay = 500ms\n"
		"[burst]\nevery = %ds\nfor = 20s\ndemand = 100%%\n",
		below(1000), below(4), EVERY_S);
	for (unsigned i = 0; i < families; i++)
		write_family(node, i, wrong);
	fclose(node);
	fixture_open_text(f, text);
	free(text);
	fixture_start(f);
	fixture_run(f, 10 + below(100));
}

/* The most seconds of overload that were spent at a time. */
static double most_spent_s(Fixture *f, double budget_w, double tolerance_s)
{
	double before_s, spent_s = 0, most_s = 0;
	SimOverload o = {};

	/* what was drawn before is not counted */
	assert_true(sim_node_overload(f->node, budget_w, &o) >= 0);
	before_s = o.overload_s;
	for (int k = 0; k < BURSTS * EVERY_S; k++) {
		fixture_run(f, 1);
		assert_true(sim_node_overload(f->node, budget_w, &o) >= 0);
		spent_s = MAX(spent_s + o.overload_s - before_s - tolerance_s / REGAINED_S, 0.0);
		before_s = o.overload_s;
		most_s = MAX(most_s, spent_s);
	}
	return most_s;
}

static void no_burst_spends_more_than_is_tolerated(void **state)
{
	unsigned long nodes = MAX(cases_of(100), 10ul), burst = 0;
	double highest = 0;

	(void)state;
	for (unsigned long k = 0; k < nodes; k++) {
		double tolerance_s = 2 + below(4), budget_w, most_s;
		Fixture f;

		open_random(&f);
		budget_w = (0.6 + below(35) / 100.0) * fixture_rated_w(&f);
		fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
					    .limit = budget_w,
					    .unit = LIMIT_WATTS,
					    .tolerance_s = tolerance_s,
					    .source = "test",
					    .reason = "",
					    .expiry_us = USEC_NEVER });
		most_s = most_spent_s(&f, budget_w, tolerance_s);
		if (state_of(&f).shortfall_w > 0)
			most_s = 0; /* a limit below what they draw at least */
		if (most_s > tolerance_s)
			print_error("node %lu: %.2f of %.0f s above %.1f W of %.1f W\n", k, most_s,
				    tolerance_s, budget_w, fixture_rated_w(&f));
		assert_true(most_s <= tolerance_s);
		highest = MAX(highest, most_s / tolerance_s);
		burst += most_s > 0;
		fixture_close(&f);
	}
	print_message("# %lu nodes of %d bursts, %lu drew more than the limit for a moment, the "
		      "most %.0f %% of what is tolerated\n",
		      nodes, BURSTS, burst, 100 * highest);
	assert_true(burst > nodes / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_burst_spends_more_than_is_tolerated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
