/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* New files of a mergerfs go to its other branches while this disk's take none ("no create").
 * What is on the disk is read and written there as before. A restart of mergerfs forgets it. */

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/component.h"
#include "redirect/knob-registry.h"
#include "redirect/mergerfs-branch.h"
#include "redirect/mergerfs-host.h"

#define LOCK_WAIT_S 10

/* All disks of one mergerfs share one list, which is read, changed and written whole: by one thread
 * at a time. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static int add_branch(KnobValue *v, const MergerfsBranch *b, const char *mode, int mode_length)
{
	size_t n = strlen(v->text), room = sizeof(v->text) - n;
	int added = snprintf(v->text + n, room, "%s%.*s=%.*s", n ? ":" : "", b->path_length,
			     b->path, mode_length, mode);

	return (size_t)added < room ? 0 : -ENOBUFS;
}

static int read_value(const Merged *m, KnobValue *ret)
{
	const char *list = m->own;
	KnobValue v = { "" };
	MergerfsBranch b, now;
	int r = 0;

	while (r >= 0 && mergerfs_branch_next(&list, &b))
		if (mergerfs_branch_find(m->branches, b.path, b.path_length, &now))
			r = add_branch(&v, &now, now.mode, now.mode_length);
	return r < 0 ? r : value_print(ret, "%s", *v.text ? v.text : VALUE_NONE);
}

/* The modes of this disk's branches: "/hdd0=RW" */
static int mergerfs_read(Device *d, KnobValue *ret)
{
	_cleanup_(merged_done) Merged m = {};
	int r = mergerfs_find(d, &m);

	if (r == -ENOENT)
		return value_print(ret, VALUE_NONE);
	return r < 0 ? r : read_value(&m, ret);
}

/* Is there a branch for new files in the list that is not on this disk? */
static bool others_take_files(const char *all, const char *own)
{
	MergerfsBranch b, mine;

	while (mergerfs_branch_next(&all, &b))
		if (mergerfs_branch_is(&b, "RW") &&
		    !mergerfs_branch_find(own, b.path, b.path_length, &mine))
			return true;
	return false;
}

/* A policy of existing paths finds no branch for a file whose folder is on this disk alone, and its
 * creation would fail (mergerfs(1), "path preservation"). */
static bool needs_folder(const char *policies)
{
	_cleanup_(strv_freep) char **words = strv_split(policies);

	for (char **w = words; w && *w; w++)
		if (strncmp(*w, "ep", 2) == 0 || streq(*w, "newest"))
			return true;
	return !words;
}

static int probe_merged(const Merged *m, char **ret_why_not)
{
	_cleanup_free_ char *create = NULL;
	KnobValue v;
	int r;

	if (m->second)
		return not_offered(ret_why_not, "two mergerfs have it as a branch, %.80s and %.80s",
				   m->mount, m->second);
	r = mergerfs_create_policies(m, &create);
	if (r < 0)
		return not_offered(ret_why_not, "its mergerfs cannot be asked: %s", strerror(-r));
	if (needs_folder(create))
		return not_offered(ret_why_not,
				   "%.80s creates files by policy %.60s, where their folder is: "
				   "they could go nowhere else (category.create=mfs could)",
				   m->mount, create);
	if (!others_take_files(m->branches, m->own))
		return not_offered(ret_why_not, "no other branch of %.100s takes new files",
				   m->mount);
	if (read_value(m, &v) < 0)
		return not_offered(ret_why_not, "the names of its branches are too long");
	return 0;
}

static int mergerfs_probe(Device *d, Offer *offer, char **ret_why_not)
{
	_cleanup_(merged_done) Merged m = {};
	int r = redirect_allowed(d, "mergerfs", ret_why_not);

	if (r < 0)
		return r;
	r = mergerfs_find(d, &m);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "no mergerfs has a branch on the disk");
	if (r < 0)
		return not_offered(ret_why_not, "a mergerfs cannot be asked: %s", strerror(-r));
	r = probe_merged(&m, ret_why_not);
	if (r < 0)
		return r;
	offer->mechanisms |= MECHANISM_REDIRECT;
	offer->redirects_writes = true;
	return 0;
}

