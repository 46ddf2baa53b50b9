/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits that are advised: a plan is made and counted, and nothing is touched. */

#include <errno.h>

#include "test-control.h"

#define WRAPPED_MOST 8
#define DISKS                                                                                      \
	"[devices disk]\ncount = 4\nprofile = seagate-constellation-es2\ngroup = bulk\n"           \
	"read = 60%\nrandom = 70%\nread_size = 256K\nwrite_size = 256K\ndepth = 16\n"              \
	"demand = idle\n"
#define FLASH SIM_FLASH "demand = saturate\ncount = 3\n"

/* Every device of a node, to see what is written to it. */
typedef struct Watched {
	Fixture f;
	FaultyDevice devices[WRAPPED_MOST];
} Watched;

static void open_watched(Watched *w, const char *node)
{
	Fixture *f = &w->f;

	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
	assert_true(f->control->fleet.n <= WRAPPED_MOST);
	for (size_t i = 0; i < f->control->fleet.n; i++)
		faulty_device_wrap(&w->devices[i], f->control->fleet.devices[i]->device,
				   &f->loop->clock);
}

static unsigned count_writes(Watched *w)
{
	unsigned n = 0;

	for (size_t i = 0; i < w->f.control->fleet.n; i++)
		n += w->devices[i].n_writes;
	return n;
}

static AdviceState advice_of(Fixture *f)
{
	return state_of(f).advice;
}

static void assert_nothing_held(Fixture *f)
{
	ControlState s = state_of(f);

	assert_true(s.advice.advises);
	assert_false(s.enforcing || s.degraded);
	assert_true(isinf(s.budget_w));
	assert_true(s.shortfall_w == 0);
	assert_null(s.effective);
	assert_int_equal(journal_size(f->control->tools.journal), 0);
}

/* What a dry run of the same limit says. */
static void assert_advised_as_planned(Fixture *f, double budget_w)
{
	const PlanQuery query = { .budget_w = budget_w };
	_cleanup_(plan_freep) Plan *p = NULL;
	_cleanup_free_ char *error = NULL;
	DeviceState d;

	assert_int_equal(control_plan(f->control, &query, &p, &error), 0);
	for (size_t i = 0; i < p->n_devices; i++) {
		assert_int_equal(control_device(f->control, i, &d), 0);
		assert_non_null(d.advised);
		assert_true(setting_equal(&d.advised->setting, &p->devices[i].setting));
		assert_true(setting_equal(&d.setting, &SETTING_AS_FOUND));
	}
}

static void what_is_advised_is_planned_and_not_done(void **state)
{
	Watched w = {};
	_cleanup_free_ char *before = NULL;
	AdviceState a;

	(void)state;
	open_watched(&w, SIM_NODE("balanced") FLASH DISKS);
	before = fixture_dump(&w.f);
	control_set_mode(w.f.control, true);
	fixture_set(&w.f, "75%");
	a = advice_of(&w.f);
	assert_true(a.cap_w > 0 && a.cap_w <= a.budget_w + EPSILON_W);
	assert_non_null(a.claim);
	assert_true(a.n_devices > 0 && a.changes >= a.n_devices && a.saved_w > 0);
	assert_advised_as_planned(&w.f, a.budget_w);
	fixture_run(&w.f, 600);
	assert_nothing_held(&w.f);
	assert_int_equal(count_writes(&w), 0);
	assert_as_found(&w.f, before);
	assert_journal_empty(w.f.journal);
	fixture_close(&w.f);
}

