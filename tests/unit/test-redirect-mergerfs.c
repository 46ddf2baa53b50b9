/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* New files steered away from one branch of a mergerfs, whose list of branches is a text. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fake-upper.h"
#include "stack/mergerfs-branch.h"

#define KNOB "redirect-mergerfs"

typedef struct Pool {
	char branches[8192];
	const char *own, *second, *create, *space;
	int error;  /* of every reading */
	int refuse; /* of every writing */
	bool ignore, unmounted;
	unsigned writes;
	/* somebody else's list, put there once the knob has read the branches so often */
	const char *meanwhile;
	unsigned after;
} Pool;

static const char *answer(const Pool *p, const char *what)
{
	if (streq(what, "branch"))
		return p->own;
	if (streq(what, "second"))
		return p->second ?: "";
	if (streq(what, "mount"))
		return "/pool";
	if (streq(what, "create"))
		return p->create ?: "mfs";
	return streq(what, "space") ? p->space : NULL;
}

static int pool_read(Device *d, const char *component, const char *what, char *buf, size_t size)
{
	Pool *p = d->impl;
	const char *text = answer(p, what);

	assert_string_equal(component, "mergerfs");
	if (p->error || p->unmounted)
		return p->error ?: -ENOENT;
	if (streq(what, "branches")) {
		if (p->meanwhile && p->after-- == 0) {
			snprintf(p->branches, sizeof(p->branches), "%s", p->meanwhile);
			p->meanwhile = NULL;
		}
		text = p->branches;
	}
	if (!text)
		return -ENOENT;
	return (size_t)snprintf(buf, size, "%s", text) < size ? 0 : -ENOBUFS;
}

static int pool_write(Device *d, const char *component, const char *what, const char *value)
{
	Pool *p = d->impl;

	assert_string_equal(component, "mergerfs");
	assert_string_equal(what, "branches");
	p->writes++;
	if (p->refuse)
		return p->refuse;
	if (!p->ignore)
		snprintf(p->branches, sizeof(p->branches), "%s", value);
	return 0;
}

static Device *pool_device(Pool *p)
{
	static const DeviceOps ops = { .upper_read = pool_read, .upper_write = pool_write };
	Device *d = device_new("fake:sda", "sda", "", KIND_HDD, &ops, p);

	assert_non_null(d);
	return d;
}

static void expect(Device *d, const char *value, const char *branches)
{
	KnobValue v;

	assert_int_equal(knob_find(KNOB)->read(d, &v), 0);
	assert_string_equal(v.text, value);
	assert_string_equal(((Pool *)d->impl)->branches, branches);
}

static KnobValue original_of(Device *d)
{
	KnobValue v;

	assert_int_equal(knob_find(KNOB)->read(d, &v), 0);
	return v;
}

static int probe(Device *d, char **ret_why)
{
	Offer offer = {};
	int r = knob_find(KNOB)->probe(d, &offer, ret_why);

	assert_int_equal(offer.mechanisms, r == 0 ? MECHANISM_REDIRECT : 0);
	assert_true(offer.redirects_writes == (r == 0) && !offer.redirects_reads);
	return r;
}

static void refused(Device *d, const char *words)
{
	_cleanup_free_ char *why = NULL;

	assert_int_equal(probe(d, &why), -EOPNOTSUPP);
	if (!why || !strstr(why, words))
		fail_msg("\"%s\" does not say \"%s\"", why ?: "", words);
}

static void offered(Device *d)
{
	_cleanup_free_ char *why = NULL;

	if (probe(d, &why) != 0)
		fail_msg("%s", why ?: "");
}

static void its_branch_takes_no_new_files_while_held(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/hdd1=RO:/ssd=RW", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	offered(d);
	assert_string_equal(original.text, "/hdd0=RW");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/hdd0=NC", "/hdd0=NC:/hdd1=RO:/ssd=RW");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	expect(d, "/hdd0=RW", "/hdd0=RW:/hdd1=RO:/ssd=RW");
	assert_int_equal(p.writes, 2);
}

