/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/dm-table.h"
#include "stack/pool-kinds.h"

static bool read_table(const char *sysfs_root, const char *folder, DmPart part, DmTable *ret)
{
	return streq(sysfs_root, "/sys") && dm_table_read(sysfs_devnum("", folder), part, ret) >= 0;
}

/* writecache: MODE ORIGIN CACHE ...; cache: METADATA CACHE ORIGIN ... */
unsigned pool_dm_caches(const char *sysfs_root, const char *folder, dev_t ret[POOL_DM_CACHES])
{
	unsigned a[2], b[2];
	DmTable t;

	if (!read_table(sysfs_root, folder, DM_ACTIVE, &t))
		return 0;
	if (streq(t.target, "writecache") &&
	    sscanf(t.parameters, "%*s %*s %u:%u", &a[0], &a[1]) == 2) {
		ret[0] = makedev(a[0], a[1]);
		return 1;
	}
	if (streq(t.target, "cache") &&
	    sscanf(t.parameters, "%u:%u %u:%u", &a[0], &a[1], &b[0], &b[1]) == 4) {
		ret[0] = makedev(a[0], a[1]);
		ret[1] = makedev(b[0], b[1]);
		return 2;
	}
	return 0;
}

/* Its health is a letter a device: A, a (not in sync yet), D or - */
static int say_health(const char *name, const char *health, char **ret_why)
{
	return health[strspn(health, "A")] ? pool_keep_up(ret_why, "%s is degraded", name) : 0;
}

/* TYPE DEVICES HEALTH RATIO ACTION ... */
static int raid_busy(const char *name, const char *status, char **ret_why)
{
	char health[256], action[32];

	if (sscanf(status, "%*s %*u %255s %*s %31s", health, action) != 2)
		return 0;
	return streq(action, "idle") ? say_health(name, health, ret_why)
				     : pool_keep_up_to_sync(ret_why, name, action);
}

/* MIRRORS DEVICE... IN-SYNC/ALL 1 HEALTH ... */
static int mirror_busy(const char *name, const char *status, char **ret_why)
{
	unsigned long long in_sync, all;
	char health[256];
	unsigned legs;
	int skipped;

	if (sscanf(status, "%u%n", &legs, &skipped) != 1)
		return 0;
	for (unsigned i = 0; i < legs; i++) {
		status += skipped;
		skipped = 0;
		if (sscanf(status, "%*s%n", &skipped) == EOF)
			return 0;
	}
	if (sscanf(status + skipped, "%llu/%llu %*u %255s", &in_sync, &all, health) != 3)
		return 0;
	return in_sync < all ? pool_keep_up_to_sync(ret_why, name, "resync")
			     : say_health(name, health, ret_why);
}

int pool_dm_busy(const char *sysfs_root, const char *folder, char **ret_why)
{
	char name[256];
	DmTable t;

	sysfs_attribute("", folder, "dm/name", name, sizeof(name));
	if (strstr(name, "-pvmove"))
		return pool_keep_up(ret_why, "%s moves a volume", name);
	if (!read_table(sysfs_root, folder, DM_STATUS, &t))
		return 0;
	if (streq(t.target, "raid"))
		return raid_busy(name, t.parameters, ret_why);
	return streq(t.target, "mirror") ? mirror_busy(name, t.parameters, ret_why) : 0;
}