static void what_would_be_saved_is_what_the_plan_says(void **state)
{
	double saved_w = 0, least_w = 0;
	Fixture f;
	AdviceState a;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") FLASH);
	fixture_start(&f);
	fixture_run(&f, 5);
	control_set_mode(f.control, true);
	fixture_set(&f, "60%");
	a = advice_of(&f);
	for (size_t i = 0; i < f.control->fleet.n; i++) {
		DeviceState d;

		assert_int_equal(control_device(f.control, i, &d), 0);
		saved_w += d.watts.estimated_w - d.advised->expect_w;
		least_w += MAX(d.watts.estimated_w - d.advised->cap_w, 0);
	}
	assert_true(saved_w > 1 && fabs(a.saved_w - saved_w) < 0.01 * saved_w);
	assert_true(least_w > 0 && fabs(a.least_w - least_w) < EPSILON_W);
	assert_true(a.least_w <= a.saved_w && a.lost_mb_s > 0);
	assert_true(a.seconds == 0 && a.joules == 0);
	fixture_run(&f, 100);
	a = advice_of(&f);
	assert_true(fabs(a.seconds - 100) < 3);
	assert_true(fabs(a.joules - saved_w * a.seconds) < 0.05 * a.joules);
	fixture_close(&f);
}

static void a_decision_is_told_once(void **state)
{
	size_t n;
	Fixture f;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") FLASH);
	fixture_start(&f);
	fixture_run(&f, 5);
	control_set_mode(f.control, true);
	fixture_set(&f, "60%");
	fixture_run(&f, 10);
	n = count_decisions(&f, "", "advised, not done");
	assert_true(n > 0);
	fixture_run(&f, 600);
	assert_int_equal(count_decisions(&f, "", "advised, not done"), n);
	fixture_close(&f);
}

static void advising_gives_back_and_enforcing_holds_at_once(void **state)
{
	Watched w = {};
	_cleanup_free_ char *before = NULL;
	const Claim *claim;
	uint64_t cookie;

	(void)state;
	open_watched(&w, SIM_NODE("balanced") FLASH);
	before = fixture_dump(&w.f);
	cookie = fixture_set(&w.f, "60%");
	fixture_run(&w.f, 5);
	assert_within_budget(&w.f);
	assert_true(journal_size(w.f.control->tools.journal) > 0);
	claim = claims_find(control_claims(w.f.control), cookie);
	assert_true(control_claim_in_force(w.f.control, claim));

	control_set_mode(w.f.control, true);
	assert_int_equal(advice_of(&w.f).changes, w.f.control->fleet.n); /* not what was held */
	fixture_run(&w.f, 5);
	assert_nothing_held(&w.f);
	assert_as_found(&w.f, before);
	assert_non_null(claims_find(control_claims(w.f.control), cookie));
	assert_false(control_claim_in_force(w.f.control, claim));
	assert_true(advice_of(&w.f).n_devices > 0);

	control_set_mode(w.f.control, false);
	fixture_run(&w.f, 0.2);
	assert_within_budget(&w.f);
	assert_true(state_of(&w.f).enforcing && !advice_of(&w.f).advises);
	assert_true(control_claim_in_force(w.f.control, claim));
	fixture_release(&w.f, cookie);
	fixture_run(&w.f, 5);
	assert_as_found(&w.f, before);
	fixture_close(&w.f);
}

static void a_limit_that_nobody_holds_is_not_complained_of(void **state)
{
	Fixture f;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") FLASH);
	fixture_start(&f);
	fixture_run(&f, 5);
	control_set_mode(f.control, true);
	fixture_set(&f, "1 W");
	fixture_run(&f, 10);
	assert_nothing_held(&f);
	assert_true(advice_of(&f).shortfall_w > 0);
	fixture_close(&f);
}

static void limits_of_groups_and_devices_are_advised_too(void **state)
{
	Watched w = {};
	uint64_t cookie;

	(void)state;
	open_watched(&w, SIM_NODE("balanced") FLASH);
	control_set_mode(w.f.control, true);
	cookie = limit(&w.f, SCOPE_GROUP, "flash", 60);
	fixture_run(&w.f, 10);
	assert_int_equal(count_writes(&w), 0);
	assert_nothing_held(&w.f);
	assert_true(advice_of(&w.f).n_devices > 0);
	fixture_release(&w.f, cookie);
	assert_int_equal(advice_of(&w.f).n_devices, 0);
	limit(&w.f, SCOPE_DEVICE, w.f.control->fleet.devices[0]->device->name, 60);
	fixture_run(&w.f, 10);
	assert_int_equal(count_writes(&w), 0);
	assert_int_equal(advice_of(&w.f).n_devices, 1);
	fixture_close(&w.f);
}

