/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* dm-writecache: the disk, or a volume on it, is the origin of a write cache, as LVM makes one
 * (Linux Documentation/admin-guide/device-mapper/writecache.rst). */

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/dm-table.h"
#include "stack/topology-read.h"
#include "stack/topology-walk.h"
#include "stack/upper-internal.h"

#define TARGET "writecache"

typedef struct Search {
	const char *sysfs_root;
	dev_t origin;
	dev_t found;
} Search;

/* s ORIGIN CACHE BLOCK-SIZE COUNT OPTION... */
static dev_t origin_of(const DmTable *t)
{
	unsigned major_number, minor_number;

	if (!streq(t->target, TARGET) ||
	    sscanf(t->parameters, "%*s %u:%u", &major_number, &minor_number) != 2)
		return 0;
	return makedev(major_number, minor_number);
}

static int look_at_holder(const char *path, void *userdata)
{
	Search *s = userdata;
	const char *name = strrchr(path, '/') + 1;
	_cleanup_free_ char *folder = text_printf("class/block/%s", name);
	DmTable t;
	dev_t devnum;

	if (!folder)
		return -ENOMEM;
	devnum = sysfs_devnum(s->sysfs_root, folder);
	if (strncmp(name, "dm-", strlen("dm-")) != 0 || devnum == s->found ||
	    dm_table_read(devnum, DM_ACTIVE, &t) < 0 || origin_of(&t) != s->origin)
		return 0;
	if (s->found)
		return -EMLINK;
	s->found = devnum;
	return 0;
}

static int look_above(const char *name, Search *s)
{
	_cleanup_free_ char *folder = text_printf("class/block/%s", name), *holders = NULL;

	holders = text_printf("%s/class/block/%s/holders", s->sysfs_root, name);
	if (!folder || !holders)
		return -ENOMEM;
	s->origin = sysfs_devnum(s->sysfs_root, folder);
	return folder_each(holders, look_at_holder, s);
}

static int writecache_find(const UpperDisk *on, void **ret)
{
	_cleanup_(strv_freep) char **nodes = on->real ? upper_nodes(on) : NULL;
	Search s = { .sysfs_root = on->sysfs_root };
	dev_t *found;

	if (!nodes)
		return on->real ? -ENOMEM : -ENOENT;
	for (char **n = nodes; *n; n++) {
		int r = look_above(*n, &s);

		if (r < 0)
			return r;
	}
	if (!s.found)
		return -ENOENT;
	found = malloc(sizeof(*found));
	if (!found)
		return -ENOMEM;
	*found = s.found;
	*ret = found;
	return 0;
}

static int writecache_read(void *found, const char *what, char *buf, size_t size)
{
	const dev_t *devnum = found;
	bool status = streq(what, "status");
	DmTable t;
	int r;

	if (!status && !streq(what, "table"))
		return -ENOENT;
	r = dm_table_read(*devnum, status ? DM_STATUS : DM_ACTIVE, &t);
	return r < 0 ? r : upper_print(buf, size, "%s", t.parameters);
}

/* Mode, origin, cache and block size: what must be the same, or data is lost. */
static size_t identity_length(const char *parameters)
{
	size_t n = 0;

	for (unsigned word = 0; word < 4; word++) {
		n += strspn(parameters + n, " ");
		n += strcspn(parameters + n, " ");
	}
	return n;
}

static bool same_devices(const char *a, const char *b)
{
	size_t n = identity_length(a);

	return n == identity_length(b) && memcmp(a, b, n) == 0;
}

/* A table that waits is what a kill left of us, or LVM at work: it is gone in a moment. */
static int clear_leftover(dev_t devnum, const DmTable *active)
{
	DmTable t;
	int r;

	if (!active->waiting)
		return 0;
	r = dm_table_read(devnum, DM_WAITING, &t);
	if (r == -ENOENT)
		return 0;
	if (r < 0 || !streq(t.target, TARGET) || !same_devices(t.parameters, active->parameters))
		return -EBUSY;
	return dm_table_clear(devnum);
}

static int replace(dev_t devnum, const char *parameters)
{
	DmTable t;
	int r = dm_table_read(devnum, DM_ACTIVE, &t);

	if (r < 0)
		return r;
	if (t.suspended)
		return -EBUSY;
	if (!same_devices(parameters, t.parameters))
		return -ESTALE;
	r = clear_leftover(devnum, &t);
	if (r < 0 || streq(parameters, t.parameters))
		return r;
	r = upper_print(t.parameters, sizeof(t.parameters), "%s", parameters);
	return r < 0 ? r : dm_table_replace(devnum, &t);
}

static int writecache_write(void *found, const char *what, const char *value)
{
	const dev_t *devnum = found;

	return streq(what, "table") ? replace(*devnum, value) : -ENOENT;
}

const UpperComponent upper_writecache = {
	.name = "writecache",
	.find = writecache_find,
	.read = writecache_read,
	.write = writecache_write,
	.free = free,
};
