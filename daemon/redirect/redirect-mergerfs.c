/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* New files of a mergerfs go to its other branches while this disk's take none ("no create").
 * What is on the disk is read and written there as before. A restart of mergerfs forgets it. */

#include <errno.h>
#include <linux/limits.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"
#include "knob/attribute.h"
#include "knob/value-words.h"
#include "redirect/knob-registry.h"
#include "redirect/redirect-allowed.h"
#include "stack/mergerfs-branch.h"

#define MERGERFS    "mergerfs"
#define TEXT_MAX    (XATTR_SIZE_MAX + 1)
#define LOCK_WAIT_S 10

/* All disks of one mergerfs share one list, which is read, changed and written whole: by one thread
 * at a time. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static int ask(Device *d, const char *what, char *buf, size_t size)
{
	return d->ops->upper_read ? d->ops->upper_read(d, MERGERFS, what, buf, size) : -ENOENT;
}

/* A text of any length, malloc'd */
static int ask_long(Device *d, const char *what, char **ret)
{
	_cleanup_free_ char *text = malloc(TEXT_MAX);
	int r = text ? ask(d, what, text, TEXT_MAX) : -ENOMEM;

	if (r < 0)
		return r;
	*ret = TAKE_PTR(text);
	return 0;
}

static int add_branch(KnobValue *v, const MergerfsBranch *b, const char *mode, int mode_length)
{
	size_t n = strlen(v->text), room = sizeof(v->text) - n;
	int added = snprintf(v->text + n, room, "%s%.*s=%.*s", n ? ":" : "", b->path_length,
			     b->path, mode_length, mode);

	return (size_t)added < room ? 0 : -ENOBUFS;
}

/* The modes of this disk's branches: "/hdd0=RW" */
static int mergerfs_read(Device *d, KnobValue *ret)
{
	_cleanup_free_ char *all = NULL, *own = NULL;
	KnobValue v = { "" };
	const char *list;
	MergerfsBranch b, now;
	int r = -EOPNOTSUPP;

	if (d->ops->upper_read)
		r = ask_long(d, "branch", &own);
	if (r >= 0)
		r = ask_long(d, "branches", &all);
	if (r == -ENOENT)
		return value_print(ret, VALUE_NONE);
	for (list = own; r >= 0 && mergerfs_branch_next(&list, &b);)
		if (mergerfs_branch_find(all, b.path, b.path_length, &now))
			r = add_branch(&v, &now, now.mode, now.mode_length);
	return r < 0 ? r : value_print(ret, "%s", *v.text ? v.text : VALUE_NONE);
}

/* Of the list, is there a branch for new files that is not on this disk? */
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

static int probe_pool(Device *d, const char *own, char **ret_why_not)
{
	_cleanup_free_ char *all = NULL, *mount = NULL, *second = NULL;
	char create[128];
	int r = ask_long(d, "branches", &all);

	if (r >= 0)
		r = ask_long(d, "mount", &mount);
	if (r >= 0)
		r = ask_long(d, "second", &second);
	if (r >= 0)
		r = ask(d, "create", create, sizeof(create));
	if (r < 0)
		return not_offered(ret_why_not, "its mergerfs cannot be asked: %s", strerror(-r));
	if (*second)
		return not_offered(ret_why_not, "two mergerfs have it as a branch, %.80s and %.80s",
				   mount, second);
	if (needs_folder(create))
		return not_offered(ret_why_not,
				   "%.80s creates files by policy %.60s, where their folder is: "
				   "they could go nowhere else (category.create=mfs could)",
				   mount, create);
	if (!others_take_files(all, own))
		return not_offered(ret_why_not, "no other branch of %.100s takes new files", mount);
	return 0;
}

static int mergerfs_probe(Device *d, Offer *offer, char **ret_why_not)
{
	_cleanup_free_ char *own = NULL;
	KnobValue v;
	int r = redirect_allowed(d, MERGERFS, ret_why_not);

	if (r < 0)
		return r;
	r = ask_long(d, "branch", &own);
	if (r == -ENOENT)
		return not_offered(ret_why_not, "no mergerfs has a branch on the disk");
	if (r < 0)
		return not_offered(ret_why_not, "a mergerfs cannot be asked: %s", strerror(-r));
	r = probe_pool(d, own, ret_why_not);
	if (r < 0)
		return r;
	if (mergerfs_read(d, &v) < 0)
		return not_offered(ret_why_not, "the names of its branches are too long");
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
	_cleanup_free_ char *all = NULL, *changed = NULL;
	int r = ask_long(d, "branches", &all);

	if (r == -ENOENT) /* unmounted since */
		return 0;
	if (r < 0)
		return r;
	changed = change(all, value->text);
	if (!changed)
		return -ENOMEM;
	if (streq(changed, all))
		return 0;
	if (any_takes_files(all) && !any_takes_files(changed)) {
		log_warning("%s: its branch was the last of the mergerfs that takes new files; "
			    "leaving it so",
			    d->name);
		return -ENOSPC;
	}
	return d->ops->upper_write(d, MERGERFS, "branches", changed);
}

static int mergerfs_write(Device *d, const KnobValue *value)
{
	struct timespec until;
	int r;

	if (!d->ops->upper_read || !d->ops->upper_write)
		return -EOPNOTSUPP;
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

/* A branch that was taken out is nobody's to change any more. */
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
	uintmax_t size, room;
	char text[64];
	int r = ask(d, "space", text, sizeof(text));

	if (r < 0)
		return r;
	if (sscanf(text, "%ju %ju", &size, &room) != 2)
		return -EBADMSG;
	*ret = (CacheState){ .size_bytes = size, .room_bytes = room };
	return 0;
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