static void no_time_counts_in_which_nothing_is_advised(void **state)
{
	Fixture f;
	uint64_t cookie;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") FLASH);
	fixture_start(&f);
	fixture_run(&f, 5);
	control_set_mode(f.control, true);
	fixture_run(&f, 3600);
	cookie = fixture_set(&f, "60%");
	fixture_run(&f, 10);
	fixture_release(&f, cookie);
	fixture_run(&f, 3600);
	fixture_set(&f, "60%");
	fixture_run(&f, 10);
	assert_true(advice_of(&f).seconds >= 18 && advice_of(&f).seconds <= 21);
	fixture_close(&f);
}

static void disks_that_would_be_stopped_spin_on(void **state)
{
	Watched w = {};
	DeviceState d;

	(void)state;
	open_watched(&w, SIM_NODE("archive") DISKS);
	control_set_mode(w.f.control, true);
	fixture_set(&w.f, "8 W");
	fixture_run(&w.f, 3600);
	assert_int_equal(count_writes(&w), 0);
	assert_int_equal(count_asleep(&w.f), 0);
	assert_int_equal(account_of_all(&w.f).spin_ups + account_of_all(&w.f).unloads, 0);
	assert_int_equal(advice_of(&w.f).stops, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(control_device(w.f.control, i, &d), 0);
		assert_int_equal(d.sleep.starts_used, 0);
		assert_true(d.sleep.starts_left == d.sleep.starts_a_day);
		assert_true(setting_sleeps(&d.advised->setting));
	}
	fixture_close(&w.f);
}

static void disks_that_sleep_sleep_on(void **state)
{
	Watched w = {};
	unsigned before;

	(void)state;
	open_watched(&w, SIM_NODE("archive") DISKS);
	fixture_set(&w.f, "8 W");
	fixture_run(&w.f, 120);
	assert_int_equal(count_asleep(&w.f), 4);
	before = count_writes(&w);
	control_set_mode(w.f.control, true);
	fixture_run(&w.f, 3600);
	assert_int_equal(count_asleep(&w.f), 4);
	assert_int_equal(count_wakeups(&w.f, NULL), 0);
	assert_int_equal(count_writes(&w), before);
	assert_nothing_held(&w.f);
	fixture_close(&w.f);
}

static void never_tested(int result, double seconds, const char *text, void *userdata)
{
	(void)result, (void)seconds, (void)text, (void)userdata;
	fail();
}

static void no_disk_is_tested(void **state)
{
	Watched w = {};
	_cleanup_free_ char *error = NULL;
	const char *name;

	(void)state;
	open_watched(&w, SIM_NODE("archive") DISKS);
	name = w.f.control->fleet.devices[0]->device->name;
	control_set_mode(w.f.control, true);
	assert_int_equal(control_wake_test(w.f.control, name, never_tested, NULL, &error), -EBUSY);
	assert_non_null(strstr(error, "advised"));
	fixture_run(&w.f, 300);
	assert_int_equal(account_of_all(&w.f).spin_ups, 0);
	fixture_close(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_advised_is_planned_and_not_done),
		cmocka_unit_test(what_would_be_saved_is_what_the_plan_says),
		cmocka_unit_test(a_decision_is_told_once),
		cmocka_unit_test(advising_gives_back_and_enforcing_holds_at_once),
		cmocka_unit_test(a_limit_that_nobody_holds_is_not_complained_of),
		cmocka_unit_test(limits_of_groups_and_devices_are_advised_too),
		cmocka_unit_test(no_time_counts_in_which_nothing_is_advised),
		cmocka_unit_test(disks_that_would_be_stopped_spin_on),
		cmocka_unit_test(disks_that_sleep_sleep_on),
		cmocka_unit_test(no_disk_is_tested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
