/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* State files that are damaged or cannot be written: what is whole is used, what is damaged is
 * kept, and what is lost is said. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "control/limits.h"
#include "flipped.h"
#include "given-back.h"
#include "sim-fixture.h"

#define NODE "policies/nodes/tiny.node"

typedef struct State {
	char folder[32], path[64], aside[64], second[64];
	ControlConfig config;
	Tools tools;
	Limits limits;
} State;

static void open_state(State *s)
{
	*s = (State){ .folder = "/dev/shm/test-state-XXXXXX" }; /* memory: syncs are free */
	assert_non_null(mkdtemp(s->folder));
	snprintf(s->path, sizeof(s->path), "%s/claims", s->folder);
	snprintf(s->aside, sizeof(s->aside), "%s/claims.damaged", s->folder);
	snprintf(s->second, sizeof(s->second), "%s/claims.damaged.2", s->folder);
	s->config.claims_path = s->path;
	s->tools.config = &s->config;
	s->tools.now_us = USEC_PER_SEC;
	assert_int_equal(limits_init(&s->limits), 0);
}

static void close_state(State *s)
{
	limits_done(&s->limits);
	unlink(s->path);
	unlink(s->aside);
	unlink(s->second);
	assert_int_equal(rmdir(s->folder), 0);
}

static void load_anew(State *s)
{
	limits_done(&s->limits);
	assert_int_equal(limits_init(&s->limits), 0);
	assert_int_equal(limits_load(&s->limits, &s->tools), 0);
}

static void add(State *s, const char *reason)
{
	_cleanup_free_ char *error = NULL;
	Fleet none = {};
	uint64_t cookie;

	s->tools.fleet = &none;
	assert_int_equal(limits_add(&s->limits,
				    &(Claim){ .limit = 100,
					      .reason = (char *)reason,
					      .source = (char *)"test",
					      .expiry_us = USEC_NEVER },
				    &s->tools, &cookie, &error),
			 0);
}

static size_t count_claims(const State *s)
{
	size_t n = 0;

	while (claims_get(s->limits.claims, n))
		n++;
	return n;
}

static void check_bytes(const char *path, const char *text, size_t n)
{
	_cleanup_free_ char *found = NULL;
	size_t n_found;

	assert_int_equal(read_bytes(path, &found, &n_found), 0);
	assert_int_equal(n_found, n);
	assert_memory_equal(found, text, n);
}

static char *three_saved_claims(State *s, size_t *ret_n)
{
	char *text = NULL;

	add(s, "first");
	add(s, "second");
	add(s, "third");
	(void)limits_save(&s->limits, &s->tools);
	assert_string_equal(limits_why_unsaved(&s->limits), "");
	assert_int_equal(read_bytes(s->path, &text, ret_n), 0);
	return text;
}

static void whatever_bit_flips_the_file_is_kept_and_the_whole_claims_are_used(void **state)
{
	_cleanup_free_ char *text = NULL;
	State s;
	size_t n;

	(void)state;
	open_state(&s);
	text = three_saved_claims(&s, &n);
	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		assert_int_equal(write_bytes_atomic(s.path, text, n, 0644), 0);
		load_anew(&s);
		assert_in_range(count_claims(&s), 1, 3);
		(void)limits_save(&s.limits, &s.tools);
		check_bytes(s.aside, text, n);
		load_anew(&s); /* what was saved is whole */
		assert_in_range(count_claims(&s), 1, 3);
		(void)limits_save(&s.limits, &s.tools);
		assert_int_equal(access(s.second, F_OK), -1);
		assert_int_equal(unlink(s.aside), 0);
	}
	close_state(&s);
}

static void a_second_damage_does_not_cost_the_first_copy(void **state)
{
	_cleanup_free_ char *text = NULL;
	State s;
	size_t n;

	(void)state;
	open_state(&s);
	text = three_saved_claims(&s, &n);
	for (size_t at = n / 2; at < n / 2 + 2; at++) {
		text[at] = '\0';
		assert_int_equal(write_bytes_atomic(s.path, text, n, 0644), 0);
		load_anew(&s);
		(void)limits_save(&s.limits, &s.tools);
	}
	check_bytes(s.second, text, n);
	text[n / 2 + 1] = 'x';
	assert_int_equal(access(s.aside, F_OK), 0);
	close_state(&s);
}

