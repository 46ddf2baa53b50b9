/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/topology.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/topology-read.h"
#include "stack/topology-walk.h"

#define POINTS_MAX 3 /* mount points named of one file system */

static int is_named(const char *folder, unsigned layer, void *name)
{
	(void)layer;
	return streq(base_name(folder), name);
}

static bool device_is_on(const Topology *t, const char *device, const char *disk)
{
	return topology_each_below(t->sysfs_root, device, true, is_named, (char *)disk) > 0;
}

bool topology_below(const Topology *t, dev_t devnum, const char *disk)
{
	_cleanup_free_ char *folder = topology_folder_of(t->sysfs_root, devnum);

	return folder && device_is_on(t, base_name(folder), disk);
}

bool topology_below_mount(const Topology *t, const Mount *m, const char *disk)
{
	if (!m->members)
		return topology_below(t, m->devnum, disk);
	for (char **member = m->members; *member; member++)
		if (device_is_on(t, *member, disk))
			return true;
	return false;
}

/* Puts the words together as they come, with what belongs between them. */
typedef struct Teller {
	const Topology *t;
	FILE *out;
	const char *between;
	char partition[NAME_MAX + 1]; /* is named before the first word about it */
} Teller;

static void tell_word(Teller *w, const char *word)
{
	if (*w->partition) {
		fprintf(w->out, "%s%s: ", ftell(w->out) ? "; " : "", w->partition);
		w->between = "";
		*w->partition = '\0';
	}
	fprintf(w->out, "%s%s", w->between, word);
	w->between = ", ";
}

static bool mount_is_on(const Mount *m, const char *name, dev_t devnum)
{
	if (!m->members)
		return m->devnum == devnum;
	for (char **member = m->members; *member; member++)
		if (streq(*member, name))
			return true;
	return false;
}

/* A part of a file system that is mounted whole elsewhere says nothing new. */
static void tell_mounts(Teller *w, const char *name, dev_t devnum)
{
	size_t told = 0, whole = 0;

	for (size_t i = 0; i < w->t->n_mounts; i++)
		whole += mount_is_on(&w->t->mounts[i], name, devnum) && w->t->mounts[i].whole;
	for (size_t i = 0; i < w->t->n_mounts; i++) {
		const Mount *m = &w->t->mounts[i];

		if (!mount_is_on(m, name, devnum) || (whole && !m->whole))
			continue;
		if (told++ < POINTS_MAX)
			tell_word(w, m->point);
	}
	if (told > POINTS_MAX)
		fprintf(w->out, " and %zu more", told - POINTS_MAX);
}

static void tell_swap(Teller *w, const char *name, dev_t devnum)
{
	for (size_t i = 0; i < w->t->n_swaps; i++) {
		const Swap *s = &w->t->swaps[i];

		if (s->mount ? mount_is_on(s->mount, name, devnum) : s->devnum == devnum)
			tell_word(w, s->is_file ? "a swap file" : "swap");
	}
}

/* What blkid saw on it, where nothing of that is in use. */
static void tell_contents(Teller *w, const char *name)
{
	_cleanup_free_ char *type = topology_property(w->t->sysfs_root, name, "ID_FS_TYPE");
	_cleanup_free_ char *pool = topology_zfs_pool(w->t->sysfs_root, name), *words = NULL;

	if (!type)
		return;
	words = pool ? text_printf("ZFS pool %s", *pool ? pool : "of no name")
		     : text_printf("unused %s", type);
	if (words)
		tell_word(w, words);
}

static int tell_cached(Teller *w, const char *folder)
{
	_cleanup_(names_done) Names cached = {};
	int r = topology_cached(folder, &cached);

	for (size_t i = 0; i < cached.n && r == 0; i++) {
		_cleanup_free_ char *words = text_printf("cache of %s", cached.list[i]);

		if (!words)
			return -ENOMEM;
		tell_word(w, words);
	}
	return r;
}

/* The partitions of the disk begin a sentence; what holds it or them is a word in one. */
static void tell_name(Teller *w, const char *folder, unsigned layer)
{
	char name[128];

	sysfs_attribute("", folder, "dm/name", name, sizeof(name));
	if (layer == 1 && folder_has(folder, "partition"))
		snprintf(w->partition, sizeof(w->partition), "%s", base_name(folder));
	else if (layer > 0)
		tell_word(w, *name ? name : base_name(folder));
}

static int tell_device(const char *folder, unsigned layer, void *userdata)
{
	const char *name = base_name(folder);
	dev_t devnum = sysfs_devnum("", folder);
	Teller *w = userdata;
	long before;

	tell_name(w, folder, layer);
	before = ftell(w->out);
	tell_mounts(w, name, devnum);
	tell_swap(w, name, devnum);
	if (tell_cached(w, folder) < 0)
		return -ENOMEM;
	if (ftell(w->out) == before && !folder_has_any(folder, "holders"))
		tell_contents(w, name);
	return 0;
}

char *topology_stack(const Topology *t, const char *disk)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Teller w = { .t = t, .out = open_memstream(&text, &size), .between = "" };
	int r;

	if (!w.out)
		return NULL;
	r = topology_each_above(t->sysfs_root, disk, tell_device, &w);
	return fclose(w.out) == 0 && r == 0 ? TAKE_PTR(text) : NULL;
}