static void limits_of_branches_are_kept(void **state)
{
	Pool p = { .branches = "/hdd0=RW,10G:/ssd=RW,1G", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/hdd0=NC", "/hdd0=NC,10G:/ssd=RW,1G");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, "/hdd0=RW", "/hdd0=RW,10G:/ssd=RW,1G");
}

static void two_branches_on_one_disk_are_held_together(void **state)
{
	Pool p = { .branches = "/d/a b=RW:/ssd=RW:/d/x=y=RO:/d/c=RW", .own = "/d/a b:/d/c" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	assert_string_equal(original.text, "/d/a b=RW:/d/c=RW");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/d/a b=NC:/d/c=NC", "/d/a b=NC:/ssd=RW:/d/x=y=RO:/d/c=NC");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, original.text, "/d/a b=RW:/ssd=RW:/d/x=y=RO:/d/c=RW");
}

static void only_a_branch_that_takes_files_is_changed(void **state)
{
	Pool p = { .branches = "/hdd0=RO:/ssd=RW", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/hdd0=RO", "/hdd0=RO:/ssd=RW");
	assert_int_equal(p.writes, 0);
}

static void others_edits_survive(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	/* a branch more, another order, a limit of its own */
	strcpy(p.branches, "/ssd=RW,1G:/new=RO:/hdd0=NC,5G");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, "/hdd0=RW", "/ssd=RW,1G:/new=RO:/hdd0=RW,5G");
}

static void a_long_list_is_no_obstacle(void **state)
{
	Pool p = { .own = "/srv/disks/40" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	_cleanup_free_ char *before = NULL;
	KnobValue original;
	char *at;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		sprintf(p.branches + strlen(p.branches), "%s/srv/disks/%02u=RW,100G", i ? ":" : "",
			i);
	before = strdup(p.branches);
	original = original_of(d);
	assert_string_equal(original.text, "/srv/disks/40=RW");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	at = strstr(p.branches, "/40=NC,100G:");
	assert_non_null(at);
	memcpy(at, "/40=RW", 6);
	assert_string_equal(p.branches, before);
	memcpy(at, "/40=NC", 6);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	assert_string_equal(p.branches, before);
}

static void names_too_long_for_the_journal_are_not_offered(void **state)
{
	char path[300] = "/", branches[400];
	Pool p = { .own = path };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);

	(void)state;
	memset(path + 1, 'x', sizeof(path) - 2);
	path[sizeof(path) - 1] = '\0';
	snprintf(branches, sizeof(branches), "%s=RW:/ssd=RW", path);
	strcpy(p.branches, branches);
	refused(d, "too long");
}

static void without_another_branch_for_files_it_is_not_offered(void **state)
{
	static const char *const lists[] = { "/hdd0=RW", "/hdd0=RW:/ssd=RO",
					     "/hdd0=RW:/ssd=NC,1G:/b=RO" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(lists); i++) {
		Pool p = { .own = "/hdd0" };
		_cleanup_(device_unrefp) Device *d = pool_device(&p);

		strcpy(p.branches, lists[i]);
		refused(d, "no other branch of /pool takes new files");
	}
}

static void the_last_branch_for_files_is_never_closed(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	/* it is seen by the write alone, after all was well when it was looked at */
	p.meanwhile = "/hdd0=RW:/ssd=NC";
	p.after = 1;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -ENOSPC);
	expect(d, "/hdd0=RW", "/hdd0=RW:/ssd=NC");
	assert_int_equal(p.writes, 0);
}

static void a_held_branch_is_put_back_though_nothing_else_takes_files(void **state)
{
	Pool p = { .branches = "/hdd0=NC:/ssd=NC", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	const KnobValue original = { "/hdd0=RW" };

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, "/hdd0=RW", "/hdd0=RW:/ssd=NC");
}

static void a_policy_of_existing_paths_is_not_offered(void **state)
{
	static const char *const bad[] = { "epmfs", "epff", "newest", "mfs,epmfs" };
	static const char *const good[] = { "mfs", "ff", "pfrd", "mspmfs", "all", "lus,rand" };
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		p.create = bad[i];
		refused(d, "where their folder is");
	}
	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		p.create = good[i];
		offered(d);
	}
}

static void a_disk_in_two_pools_is_not_offered(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0", .second = "/media" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);

	(void)state;
	refused(d, "/pool and /media");
}

static void one_that_cannot_be_asked_is_not_offered_and_not_taken_for_gone(void **state)
{
	Pool p = { .branches = "/hdd0=NC:/ssd=RW", .own = "/hdd0", .error = -ENOTCONN };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	const KnobValue original = { "/hdd0=RW" };
	KnobValue v;

	(void)state;
	refused(d, "cannot be asked");
	assert_int_equal(knob_find(KNOB)->read(d, &v), -ENOTCONN);
	assert_int_equal(knob_apply(knob_find(KNOB), d, &original, NULL), -ENOTCONN);
	assert_int_equal(p.writes, 0);
}

static void unmounted_or_taken_out_there_is_nothing_to_put_back(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d), v;

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	strcpy(p.branches, "/ssd=RW");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	p.unmounted = true;
	assert_int_equal(knob_find(KNOB)->read(d, &v), 0);
	assert_string_equal(v.text, "none");
	assert_int_equal(knob_apply(knob_find(KNOB), d, &original, NULL), 0);
	refused(d, "no mergerfs has a branch");
	assert_int_equal(p.writes, 1);
}

static void a_refused_write_is_an_error_and_an_ignored_one_found(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0", .refuse = -EINVAL };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -EINVAL);
	p.refuse = -EBUSY;
	p.writes = 0;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -EBUSY);
	assert_int_equal(p.writes, 4);
	p.refuse = 0;
	p.ignore = true;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -EREMOTEIO);
	p.ignore = false;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
}

static void the_room_is_what_is_free_elsewhere(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .own = "/hdd0", .space = "1099511627776 4096" };
	_cleanup_(device_unrefp) Device *d = pool_device(&p);
	CacheState c;

	(void)state;
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_true(c.size_bytes == 1ULL << 40 && c.room_bytes == 4096 && !c.dirty_bytes);
	p.space = "much";
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -EBADMSG);
	p.error = -EIO;
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -EIO);
}

