/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/profile.h"

#include <errno.h>

#include "base/text.h"

static const char *const kind_names[_KIND_MAX] = {
	[KIND_NVME] = "nvme",
	[KIND_SATA_SSD] = "sata-ssd",
	[KIND_HDD] = "hdd",
};

const char *kind_name(DeviceKind k)
{
	return (unsigned)k < _KIND_MAX ? kind_names[k] : "unknown";
}

int kind_from_name(const char *name)
{
	for (int k = 0; k < _KIND_MAX; k++)
		if (streq(name, kind_names[k]))
			return k;
	return -EINVAL;
}

Profile *profile_free(Profile *p)
{
	if (!p)
		return NULL;
	free(p->name);
	free(p->path);
	strv_free(p->models);
	free(p->points);
	free(p->mixes);
	free(p);
	return NULL;
}