static void what_cannot_be_kept_is_not_written_over(void **state)
{
	_cleanup_free_ char *text = NULL;
	char name[96];
	State s;
	size_t n;

	(void)state;
	open_state(&s);
	text = three_saved_claims(&s, &n);
	text[n / 2] = '\0';
	assert_int_equal(write_bytes_atomic(s.path, text, n, 0644), 0);
	assert_int_equal(mkdir(s.aside, 0755), 0);
	for (unsigned i = 2; i <= 100; i++) {
		snprintf(name, sizeof(name), "%s.damaged.%u", s.path, i);
		assert_int_equal(mkdir(name, 0755), 0);
	}
	load_anew(&s);
	add(&s, "new");
	assert_true(limits_save(&s.limits, &s.tools));
	assert_string_not_equal(limits_why_unsaved(&s.limits), "");
	check_bytes(s.path, text, n);
	for (unsigned i = 2; i <= 100; i++) {
		snprintf(name, sizeof(name), "%s.damaged.%u", s.path, i);
		assert_int_equal(rmdir(name), 0);
	}
	s.tools.now_us = s.limits.save_due_us;
	assert_true(limits_save(&s.limits, &s.tools));
	check_bytes(s.second, text, n);
	assert_int_equal(rmdir(s.aside), 0);
	close_state(&s);
}

static void a_save_that_failed_is_tried_again_until_it_succeeds(void **state)
{
	uint64_t last_us = 0, begin_us, wait_us = 0;
	_cleanup_free_ char *away = NULL;
	State s;

	(void)state;
	open_state(&s);
	away = text_printf("%s-away", s.folder);
	assert_int_equal(rename(s.folder, away), 0);
	begin_us = s.tools.now_us;
	add(&s, "first");
	assert_true(limits_save(&s.limits, &s.tools));
	assert_string_equal(limits_why_unsaved(&s.limits), "No such file or directory");
	while (s.tools.now_us < begin_us + 600 * USEC_PER_SEC) {
		wait_us = s.limits.save_due_us - s.tools.now_us;
		assert_in_range(wait_us, USEC_PER_SEC, 60 * USEC_PER_SEC);
		assert_true(wait_us >= last_us);
		last_us = wait_us;
		s.tools.now_us = s.limits.save_due_us;
		assert_false(limits_save(&s.limits, &s.tools)); /* no news */
	}
	assert_true(wait_us == 60 * USEC_PER_SEC);
	assert_int_equal(rename(away, s.folder), 0);
	s.tools.now_us = s.limits.save_due_us;
	assert_true(limits_save(&s.limits, &s.tools));
	assert_string_equal(limits_why_unsaved(&s.limits), "");
	assert_true(s.limits.save_due_us == USEC_NEVER);
	load_anew(&s);
	assert_int_equal(count_claims(&s), 1);
	close_state(&s);
}

/* The turns do it by themselves, and the node says so meanwhile. */
static void the_daemon_saves_by_itself_once_there_is_room(void **state)
{
	_cleanup_free_ char *blocked = NULL, *inside = NULL;
	Fixture f = {};
	ControlState now;

	(void)state;
	fixture_open(&f, NODE);
	log_set_max_level(LOG_CRIT);
	blocked = text_printf("%s.new", f.claims);
	inside = text_printf("%s/x", blocked);
	assert_int_equal(mkdir(blocked, 0755) | mkdir(inside, 0755), 0);
	fixture_start(&f);
	control_state(f.control, &now);
	assert_string_equal(now.claims_unsaved, "");
	fixture_set(&f, "80%");
	fixture_run(&f, 5);
	control_state(f.control, &now);
	assert_true(*now.claims_unsaved && now.enforcing);
	assert_int_equal(access(f.claims, F_OK), -1);
	assert_int_equal(rmdir(inside) | rmdir(blocked), 0);
	fixture_run(&f, 60);
	control_state(f.control, &now);
	assert_string_equal(now.claims_unsaved, "");
	assert_int_equal(access(f.claims, F_OK), 0);
	fixture_close(&f);
}

