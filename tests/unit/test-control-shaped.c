/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two devices that only depth and chunk can hold, and that fall far short of their profile where
 * chunks are small, as loop devices do: what serves them serves one IO at a time. */

#include "test-control.h"

#include "control/served.h"

#define TOLERANCE_S 3
#define SERVED      0.85 /* of what the best setting within the limit serves */
#define DRAWN       0.94 /* of what that draws, which steps leave below the limit */
#define CHANGES     6    /* of settings in the minute after: a few */

static const char host_bound[] = SIM_NODE(
	"balanced") "[devices flash]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 1\ncount = 2\n"
		    "read = 0%\nrandom = 100%\nread_size = 256K\nwrite_size = 256K\ndepth = 64\n"
		    "demand = saturate\nio_longer = 100us\nio_serial = 100us\n";

static void open_pair(Fixture *f)
{
	fixture_open_text(f, host_bound);
	fixture_start(f);
	f->control->policies.chosen->forbidden |= MECHANISM_PACING | MECHANISM_POWER_STATE;
	control_note_asked(f->control); /* as who looks at the status does */
	fixture_run(f, 8);
}

typedef struct Span {
	double mb_s, watts;
	size_t changes;
} Span;

static double served_mb_s(const Fixture *f)
{
	double sum = 0;

	for_each_device(const Managed, md, &f->control->fleet) sum += workload_mb_s(&md->workload);
	return sum;
}

static bool note_settings(const Fixture *f, Setting *settings)
{
	bool other = false;
	size_t i = 0;

	for_each_device(const Managed, md, &f->control->fleet)
	{
		other |= !setting_equal(&settings[i], &md->knobs.actual);
		settings[i++] = md->knobs.actual;
	}
	return other;
}

static Span look_for(Fixture *f, unsigned seconds)
{
	double start_j = sim_node_joules(f->node);
	Setting settings[2] = {};
	Span s = {};

	note_settings(f, settings);
	for (unsigned i = 0; i < seconds; i++) {
		fixture_run(f, 1);
		s.mb_s += served_mb_s(f) / seconds;
		s.changes += note_settings(f, settings);
	}
	s.watts = (sim_node_joules(f->node) - start_j) / seconds;
	return s;
}

/* The most that both together serve within the limit at one setting for both, by trying each. */
static Span best_within(double limit_w)
{
	Span best = {};
	Fixture f;

	open_pair(&f);
	for (unsigned depth = 1; depth <= 64; depth *= 2)
		for (unsigned chunk_kib = 4; chunk_kib <= 256; chunk_kib *= 2) {
			const Setting s = { .power_state = -1,
					    .depth = depth,
					    .chunk_kib = chunk_kib };
			Span at;

			for_each_device(Managed, md, &f.control->fleet) aim_at(&f, md, &s);
			control_note_asked(f.control);
			fixture_run(&f, 2);
			at = look_for(&f, 2);
			if (at.watts <= limit_w && at.mb_s > best.mb_s)
				best = at;
		}
	fixture_close(&f);
	return best;
}

static void limit_to(Fixture *f, double watts)
{
	fixture_claim(f, &(Claim){ .class = CLASS_OPERATOR,
				   .limit = watts,
				   .unit = LIMIT_WATTS,
				   .tolerance_s = TOLERANCE_S,
				   .source = "test",
				   .reason = "",
				   .expiry_us = USEC_NEVER });
}

static void tell(const Fixture *f)
{
	char setting[128];

	for_each_device(const Managed, md, &f->control->fleet)
		print_message("# %s: %s, serves %.0f MB/s, planned %.0f\n", md->device->name,
			      setting_text(setting, sizeof(setting), &md->knobs.actual),
			      workload_mb_s(&md->workload), md->planned.device.mb_s);
}

static void limited_to(double part)
{
	double limit_w, free_w;
	Span best, held;
	Fixture f;

	open_pair(&f);
	free_w = look_for(&f, 10).watts;
	limit_w = part * free_w;
	best = best_within(limit_w);
	limit_to(&f, limit_w);
	fixture_run(&f, 60);
	held = look_for(&f, 60);
	tell(&f);
	print_message("# %.2f of %.1f W: %.0f MB/s at %.1f W, at best %.0f MB/s at %.1f W; %zu "
		      "changes, overload %.2f s\n",
		      part, free_w, held.mb_s, held.watts, best.mb_s, best.watts, held.changes,
		      state_of(&f).overload.spent_s);
	assert_true(held.mb_s >= SERVED * best.mb_s);
	assert_true(held.watts <= limit_w);
	assert_true(held.watts >= DRAWN * best.watts);
	assert_true(held.changes <= CHANGES);
	assert_true(state_of(&f).overload.spent_s <= TOLERANCE_S);
	fixture_close(&f);
}

static void within_nine_tenths_of_the_draw_they_serve_what_those_watts_can_serve(void **state)
{
	(void)state;
	limited_to(0.9);
}

static void so_they_do_within_four_fifths(void **state)
{
	(void)state;
	limited_to(0.8);
}

static void a_limit_above_the_draw_costs_nothing(void **state)
{
	double free_mb_s, free_w;
	Fixture f;
	Span held, was;

	(void)state;
	open_pair(&f);
	was = look_for(&f, 10);
	free_mb_s = was.mb_s;
	free_w = was.watts;
	limit_to(&f, 1.05 * free_w);
	fixture_run(&f, 10);
	held = look_for(&f, 60);
	tell(&f);
	assert_true(held.mb_s >= 0.99 * free_mb_s);
	assert_true(held.watts <= 1.05 * free_w);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			within_nine_tenths_of_the_draw_they_serve_what_those_watts_can_serve),
		cmocka_unit_test(so_they_do_within_four_fifths),
		cmocka_unit_test(a_limit_above_the_draw_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
