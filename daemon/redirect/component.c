/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "redirect/component.h"

#include <errno.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "knob/attribute.h"

#define BLOCK "class/block"

int redirect_allowed(const Device *d, const char *component, char **ret_why_not)
{
	if (streq(d->redirect, component))
		return 0;
	if (*d->redirect)
		return not_offered(ret_why_not, "redirect = %s leaves it alone", d->redirect);
	/* that a disk is exported does not say whether its hosts have another path to it */
	if (streq(component, "nvmet"))
		return not_offered(ret_why_not, "only redirect = nvmet says that its hosts, if it "
						"has any, have another path to the data");
	return 0;
}

bool own_nodes_have(const OwnNodes *own, const char *name)
{
	for (size_t i = 0; i < own->paths.n; i++)
		if (streq(base_name(own->paths.list[i]), name))
			return true;
	return false;
}

static int add_node(OwnNodes *own, const char *folder)
{
	const char *path = folder + strlen(own->sysfs_root) + strlen("/" BLOCK "/");

	return own_nodes_have(own, base_name(path)) ? 0 : names_add(&own->paths, path);
}

static int add_partition(const char *folder, void *userdata)
{
	return folder_has(folder, "partition") ? add_node(userdata, folder) : 0;
}

static int is_foreign(const char *slave, void *userdata)
{
	return !own_nodes_have(userdata, base_name(slave));
}

static int add_holder(const char *folder, void *userdata)
{
	_cleanup_free_ char *slaves = text_printf("%s/slaves", folder);
	int r = slaves ? folder_each(slaves, is_foreign, userdata) : -ENOMEM;

	return r ? MIN(r, 0) : add_node(userdata, folder);
}

char *own_node_folder(const OwnNodes *own, const char *path)
{
	return text_printf("%s/" BLOCK "/%s", own->sysfs_root, path);
}

static int add_above(OwnNodes *own, const char *path)
{
	_cleanup_free_ char *folder = own_node_folder(own, path);
	_cleanup_free_ char *holders = folder ? text_printf("%s/holders", folder) : NULL;
	int r = holders ? folder_each(folder, add_partition, own) : -ENOMEM;

	return r < 0 ? r : folder_each(holders, add_holder, own);
}

int own_nodes_find(Device *d, OwnNodes *ret)
{
	OwnNodes own = {};
	int r = d->ops->sysfs_root ? d->ops->sysfs_root(d, &own.sysfs_root) : -ENOENT;

	if (r >= 0)
		r = names_add(&own.paths, d->name);
	for (size_t i = 0; i < own.paths.n && r >= 0; i++)
		r = add_above(&own, own.paths.list[i]);
	if (r < 0) {
		own_nodes_done(&own);
		return r;
	}
	*ret = own;
	return 0;
}

void own_nodes_done(OwnNodes *own)
{
	names_done(&own->paths);
}

int own_node_attribute(const char *path, const char *what, char *buf, size_t size)
{
	const char *below = strchr(path, '/');
	int n = snprintf(buf, size, "%s%s%s", below ? below + 1 : "", below ? "/" : "", what);

	return (size_t)n < size ? 0 : -ENAMETOOLONG;
}
