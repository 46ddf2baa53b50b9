/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/topology-walk.h"

#include <errno.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/topology-read.h"

bool names_have(const Names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (streq(names->list[i], name))
			return true;
	return false;
}

int names_add(Names *names, const char *name)
{
	char *copy, **slot;

	if (names_have(names, name))
		return 0;
	copy = strdup(name);
	slot = copy ? ARRAY_GROW(names->list, names->n) : NULL;
	if (!slot) {
		free(copy);
		return -ENOMEM;
	}
	*slot = copy;
	return 0;
}

void names_done(Names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
	*names = (Names){};
}

int folder_each(const char *path, int (*f)(const char *path, void *userdata), void *userdata)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	struct dirent *e;
	int r = 0;

	while (dir && r == 0 && (e = readdir(dir))) {
		_cleanup_free_ char *entry = text_printf("%s/%s", path, e->d_name);

		if (*e->d_name != '.')
			r = entry ? f(entry, userdata) : -ENOMEM;
	}
	return r;
}

bool folder_has(const char *folder, const char *what)
{
	_cleanup_free_ char *path = text_printf("%s/%s", folder, what);

	return path && access(path, F_OK) == 0;
}

typedef struct Below {
	const char *sysfs_root;
	bool spindles;
	Names *to;
	unsigned layer;
	bool any; /* it lies on something */
} Below;

static bool turns(const char *disk)
{
	char rotational[16];

	return !streq(sysfs_attribute("", disk, "queue/rotational", rotational, sizeof(rotational)),
		      "0");
}

/* The disk of a partition is the folder that it lies in. */
static int add_disk(const char *folder, const Below *b)
{
	_cleanup_free_ char *real = NULL;

	if (names_have(b->to, base_name(folder)))
		return 0;
	if (folder_has(folder, "partition"))
		real = realpath(folder, NULL);
	if (real)
		*strrchr(real, '/') = '\0';
	return !b->spindles || turns(real ?: folder) ? names_add(b->to, base_name(real ?: folder))
						     : 0;
}

static int below_each(const char *slave, void *userdata);

static int below_device(const char *name, const Below *above)
{
	_cleanup_free_ char *folder = text_printf("%s/class/block/%s", above->sysfs_root, name);
	_cleanup_free_ char *slaves = folder ? text_printf("%s/slaves", folder) : NULL;
	Below here = *above;
	int r;

	if (!slaves)
		return -ENOMEM;
	if (here.layer++ > TOPOLOGY_LAYERS ||
	    (here.spindles && here.layer > 1 && folder_has(folder, "bcache/set")))
		return 0;
	here.any = false;
	r = folder_each(slaves, below_each, &here);
	return r < 0 || here.any ? r : add_disk(folder, &here);
}

static int below_each(const char *slave, void *userdata)
{
	Below *above = userdata;

	above->any = true;
	return below_device(base_name(slave), above);
}

int topology_disks_below(const char *sysfs_root, const char *name, bool spindles, Names *to)
{
	return below_device(name,
			    &(Below){ .sysfs_root = sysfs_root, .spindles = spindles, .to = to });
}

typedef struct Above {
	int (*f)(const char *folder, void *userdata);
	void *userdata;
	unsigned layer;
} Above;

static int above_each(const char *folder, void *userdata)
{
	const Above *below = userdata;
	_cleanup_free_ char *real = realpath(folder, NULL), *holders = NULL;
	Above here = *below;
	int r;

	if (!real || here.layer++ > TOPOLOGY_LAYERS)
		return 0;
	r = here.f(real, here.userdata);
	holders = text_printf("%s/holders", real);
	return r ?: holders ? folder_each(holders, above_each, &here) : -ENOMEM;
}

static int above_partition(const char *folder, void *userdata)
{
	return folder_has(folder, "partition") ? above_each(folder, userdata) : 0;
}

int topology_each_above(const char *sysfs_root, const char *disk,
			int (*f)(const char *folder, void *userdata), void *userdata)
{
	_cleanup_free_ char *folder = topology_folder(sysfs_root, disk);
	Above from = { .f = f, .userdata = userdata };
	int r = folder ? above_each(folder, &from) : 0;

	return r ?: folder ? folder_each(folder, above_partition, &from) : 0;
}
