/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/cgroup-io.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"

/* A list of controllers, of the root cgroup. */
static int lists_io(Device *d, const char *file)
{
	_cleanup_(strv_freep) char **names = NULL;
	char text[256];
	int r = d->ops->cgroup_read(d, file, text, sizeof(text));

	if (r < 0)
		return r;
	names = strv_split(text);
	for (char **n = names; n && *n; n++)
		if (streq(*n, "io"))
			return 1;
	return 0;
}

int cgroup_io_check(Device *d, char **ret_why_not)
{
	int r;

	if (!d->ops->cgroup_read || !d->ops->cgroup_write)
		return not_offered(ret_why_not, "no cgroup file of the device is reachable");
	r = lists_io(d, "cgroup.controllers");
	if (r == -ENOENT) /* of a node that has no such list, nothing is missing */
		return 0;
	if (r == -EOPNOTSUPP)
		return not_offered(ret_why_not, "this host has no cgroup v2: boot it with "
						"systemd.unified_cgroup_hierarchy=1");
	if (r < 0)
		return not_offered(ret_why_not, "the root cgroup cannot be read: %s", strerror(-r));
	if (!r)
		return not_offered(
			ret_why_not,
			"the root cgroup has no io controller: it is bound to cgroup v1, "
			"or the kernel has no CONFIG_BLK_CGROUP");
	if (lists_io(d, "cgroup.subtree_control") <= 0)
		return not_offered(ret_why_not,
				   "the io controller is not enabled below the root cgroup: a unit "
				   "with IOAccounting=yes, such as storpowerd.service, does it");
	return 0;
}