typedef struct Bytes {
	char *text;
	size_t n;
} Bytes;

/* A node in a folder of its own, and what a daemon left that was killed under a budget. */
typedef struct Killed {
	char folder[40];
	char *before;
	Bytes registers, journal;
} Killed;

static Bytes read_in(const char *path)
{
	Bytes b;

	assert_int_equal(read_bytes(path, &b.text, &b.n), 0);
	return b;
}

static void kill_under_a_budget(Killed *k)
{
	Fixture f = {};

	*k = (Killed){ .folder = "/dev/shm/test-restore-XXXXXX" };
	assert_non_null(mkdtemp(k->folder));
	fixture_open_in(&f, NODE, k->folder);
	k->before = fixture_dump(&f);
	fixture_start(&f);
	fixture_set(&f, "60%");
	fixture_run(&f, 5);
	k->registers = read_in(f.registers);
	k->journal = read_in(f.journal);
	fixture_close(&f);
}

static void forget_killed(Killed *k)
{
	_cleanup_free_ char *clean = text_printf("rm -r '%s'", k->folder);

	assert_int_equal(system(clean), 0);
	free(k->before);
	free(k->registers.text);
	free(k->journal.text);
}

/* What control_restore() makes of that, with the journal as it is now; and whether all is as it was
 * before the budget. */
static int restore_killed(const Killed *k, bool *ret_as_before)
{
	_cleanup_free_ char *path = text_printf("%s/registers", k->folder), *after = NULL;
	Fixture f = {};
	ControlConfig config;
	int r;

	assert_int_equal(write_bytes_atomic(path, k->registers.text, k->registers.n, 0644), 0);
	fixture_open_in(&f, NODE, k->folder);
	log_set_max_level(LOG_CRIT);
	assert_int_equal(write_bytes_atomic(f.journal, k->journal.text, k->journal.n, 0600), 0);
	config = (ControlConfig){ .journal_path = f.journal, SLEEP_DEFAULTS };
	r = control_restore(&config, f.loop, f.node);
	after = fixture_dump(&f);
	overlook_sleep(after);
	*ret_as_before = streq(after, k->before);
	freep(&path);
	path = text_printf("%s.damaged", f.journal);
	unlink(path);
	fixture_close(&f);
	return r;
}

static void a_restore_that_may_leave_something_changed_is_no_success(void **state)
{
	unsigned failed = 0, left = 0;
	bool as_before;
	Killed k;

	(void)state;
	kill_under_a_budget(&k);
	assert_int_equal(restore_killed(&k, &as_before), 0);
	assert_true(as_before);
	for (size_t at = 0; flip(k.journal.text, k.journal.n, at); at += 7) {
		int r = restore_killed(&k, &as_before);

		assert_true(r == 0 || r == -EBADMSG);
		assert_true(as_before || r < 0);
		failed += r < 0;
		left += !as_before;
		flip(k.journal.text, k.journal.n, at);
	}
	assert_in_range(left, 20, failed);
	forget_killed(&k);
}

static void write_originals(const char *path, const char *const ids[], const char *knob)
{
	_cleanup_(journal_closep) Journal *j = NULL;
	char boot_id[37];

	assert_int_equal(read_boot_id(boot_id), 0);
	assert_int_equal(journal_open(path, boot_id, &j), 0);
	for (; *ids; ids++)
		assert_int_equal(journal_record(j, *ids, knob, &(KnobValue){ "128" }), 0);
	assert_int_equal(journal_sync(j), 0);
}

static size_t records_left(const char *path, const char *id)
{
	_cleanup_(journal_closep) Journal *j = NULL;

	assert_int_equal(journal_open(path, "any", &j), 0);
	return journal_size_of(j, id);
}

