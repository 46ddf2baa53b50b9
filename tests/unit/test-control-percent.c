/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a percentage means: 100 % is what the devices draw at most in operation, and limits nothing;
 * less costs something as soon as the devices work as hard as they can. */

#include "test-control.h"

#include "base/file.h"
#include "base/text.h"

#define NODE "[node]\nname = test\nseed = 1\nnoise = 0%\npolicy = balanced\nsensors = nvme\n"
#define BUSY                                                                                       \
	"read = 0%\nrandom = 100%\nread_size = 256K\nwrite_size = 256K\ndepth = 64\n"              \
	"demand = saturate\n"
#define PM1733 "[devices drive]\nprofile = samsung-pm1733\ngroup = flash\nqueues = 4\n" BUSY
/* Its specimen works for a tenth more than the profile knows. */
#define DEAR_PM9A3                                                                                 \
	"[devices drive]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 4\n"                    \
	"family_error = +10%\n" BUSY

/* A node file's line, asking for as much as can be served; no cache can be before such a workload.
 */
static const char *saturated_line(const char *line)
{
	if (strncmp(line, "repeat", 6) == 0 || strncmp(line, "cache", 5) == 0)
		return "";
	return strncmp(line, "demand", 6) == 0 && !streq(line, "demand = 100%")
		       ? "demand = saturate" /* not a burst's */
		       : line;
}

static char *saturated(const char *path)
{
	_cleanup_free_ char *found = NULL;
	char *text = strdup(""), *rest, *line;

	assert_int_equal(read_file(path, &found), 0);
	rest = found;
	while ((line = strsep(&rest, "\n"))) {
		char *longer = text_printf("%s%s\n", text, saturated_line(line));

		assert_non_null(longer);
		free(text);
		text = longer;
	}
	return text;
}

static void limit_all_that_there_is(Fixture *f, double percent)
{
	limit(f, SCOPE_NODE, NULL, percent);
	for (size_t i = 0; i < f->control->fleet.n; i++) {
		const Device *d = f->control->fleet.devices[i]->device;

		limit(f, SCOPE_DEVICE, d->name, percent);
		limit(f, SCOPE_GROUP, d->group, percent);
	}
}

static void a_hundred_percent_leaves_every_shipped_node_as_found(void **state)
{
	static const char *const nodes[] = { "archive", "case-study", "flash",
					     "mixed",   "tiny",       "untrue" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(nodes); i++) {
		_cleanup_free_ char *path = text_printf("policies/nodes/%s.node", nodes[i]);
		_cleanup_free_ char *text = saturated(path), *before = NULL, *after = NULL;
		Fixture f = {};

		fixture_open_text(&f, text);
		fixture_start(&f);
		fixture_run(&f, 10);
		before = fixture_dump(&f);
		limit_all_that_there_is(&f, 100);
		fixture_run(&f, 60);
		assert_true(state_of(&f).enforcing && state_of(&f).budget_w == LIMIT_MAX_W);
		after = fixture_dump(&f);
		assert_string_equal(before, after);
		fixture_close(&f);
	}
}

static double served_mb_s(Fixture *f)
{
	fixture_run(f, 30);
	return sim_node_true_mb_s(f->node);
}

/* The drive's descriptor says 25 W, and no point of its profile is above 14 W. */
static void a_drive_that_never_reaches_its_ceiling_feels_sixty_percent(void **state)
{
	static const double tolerances_s[] = { 0, 3 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(tolerances_s); i++) {
		double free_mb_s;
		Fixture f = {};

		fixture_open_text(&f, NODE PM1733);
		fixture_start(&f);
		free_mb_s = served_mb_s(&f);
		fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
					    .limit = 60,
					    .unit = LIMIT_PERCENT,
					    .tolerance_s = tolerances_s[i],
					    .source = "test",
					    .reason = "",
					    .expiry_us = USEC_NEVER });
		assert_float_equal(state_of(&f).budget_w, 0.6 * 14, 0.01);
		assert_true(served_mb_s(&f) < 0.8 * free_mb_s);
		fixture_close(&f);
	}
}

/* It is measured while somebody looks. */
static void look_for(Fixture *f, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		(void)state_of(f);
		fixture_run(f, 1);
	}
}

static void what_is_measured_raises_a_hundred_percent(void **state)
{
	double known_w, seen_w, drawn_w;
	uint64_t cookie;
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE DEAR_PM9A3);
	fixture_start(&f);
	known_w = fixture_operating_w(&f);
	assert_float_equal(known_w, 13.3, 0.01);
	look_for(&f, 30);
	drawn_w = state_of(&f).watts.measured_w;
	seen_w = fixture_operating_w(&f);
	assert_true(seen_w > 1.02 * known_w && seen_w <= 1.02 * drawn_w);
	cookie = limit(&f, SCOPE_DEVICE, f.control->fleet.devices[0]->device->name, 60);
	assert_float_equal(limits_of_device_w(&f.control->limits, f.control->fleet.devices[0]),
			   0.6 * seen_w, 1e-6);
	fixture_release(&f, cookie);
	fixture_run(&f, 1);
	assert_true(fixture_operating_w(&f) >= seen_w);
	fixture_close(&f);
}

static void what_was_measured_outlives_the_daemon(void **state)
{
	double seen_w;
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE DEAR_PM9A3);
	fixture_start(&f);
	look_for(&f, 30);
	seen_w = fixture_operating_w(&f);
	assert_true(seen_w > 1.02 * 13.3);
	fixture_stop(&f);
	fixture_start(&f);
	fixture_run(&f, 1);
	assert_true(fixture_operating_w(&f) == seen_w);
	fixture_close(&f);
}

static void a_limit_does_not_move_while_it_holds(void **state)
{
	double budget_w;
	Fixture f = {};

	(void)state;
	fixture_open_text(&f, NODE DEAR_PM9A3);
	fixture_start(&f);
	limit(&f, SCOPE_NODE, NULL, 100); /* holds nothing, so that the drive draws all it can */
	limit(&f, SCOPE_DEVICE, f.control->fleet.devices[0]->device->name, 100);
	budget_w = fixture_operating_w(&f);
	look_for(&f, 30);
	assert_true(state_of(&f).watts.measured_w > 1.02 * budget_w);
	assert_true(fixture_operating_w(&f) == budget_w);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hundred_percent_leaves_every_shipped_node_as_found),
		cmocka_unit_test(a_drive_that_never_reaches_its_ceiling_feels_sixty_percent),
		cmocka_unit_test(what_is_measured_raises_a_hundred_percent),
		cmocka_unit_test(what_was_measured_outlives_the_daemon),
		cmocka_unit_test(a_limit_does_not_move_while_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
