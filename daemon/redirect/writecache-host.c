/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "redirect/writecache-host.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "redirect/component.h"
#include "stack/dm-table.h"

typedef struct Search {
	dev_t origin, found;
} Search;

/* s ORIGIN CACHE BLOCK-SIZE COUNT OPTION... */
static dev_t origin_of(const DmTable *t)
{
	unsigned major_number, minor_number;

	if (!streq(t->target, WRITECACHE) ||
	    sscanf(t->parameters, "%*s %u:%u", &major_number, &minor_number) != 2)
		return 0;
	return makedev(major_number, minor_number);
}

static int look_at_holder(const char *folder, void *userdata)
{
	dev_t devnum = sysfs_devnum("", folder);
	Search *s = userdata;
	DmTable t;

	if (strncmp(base_name(folder), "dm-", strlen("dm-")) != 0 || devnum == s->found ||
	    dm_table_read(devnum, DM_ACTIVE, &t) < 0 || origin_of(&t) != s->origin)
		return 0;
	if (s->found)
		return -EMLINK;
	s->found = devnum;
	return 0;
}

static int look_above(const OwnNodes *own, const char *node, Search *s)
{
	_cleanup_free_ char *folder = own_node_folder(own, node);
	_cleanup_free_ char *holders = folder ? text_printf("%s/holders", folder) : NULL;

	if (!holders)
		return -ENOMEM;
	s->origin = sysfs_devnum("", folder);
	return folder_each(holders, look_at_holder, s);
}

int writecache_find(Device *d, dev_t *ret)
{
	_cleanup_(own_nodes_done) OwnNodes own = {};
	Search s = {};
	int r = own_nodes_find(d, &own);

	if (r >= 0 && !streq(own.sysfs_root, "/sys"))
		return -ENOENT;
	for (size_t i = 0; i < own.paths.n && r >= 0; i++)
		r = look_above(&own, own.paths.list[i], &s);
	if (r < 0)
		return r;
	if (!s.found)
		return -ENOENT;
	*ret = s.found;
	return 0;
}