/* Two disks of one mergerfs, each with a thread of its own; between a reading and a writing the
 * other has its turn. */

typedef struct Shared {
	pthread_mutex_t lock;
	char branches[64];
} Shared;

typedef struct Worker {
	Shared *shared;
	const char *own;
	int failure;
} Worker;

static int shared_read(Device *d, const char *component, const char *what, char *buf, size_t size)
{
	const Worker *w = d->impl;

	(void)component;
	if (streq(what, "branch"))
		snprintf(buf, size, "%s", w->own);
	pthread_mutex_lock(&w->shared->lock);
	if (streq(what, "branches"))
		snprintf(buf, size, "%s", w->shared->branches);
	pthread_mutex_unlock(&w->shared->lock);
	sched_yield();
	return 0;
}

static int shared_write(Device *d, const char *component, const char *what, const char *value)
{
	const Worker *w = d->impl;

	(void)component;
	(void)what;
	pthread_mutex_lock(&w->shared->lock);
	snprintf(w->shared->branches, sizeof(w->shared->branches), "%s", value);
	pthread_mutex_unlock(&w->shared->lock);
	return 0;
}

static void *turn_often(void *userdata)
{
	static const DeviceOps ops = { .upper_read = shared_read, .upper_write = shared_write };
	Worker *w = userdata;
	_cleanup_(device_unrefp) Device *d = device_new("id", w->own, "", KIND_HDD, &ops, w);
	KnobValue value;

	for (unsigned i = 0; i < 1000 && d && !w->failure; i++) {
		snprintf(value.text, sizeof(value.text), "%s=%s", w->own, i % 2 ? "RW" : "NC");
		w->failure = knob_apply(knob_find(KNOB), d, &value, NULL);
	}
	return NULL;
}

static void disks_of_one_mergerfs_do_not_undo_each_other(void **state)
{
	Shared shared = { PTHREAD_MUTEX_INITIALIZER, "/hdd0=RW:/hdd1=RW:/ssd=RW" };
	Worker workers[] = { { &shared, "/hdd0", 0 }, { &shared, "/hdd1", 0 } };
	pthread_t threads[2];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, turn_often, &workers[i]), 0);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(workers[0].failure, 0);
	assert_int_equal(workers[1].failure, 0);
	assert_string_equal(shared.branches, "/hdd0=RW:/hdd1=RW:/ssd=RW");
}

static void branches_are_taken_apart_as_mergerfs_does(void **state)
{
	const char *list = "/a=b=NC,1G:/c::/d=RO", *at = list;
	MergerfsBranch b;

	(void)state;
	assert_true(mergerfs_branch_next(&at, &b));
	assert_true(b.path_length == 4 && strncmp(b.path, "/a=b", 4) == 0);
	assert_true(mergerfs_branch_is(&b, "NC") && !mergerfs_branch_is(&b, "N"));
	assert_true(b.options_length == 3 && strncmp(b.options, ",1G", 3) == 0);
	assert_true(mergerfs_branch_next(&at, &b));
	assert_true(b.path_length == 2 && mergerfs_branch_is(&b, "RW") && !b.options_length);
	assert_true(mergerfs_branch_next(&at, &b) && b.path_length == 0);
	assert_true(mergerfs_branch_next(&at, &b) && mergerfs_branch_is(&b, "RO"));
	assert_false(mergerfs_branch_next(&at, &b));
	assert_true(mergerfs_branch_find(list, "/d", 2, &b) && mergerfs_branch_is(&b, "RO"));
	assert_false(mergerfs_branch_find(list, "/a", 2, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_branch_takes_no_new_files_while_held),
		cmocka_unit_test(limits_of_branches_are_kept),
		cmocka_unit_test(two_branches_on_one_disk_are_held_together),
		cmocka_unit_test(only_a_branch_that_takes_files_is_changed),
		cmocka_unit_test(others_edits_survive),
		cmocka_unit_test(a_long_list_is_no_obstacle),
		cmocka_unit_test(names_too_long_for_the_journal_are_not_offered),
		cmocka_unit_test(without_another_branch_for_files_it_is_not_offered),
		cmocka_unit_test(the_last_branch_for_files_is_never_closed),
		cmocka_unit_test(a_held_branch_is_put_back_though_nothing_else_takes_files),
		cmocka_unit_test(a_policy_of_existing_paths_is_not_offered),
		cmocka_unit_test(a_disk_in_two_pools_is_not_offered),
		cmocka_unit_test(one_that_cannot_be_asked_is_not_offered_and_not_taken_for_gone),
		cmocka_unit_test(unmounted_or_taken_out_there_is_nothing_to_put_back),
		cmocka_unit_test(a_refused_write_is_an_error_and_an_ignored_one_found),
		cmocka_unit_test(the_room_is_what_is_free_elsewhere),
		cmocka_unit_test(disks_of_one_mergerfs_do_not_undo_each_other),
		cmocka_unit_test(branches_are_taken_apart_as_mergerfs_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
