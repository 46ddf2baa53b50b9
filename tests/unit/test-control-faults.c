/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Knobs that refuse, writes that cannot be seen, a state disk that is full: what was set is given
 * back all the same, and nothing is believed that is not so. */

#include "test-control.h"

#include <errno.h>
#include <sys/resource.h>

#define TINY "policies/nodes/tiny.node"

/* Three knobs of one device at once. */
static const Setting three_knobs = { .chunk_kib = 64, .depth = 32, .power_state = 1 };

static void open_tiny(Fixture *f)
{
	fixture_open(f, TINY);
	fixture_start(f);
	fixture_run(f, 5);
}

static void aim(Fixture *f, const char *device, const Setting *s)
{
	aim_at(f, managed(f, device), s);
}

static void cap_at_half(Fixture *f)
{
	fixture_run(f, 5);
	fixture_set(f, "50%");
	fixture_run(f, 30);
}

static void a_start_that_cannot_restore_keeps_the_true_original(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	fixture_open(&f, TINY);
	before = fixture_dump(&f);
	live_and_be_killed(f.dir, TINY, cap_at_half);
	sim_node_inject(f.node, "nvme0", SIM_REFUSE);
	unlink(f.claims);
	fixture_start(&f);
	fixture_run(&f, 5);
	assert_true(journal_size(f.control->tools.journal) > 0);
	sim_node_inject(f.node, "nvme0", SIM_HEALTHY);
	fixture_run(&f, 120);
	assert_as_found(&f, before);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	cookie = fixture_set(&f, "40%");
	fixture_run(&f, 60);
	fixture_release(&f, cookie);
	fixture_run(&f, 120);
	fixture_stop(&f);
	assert_journal_empty(f.journal);
	assert_as_found(&f, before);
	fixture_close(&f);
}

/* As above, but the cap is put on again while the original is still unrestored. */
static void a_cap_over_a_failed_restore_is_undone_to_the_true_original(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	fixture_open(&f, TINY);
	before = fixture_dump(&f);
	live_and_be_killed(f.dir, TINY, cap_at_half);
	sim_node_inject(f.node, "nvme0", SIM_REFUSE);
	unlink(f.claims);
	fixture_start(&f);
	cookie = fixture_set(&f, "60%");
	fixture_run(&f, 5);
	sim_node_inject(f.node, "nvme0", SIM_HEALTHY);
	fixture_run(&f, 120);
	assert_within_budget(&f);
	fixture_release(&f, cookie);
	fixture_run(&f, 120);
	assert_as_found(&f, before);
	fixture_stop(&f);
	assert_journal_empty(f.journal);
	fixture_close(&f);
}

static void a_write_that_could_not_be_read_back_is_undone(void **state)
{
	_cleanup_free_ char *before = NULL;
	FaultyDevice nvme;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_tiny(&f);
	before = fixture_dump(&f);
	faulty_device_wrap(&nvme, managed(&f, "nvme0")->device, &f.loop->clock);
	nvme.blind = true;
	nvme.of = "io.cost";
	cookie = fixture_set(&f, "50%");
	fixture_run(&f, 0.5);
	assert_true(nvme.unseen);
	assert_non_null(managed(&f, "nvme0")->knobs.problem);
	nvme.blind = false;
	fixture_release(&f, cookie);
	fixture_run(&f, 120);
	assert_as_found(&f, before);
	assert_null(managed(&f, "nvme0")->knobs.problem);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

static void a_knob_that_refuses_does_not_keep_the_others(void **state)
{
	KnobValue chunk, power_state, depth;
	FaultyDevice nvme;
	Fixture f;

	(void)state;
	open_tiny(&f);
	chunk = value_of(&f, "nvme0", "max-sectors");
	power_state = value_of(&f, "nvme0", "nvme-power-state");
	depth = value_of(&f, "nvme0", "nr-requests");
	aim(&f, "nvme0", &three_knobs);
	fixture_run(&f, 2);
	assert_string_not_equal(chunk.text, value_of(&f, "nvme0", "max-sectors").text);
	assert_string_not_equal(depth.text, value_of(&f, "nvme0", "nr-requests").text);
	faulty_device_wrap(&nvme, managed(&f, "nvme0")->device, &f.loop->clock);
	nvme.of = "nr_requests";
	nvme.refuse = true;
	aim(&f, "nvme0", &SETTING_AS_FOUND);
	fixture_run(&f, 30);
	assert_string_equal(chunk.text, value_of(&f, "nvme0", "max-sectors").text);
	assert_string_equal(power_state.text, value_of(&f, "nvme0", "nvme-power-state").text);
	assert_string_not_equal(depth.text, value_of(&f, "nvme0", "nr-requests").text);
	/* it alone stays in the journal, and is tried until it takes */
	assert_int_equal(journal_size(f.control->tools.journal), 1);
	nvme.refuse = false;
	fixture_run(&f, 120);
	assert_string_equal(depth.text, value_of(&f, "nvme0", "nr-requests").text);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

static void stopping_gives_back_what_does_not_refuse(void **state)
{
	FaultyDevice nvme;
	KnobValue chunk, found;
	Device *d;
	Fixture f;

	(void)state;
	open_tiny(&f);
	chunk = value_of(&f, "nvme0", "max-sectors");
	aim(&f, "nvme0", &three_knobs);
	fixture_run(&f, 2);
	d = device_ref(managed(&f, "nvme0")->device);
	faulty_device_wrap(&nvme, d, &f.loop->clock);
	nvme.of = "nr_requests";
	nvme.refuse = true;
	fixture_stop(&f);
	assert_int_equal(knob_find("max-sectors")->read(d, &found), 0);
	assert_string_equal(chunk.text, found.text);
	d = device_unref(d);
	fixture_close(&f);
}

static void set_file_size_limit(rlim_t n)
{
	struct rlimit rl;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &rl), 0);
	rl.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &rl), 0);
}