/* Of devices that are gone, in the same boot: what lived in the kernel for them is no more. */
static void what_is_gone_for_good_is_no_failure(void **state)
{
	static const struct {
		const char *knob;
		size_t left;
	} cases[] = { { "nr-requests", 0 },
		      { "io-cost", 0 },
		      { "nvme-power-state", 1 }, /* the drive keeps it */
		      { "link-power", 1 } };     /* its host has it */
	Fixture f = {};

	(void)state;
	fixture_open(&f, NODE);
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		const char *const ids[] = { "wwid:gone", NULL };
		const ControlConfig config = { .journal_path = f.journal, SLEEP_DEFAULTS };

		write_originals(f.journal, ids, cases[i].knob);
		assert_int_equal(control_restore(&config, f.loop, f.node), 0);
		assert_int_equal(records_left(f.journal, "wwid:gone"), cases[i].left);
		unlink(f.journal);
	}
	fixture_close(&f);
}

static void what_is_hidden_for_the_moment_keeps_its_record(void **state)
{
	Fixture f = {};
	ControlConfig config;
	const Device *d;

	(void)state;
	fixture_open(&f, NODE);
	d = sim_node_device(f.node, 0);
	config = (ControlConfig){ .journal_path = f.journal, SLEEP_DEFAULTS };
	write_originals(f.journal, (const char *const[]){ d->id, NULL }, "nr-requests");
	assert_int_equal(sim_node_inject(f.node, d->name, SIM_VANISH), 0);
	assert_int_equal(control_restore(&config, f.loop, f.node), 0);
	assert_int_equal(records_left(f.journal, d->id), 1);
	fixture_close(&f);
}

static int read_no_namespace(Device *d, const char *attr, char *buf, size_t size)
{
	(void)d;
	(void)attr;
	(void)buf;
	(void)size;
	return -ENXIO;
}

/* What was set on a namespace went with it; the controller is there. */
static void what_went_with_a_part_of_a_device_is_forgotten(void **state)
{
	const DeviceOps *healthy;
	DeviceOps ops;
	Fixture f = {};
	Device *d;

	(void)state;
	fixture_open(&f, NODE);
	d = (Device *)sim_node_device(f.node, 0);
	write_originals(f.journal, (const char *const[]){ d->id, NULL }, "nr-requests");
	healthy = d->ops;
	ops = *healthy;
	ops.attr_read = read_no_namespace;
	d->ops = &ops;
	fixture_start(&f);
	fixture_run(&f, 3);
	fixture_stop(&f);
	assert_int_equal(records_left(f.journal, d->id), 0);
	d->ops = healthy;
	fixture_close(&f);
}

/* The same of a daemon that ends after a device has left it. */
static void a_daemons_end_forgets_what_went_with_a_device(void **state)
{
	Fixture f = {};

	(void)state;
	fixture_open(&f, NODE);
	write_originals(f.journal, (const char *const[]){ "wwid:gone", NULL }, "nr-requests");
	fixture_start(&f);
	fixture_stop(&f);
	assert_int_equal(records_left(f.journal, "wwid:gone"), 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_bit_flips_the_file_is_kept_and_the_whole_claims_are_used),
		cmocka_unit_test(a_second_damage_does_not_cost_the_first_copy),
		cmocka_unit_test(what_cannot_be_kept_is_not_written_over),
		cmocka_unit_test(a_save_that_failed_is_tried_again_until_it_succeeds),
		cmocka_unit_test(the_daemon_saves_by_itself_once_there_is_room),
		cmocka_unit_test(a_restore_that_may_leave_something_changed_is_no_success),
		cmocka_unit_test(what_is_gone_for_good_is_no_failure),
		cmocka_unit_test(what_is_hidden_for_the_moment_keeps_its_record),
		cmocka_unit_test(what_went_with_a_part_of_a_device_is_forgotten),
		cmocka_unit_test(a_daemons_end_forgets_what_went_with_a_device),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
