/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* New files steered away from one branch of a mergerfs, whose list of branches is a text: what the
 * host would be asked is answered by this file. */

#include "redirect-knob.h"

#include <pthread.h>
#include <sched.h>

#include "redirect/mergerfs-branch.h"
#include "redirect/mergerfs-host.h"

#define KNOB "redirect-mergerfs"

typedef struct Pool {
	pthread_mutex_t lock;
	char branches[8192];
	const char *second, *create;
	CacheState space;
	int error;  /* of every reading */
	int refuse; /* of every writing */
	bool ignore, unmounted;
	unsigned writes;
	/* somebody else's list, put there once the knob has looked so often */
	const char *meanwhile;
	unsigned after;
} Pool;

/* A disk of the pool. */
typedef struct Disk {
	Pool *pool;
	const char *own;
} Disk;

static char *copy(const char *text)
{
	char *s = strdup(text);

	assert_non_null(s);
	return s;
}

/* What is in mergerfs-host.c otherwise; between a reading and a writing the other disk has its
 * turn.
 */

static Pool *current; /* of whom the host is asked without a device */

int mergerfs_find(Device *d, Merged *ret)
{
	const Disk *disk = d->impl;
	Pool *p = disk->pool;

	if (p->error || p->unmounted)
		return p->error ?: -ENOENT;
	pthread_mutex_lock(&p->lock);
	current = p;
	if (p->meanwhile && p->after-- == 0) {
		snprintf(p->branches, sizeof(p->branches), "%s", p->meanwhile);
		p->meanwhile = NULL;
	}
	*ret = (Merged){ .mount = copy("/pool"),
			 .second = p->second ? copy(p->second) : NULL,
			 .branches = copy(p->branches),
			 .own = copy(disk->own) };
	pthread_mutex_unlock(&p->lock);
	sched_yield();
	return 0;
}

void merged_done(Merged *m)
{
	free(m->mount);
	free(m->second);
	free(m->branches);
	free(m->own);
}

int mergerfs_create_policies(const Merged *m, char **ret)
{
	(void)m;
	*ret = copy(current->create ?: "mfs");
	return 0;
}

int mergerfs_space(const Merged *m, CacheState *ret)
{
	(void)m;
	*ret = current->space;
	return 0;
}

int mergerfs_set_branches(const Merged *m, const char *branches)
{
	Pool *p = current;

	(void)m;
	p->writes++;
	if (p->refuse)
		return p->refuse;
	pthread_mutex_lock(&p->lock);
	if (!p->ignore)
		snprintf(p->branches, sizeof(p->branches), "%s", branches);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

#define POOL_DISK(disk, p, path)                                                                   \
	Disk disk = { &(p), path };                                                                \
	_cleanup_(device_unrefp) Device *d = pool_device(&disk)

static Device *pool_device(Disk *disk)
{
	static const DeviceOps ops = {};

	return fake_disk(&ops, disk, "");
}

static void expect(Device *d, const char *value, const char *branches)
{
	KnobValue v;

	assert_int_equal(knob_find(KNOB)->read(d, &v), 0);
	assert_string_equal(v.text, value);
	assert_string_equal(((Disk *)d->impl)->pool->branches, branches);
}

static void refused(Device *d, const char *words)
{
	probe_refused(KNOB, d, words);
}

static void offered(Device *d)
{
	Offer offer = probe_offered(KNOB, d);

	assert_true(offer.redirects_writes && !offer.redirects_reads);
}

static void its_branch_takes_no_new_files_while_held(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/hdd1=RO:/ssd=RW" };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d);

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
	Pool p = { .branches = "/hdd0=RW,10G:/ssd=RW,1G" };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/hdd0=NC", "/hdd0=NC,10G:/ssd=RW,1G");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, "/hdd0=RW", "/hdd0=RW,10G:/ssd=RW,1G");
}

static void two_branches_on_one_disk_are_held_together(void **state)
{
	Pool p = { .branches = "/d/a b=RW:/ssd=RW:/d/x=y=RO:/d/c=RW" };
	POOL_DISK(disk, p, "/d/a b:/d/c");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_string_equal(original.text, "/d/a b=RW:/d/c=RW");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/d/a b=NC:/d/c=NC", "/d/a b=NC:/ssd=RW:/d/x=y=RO:/d/c=NC");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, original.text, "/d/a b=RW:/ssd=RW:/d/x=y=RO:/d/c=RW");
}

static void only_a_branch_that_takes_files_is_changed(void **state)
{
	Pool p = { .branches = "/hdd0=RO:/ssd=RW" };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect(d, "/hdd0=RO", "/hdd0=RO:/ssd=RW");
	assert_int_equal(p.writes, 0);
}

static void others_edits_survive(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW" };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	/* a branch more, another order, a limit of its own */
	strcpy(p.branches, "/ssd=RW,1G:/new=RO:/hdd0=NC,5G");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, "/hdd0=RW", "/ssd=RW,1G:/new=RO:/hdd0=RW,5G");
}