/* A file size limit of 0 is a full disk to the journal: it can be emptied, but not written. */
static void a_full_state_disk_keeps_nothing_from_being_given_back(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	struct rlimit was;
	Fixture f;

	(void)state;
	open_tiny(&f);
	before = fixture_dump(&f);
	cookie = fixture_set(&f, "50%");
	aim(&f, "nvme0", &three_knobs);
	fixture_run(&f, 5);
	assert_true(journal_size(f.control->tools.journal) > 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	log_set_max_level(LOG_CRIT);
	set_file_size_limit(0);
	fixture_release(&f, cookie);
	fixture_run(&f, 120);
	set_file_size_limit(was.rlim_cur);
	assert_as_found(&f, before);
	fixture_stop(&f);
	assert_journal_empty(f.journal);
	fixture_close(&f);
}

/* No knob can be turned for the first time then, which is one fault, not one for each device. */
static void a_full_state_disk_costs_no_plan_for_each_device(void **state)
{
	struct rlimit was;
	size_t plans;
	Fixture f;

	(void)state;
	fixture_open(&f, "policies/nodes/flash.node");
	fixture_start(&f);
	fixture_run(&f, 5);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	log_set_max_level(LOG_CRIT);
	set_file_size_limit(0);
	fixture_set(&f, "60%");
	plans = count_decisions(&f, "", "devices can draw");
	set_file_size_limit(was.rlim_cur);
	assert_true(state_of(&f).degraded);
	print_message("# %zu plans for 24 devices\n", plans);
	assert_in_range(plans, 1, 6);
	/* there is room again */
	fixture_run(&f, 120);
	assert_within_budget(&f);
	assert_false(state_of(&f).degraded);
	fixture_close(&f);
}

static void while_no_original_can_be_kept_nothing_is_turned(void **state)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	struct rlimit was;
	Fixture f;

	(void)state;
	open_tiny(&f);
	before = fixture_dump(&f);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	log_set_max_level(LOG_CRIT);
	set_file_size_limit(0);
	fixture_set(&f, "50%");
	fixture_run(&f, 60);
	after = fixture_dump(&f);
	set_file_size_limit(was.rlim_cur);
	assert_string_equal(before, after);
	assert_true(state_of(&f).degraded);
	fixture_run(&f, 120);
	assert_within_budget(&f);
	assert_true(journal_size(f.control->tools.journal) > 0);
	fixture_close(&f);
}

