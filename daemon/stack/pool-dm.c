/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool-dm.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/dm-table.h"
#include "stack/pool-md.h"

static dev_t devnum_of(const char *sysfs_root, const char *device)
{
	_cleanup_free_ char *folder = text_printf("class/block/%s", device);

	return folder ? sysfs_devnum(sysfs_root, folder) : 0;
}

static bool read_table(const char *sysfs_root, const char *mapped, DmPart part, DmTable *ret)
{
	return streq(sysfs_root, "/sys") &&
	       dm_table_read(devnum_of(sysfs_root, mapped), part, ret) >= 0;
}

/* writecache: MODE ORIGIN CACHE ...; cache: METADATA CACHE ORIGIN ... */
unsigned pool_dm_caches(const char *sysfs_root, const char *mapped, dev_t ret[POOL_DM_CACHES])
{
	unsigned a[2], b[2];
	DmTable t;

	if (!read_table(sysfs_root, mapped, DM_ACTIVE, &t))
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

/* TYPE DEVICES HEALTH RATIO ACTION ...; health is a letter a device: A, a (not in sync yet), D or -
 */
static char *why_raid(const char *status)
{
	char health[256], action[32];

	if (sscanf(status, "%*s %*u %255s %*s %31s", health, action) != 2)
		return strdup("");
	if (!streq(action, "idle"))
		return pool_sync_words(action);
	return strdup(strspn(health, "A") == strlen(health) ? "" : "is degraded");
}

/* MIRRORS DEVICE... IN-SYNC/ALL 1 HEALTH ... */
static char *why_mirror(const char *status)
{
	unsigned long long in_sync, all;
	char health[256];
	unsigned legs;
	int skipped;

	if (sscanf(status, "%u%n", &legs, &skipped) != 1)
		return strdup("");
	for (unsigned i = 0; i < legs; i++) {
		status += skipped;
		skipped = 0;
		if (sscanf(status, "%*s%n", &skipped) == EOF)
			return strdup("");
	}
	if (sscanf(status + skipped, "%llu/%llu %*u %255s", &in_sync, &all, health) != 3)
		return strdup("");
	if (in_sync < all)
		return pool_sync_words("resync");
	return strdup(strspn(health, "A") == strlen(health) ? "" : "is degraded");
}

int pool_dm_busy(const char *sysfs_root, const char *mapped, char **ret_why)
{
	_cleanup_free_ char *what = NULL, *why = NULL;
	char name[256];
	DmTable t;

	*ret_why = NULL;
	block_attribute(sysfs_root, mapped, "dm/name", name, sizeof(name));
	if (strstr(name, "-pvmove"))
		what = strdup("moves a volume");
	else if (read_table(sysfs_root, mapped, DM_STATUS, &t))
		what = streq(t.target, "raid")     ? why_raid(t.parameters)
		       : streq(t.target, "mirror") ? why_mirror(t.parameters)
						   : strdup("");
	else
		return 0;
	if (!what)
		return -ENOMEM;
	why = *what ? text_printf("%s %s", name, what) : NULL;
	if (*what && !why)
		return -ENOMEM;
	*ret_why = TAKE_PTR(why);
	return 0;
}
