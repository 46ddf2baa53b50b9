/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One decision sets a knob once: nothing is taken and given back a moment later. */

#include "test-control.h"

#define MOMENT_US   (100 * USEC_PER_MSEC)
#define WRITES_MOST 1024

typedef struct Writes {
	struct {
		char what[64]; /* device and knob */
		uint64_t when_us;
	} of[WRITES_MOST];
	size_t n;
	size_t n_seen; /* decisions of the diary */
} Writes;

static uint64_t *when_written(Writes *w, const char *what)
{
	size_t i = 0;

	while (i < w->n && !streq(w->of[i].what, what))
		i++;
	if (i == w->n) {
		assert_true(w->n < WRITES_MOST);
		snprintf(w->of[w->n++].what, sizeof(w->of[0].what), "%s", what);
	}
	return &w->of[i].when_us;
}

/* "nr-requests: as found -> depth 64" */
static void note_write(Writes *w, const Fixture *f, const Decision *d)
{
	char what[64];
	uint64_t *when_us;

	if (!strstr(d->what, " -> "))
		return;
	snprintf(what, sizeof(what), "%s %.*s", d->device, (int)strcspn(d->what, ":"), d->what);
	when_us = when_written(w, what);
	if (*when_us && now_us(f) - *when_us < MOMENT_US)
		fail_msg("%s %s, %.2f ms after the last time", d->device, d->what,
			 (double)(now_us(f) - *when_us) / USEC_PER_MSEC);
	*when_us = now_us(f);
}

static void note_writes(Writes *w, const Fixture *f)
{
	size_t n_ever = f->control->diary.decisions.n_ever;
	size_t first = n_ever - control_decision_count(f->control);

	for (; w->n_seen < n_ever; w->n_seen++)
		if (w->n_seen >= first)
			note_write(w, f, control_decision(f->control, w->n_seen - first));
}

static void watch(Fixture *f, double seconds)
{
	uint64_t end_us = now_us(f) + (uint64_t)(seconds * USEC_PER_SEC);
	Writes w = { .n_seen = f->control->diary.decisions.n_ever };

	while (now_us(f) < end_us && virtual_loop_step(f->loop))
		note_writes(&w, f);
}

static void watch_limit(const char *node, const char *policy, double percent, double seconds)
{
	_cleanup_free_ char *path = text_printf("policies/nodes/%s.node", node), *error = NULL;
	Claim c = { .source = "test",
		    .reason = "",
		    .limit = percent,
		    .unit = LIMIT_PERCENT,
		    .expiry_us = USEC_NEVER };
	uint64_t cookie;
	Fixture f;

	print_message("%s, %s, %g %%\n", node, policy, percent);
	fixture_open(&f, path);
	fixture_start(&f);
	assert_int_equal(control_set_policy(f.control, policy, "a test", &error), 0);
	fixture_run(&f, 5);
	assert_int_equal(control_add_claim(f.control, &c, NULL, &cookie, &error), 0);
	watch(&f, seconds);
	fixture_close(&f);
}

/* While disks are on their way to sleep, the others make room at once. */
static void what_sleep_will_save_is_not_spent_before(void **state)
{
	static const char *const nodes[] = { "archive", "mixed", "flash" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(nodes); i++)
		for (double percent = 90; percent >= 50; percent -= 20) {
			watch_limit(nodes[i], "emergency", percent, 0.9);
			watch_limit(nodes[i], "balanced", percent, 0.9);
		}
}

/* A raise that has waited for the dwell meets the next plan. */
static void what_a_look_will_change_is_not_raised_before(void **state)
{
	(void)state;
	watch_limit("mixed", "balanced", 60, 30);
	watch_limit("mixed", "throughput", 60, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_sleep_will_save_is_not_spent_before),
		cmocka_unit_test(what_a_look_will_change_is_not_raised_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