static void after_a_failed_raise_the_old_target_is_no_problem(void **state)
{
	Setting low = SETTING_AS_FOUND;
	Managed *nvme;
	double low_w;
	Fixture f;

	(void)state;
	open_tiny(&f);
	nvme = managed(&f, "nvme0");
	low.power_state = 1;
	aim(&f, "nvme0", &low);
	fixture_run(&f, 2);
	low_w = nvme->caps.now_w;
	sim_node_inject(f.node, "nvme0", SIM_REFUSE);
	aim(&f, "nvme0", &SETTING_AS_FOUND);
	fixture_run(&f, 0.01);
	assert_non_null(nvme->knobs.problem);
	sim_node_inject(f.node, "nvme0", SIM_HEALTHY);
	aim(&f, "nvme0", &low);
	assert_true(fabs(nvme->caps.now_w - low_w) < EPSILON_W);
	assert_null(nvme->knobs.problem);
	assert_no_drift(&f);
	fixture_close(&f);
}

static void restoring_reports_what_it_had_to_leave(void **state)
{
	_cleanup_free_ char *before = NULL;
	ControlConfig config;
	Fixture f;

	(void)state;
	fixture_open(&f, TINY);
	before = fixture_dump(&f);
	live_and_be_killed(f.dir, TINY, cap_at_half);
	config = (ControlConfig){ .journal_path = f.journal, SLEEP_DEFAULTS };
	sim_node_inject(f.node, "nvme0", SIM_REFUSE);
	assert_int_equal(control_restore(&config, f.loop, f.node), -EIO);
	sim_node_inject(f.node, "nvme0", SIM_HEALTHY);
	assert_int_equal(control_restore(&config, f.loop, f.node), 0);
	assert_as_found(&f, before);
	assert_journal_empty(f.journal);
	fixture_close(&f);
}

static void a_step_that_cannot_be_started_is_tried_again(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_tiny(&f);
	before = fixture_dump(&f);
	virtual_loop_refuse(f.loop, 5);
	cookie = fixture_set(&f, "50%");
	assert_true(state_of(&f).degraded);
	fixture_run(&f, 60);
	assert_within_budget(&f);
	assert_false(state_of(&f).degraded);
	virtual_loop_refuse(f.loop, 5);
	fixture_release(&f, cookie);
	fixture_run(&f, 60);
	assert_as_found(&f, before);
	fixture_close(&f);
}

/* The writes are done in the devices, their completion not yet seen, and the reset is seen first.
 */
static void a_reset_behind_a_step_in_flight_is_found_and_set_again(void **state)
{
	FaultyDevice late[12];
	unsigned in_flight = 0;
	Fixture f;

	(void)state;
	fixture_open(&f, "policies/nodes/flash.node");
	fixture_start(&f);
	fixture_run(&f, 60);
	fixture_set(&f, "80%");
	fixture_run(&f, 30);
	for (size_t i = 0; i < ELEMENTSOF(late); i++) {
		faulty_device_wrap(&late[i], f.control->fleet.devices[i]->device, &f.loop->clock);
		late[i].hang_us = 5 * USEC_PER_SEC;
		late[i].late = true;
	}
	fixture_set(&f, "50%");
	for (size_t i = 0; i < ELEMENTSOF(late); i++) {
		in_flight += f.control->fleet.devices[i]->errands.busy;
		late[i].hang_us = 0;
		sim_node_inject(f.node, f.control->fleet.devices[i]->device->name, SIM_RESET);
	}
	assert_true(in_flight > 0);
	f.node->ops->process(f.node);
	fixture_run(&f, 60);
	assert_within_budget(&f);
	assert_no_drift(&f);
	assert_false(state_of(&f).degraded);
	assert_true(sim_node_true_watts(f.node) <= f.control->limits.budget_w);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_that_cannot_restore_keeps_the_true_original),
		cmocka_unit_test(a_cap_over_a_failed_restore_is_undone_to_the_true_original),
		cmocka_unit_test(a_write_that_could_not_be_read_back_is_undone),
		cmocka_unit_test(a_knob_that_refuses_does_not_keep_the_others),
		cmocka_unit_test(stopping_gives_back_what_does_not_refuse),
		cmocka_unit_test(a_full_state_disk_keeps_nothing_from_being_given_back),
		cmocka_unit_test(while_no_original_can_be_kept_nothing_is_turned),
		cmocka_unit_test(a_full_state_disk_costs_no_plan_for_each_device),
		cmocka_unit_test(after_a_failed_raise_the_old_target_is_no_problem),
		cmocka_unit_test(restoring_reports_what_it_had_to_leave),
		cmocka_unit_test(a_step_that_cannot_be_started_is_tried_again),
		cmocka_unit_test(a_reset_behind_a_step_in_flight_is_found_and_set_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