/* Only one that takes new files is changed. */
static int mergerfs_want(const Device *d, const Setting *s, const Mix *mix,
			 const KnobValue *original, KnobValue *ret)
{
	const char *list = original->text;
	KnobValue v = { "" };
	MergerfsBranch b;
	int r = 0;

	(void)d;
	(void)mix;
	if (s->redirect != REDIRECT_HOLD || streq(original->text, VALUE_NONE)) {
		*ret = *original;
		return 0;
	}
	while (r >= 0 && mergerfs_branch_next(&list, &b))
		r = mergerfs_branch_is(&b, "RW") ? add_branch(&v, &b, "NC", 2)
						 : add_branch(&v, &b, b.mode, b.mode_length);
	if (r < 0)
		return r;
	*ret = v;
	return 0;
}

/* The list with the modes that the value names, all else as it is. */
static char *change(const char *all, const char *value)
{
	MergerfsBranch b, wanted;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (mergerfs_branch_next(&all, &b)) {
		if (!mergerfs_branch_find(value, b.path, b.path_length, &wanted))
			wanted = b;
		fprintf(out, "%s%.*s=%.*s%.*s", ftell(out) ? ":" : "", b.path_length, b.path,
			wanted.mode_length, wanted.mode, b.options_length, b.options);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool any_takes_files(const char *list)
{
	return others_take_files(list, "");
}

static int write_modes(Device *d, const KnobValue *value)
{
	_cleanup_(merged_done) Merged m = {};
	_cleanup_free_ char *changed = NULL;
	int r = mergerfs_find(d, &m);

	if (r == -ENOENT) /* unmounted since */
		return 0;
	if (r < 0)
		return r;
	changed = change(m.branches, value->text);
	if (!changed)
		return -ENOMEM;
	if (streq(changed, m.branches))
		return 0;
	if (any_takes_files(m.branches) && !any_takes_files(changed)) {
		log_warning("%s: its branch was the last of the mergerfs that takes new files; "
			    "leaving it so",
			    d->name);
		return -ENOSPC;
	}
	return mergerfs_set_branches(&m, changed);
}

static int mergerfs_write(Device *d, const KnobValue *value)
{
	struct timespec until;
	int r;

	/* one mergerfs that hangs may have it for ever */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LOCK_WAIT_S;
	r = pthread_mutex_timedlock(&changing, &until);
	if (r)
		return -r;
	r = write_modes(d, value);
	pthread_mutex_unlock(&changing);
	return r;
}

/* A branch that was taken out counts as fulfilled, because nobody can change it any more. */
static bool mergerfs_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	const char *list = wanted->text;
	MergerfsBranch w, f;

	(void)d;
	while (mergerfs_branch_next(&list, &w))
		if (mergerfs_branch_find(found->text, w.path, w.path_length, &f) &&
		    (f.mode_length != w.mode_length ||
		     strncmp(f.mode, w.mode, (size_t)w.mode_length) != 0))
			return false;
	return true;
}

/* Nothing has to be written back: what a new file takes stays where it is. */
static int mergerfs_cache(Device *d, CacheState *ret)
{
	_cleanup_(merged_done) Merged m = {};
	int r = mergerfs_find(d, &m);

	return r < 0 ? r : mergerfs_space(&m, ret);
}

const Knob knob_redirect_mergerfs = {
	.name = "redirect-mergerfs",
	.mechanism = MECHANISM_REDIRECT,
	.exactness = ADVISORY,
	.slow = true, /* FUSE answers when it likes */
	.probe = mergerfs_probe,
	.read = mergerfs_read,
	.want = mergerfs_want,
	.write = mergerfs_write,
	.fulfils = mergerfs_fulfils,
	.cache = mergerfs_cache,
};