static void a_long_list_is_no_obstacle(void **state)
{
	Pool p = {};
	POOL_DISK(disk, p, "/srv/disks/40");
	_cleanup_free_ char *before = NULL;
	KnobValue original;
	char *at;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		sprintf(p.branches + strlen(p.branches), "%s/srv/disks/%02u=RW,100G", i ? ":" : "",
			i);
	before = strdup(p.branches);
	original = found_by(KNOB, d);
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
	Pool p = {};
	POOL_DISK(disk, p, path);

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
		Pool p = {};
		POOL_DISK(disk, p, "/hdd0");

		strcpy(p.branches, lists[i]);
		refused(d, "no other branch of /pool takes new files");
	}
}

static void the_last_branch_for_files_is_never_closed(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/ssd=RW" };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d);

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
	Pool p = { .branches = "/hdd0=NC:/ssd=NC" };
	POOL_DISK(disk, p, "/hdd0");
	const KnobValue original = { "/hdd0=RW" };

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect(d, "/hdd0=RW", "/hdd0=RW:/ssd=NC");
}

static void a_policy_of_existing_paths_is_not_offered(void **state)
{
	static const char *const bad[] = { "epmfs", "epff", "newest", "mfs,epmfs" };
	static const char *const good[] = { "mfs", "ff", "pfrd", "mspmfs", "all", "lus,rand" };
	Pool p = { .branches = "/hdd0=RW:/ssd=RW" };
	POOL_DISK(disk, p, "/hdd0");

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
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .second = "/media" };
	POOL_DISK(disk, p, "/hdd0");

	(void)state;
	refused(d, "/pool and /media");
}

static void one_that_cannot_be_asked_is_not_offered_and_not_taken_for_gone(void **state)
{
	Pool p = { .branches = "/hdd0=NC:/ssd=RW", .error = -ENOTCONN };
	POOL_DISK(disk, p, "/hdd0");
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
	Pool p = { .branches = "/hdd0=RW:/ssd=RW" };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d), v;

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
	Pool p = { .branches = "/hdd0=RW:/ssd=RW", .refuse = -EINVAL };
	POOL_DISK(disk, p, "/hdd0");
	KnobValue original = found_by(KNOB, d);

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
	Pool p = { .branches = "/hdd0=RW:/ssd=RW",
		   .space = { .size_bytes = 1ULL << 40, .room_bytes = 4096 } };
	POOL_DISK(disk, p, "/hdd0");
	CacheState c;

	(void)state;
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_true(c.size_bytes == 1ULL << 40 && c.room_bytes == 4096 && !c.dirty_bytes);
	p.error = -EIO;
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -EIO);
}

/* Two disks of one mergerfs, each with a thread of its own. */

typedef struct Worker {
	Disk disk;
	int failure;
} Worker;

static void *turn_often(void *userdata)
{
	Worker *w = userdata;
	_cleanup_(device_unrefp) Device *d = pool_device(&w->disk);
	KnobValue value;

	for (unsigned i = 0; i < 1000 && d && !w->failure; i++) {
		snprintf(value.text, sizeof(value.text), "%s=%s", w->disk.own, i % 2 ? "RW" : "NC");
		w->failure = knob_apply(knob_find(KNOB), d, &value, NULL);
	}
	return NULL;
}

static void disks_of_one_mergerfs_do_not_undo_each_other(void **state)
{
	Pool p = { .branches = "/hdd0=RW:/hdd1=RW:/ssd=RW" };
	Worker workers[] = { { { &p, "/hdd0" }, 0 }, { { &p, "/hdd1" }, 0 } };
	pthread_t threads[2];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, turn_often, &workers[i]), 0);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(workers[0].failure, 0);
	assert_int_equal(workers[1].failure, 0);
	assert_string_equal(p.branches, "/hdd0=RW:/hdd1=RW:/ssd=RW");
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
