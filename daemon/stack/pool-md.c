/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/pool-kinds.h"
#include "stack/pool.h"

/* Kernel Documentation/admin-guide/md.rst, sync_action. */
int pool_keep_up_to_sync(char **ret_why, const char *name, const char *action)
{
	static const struct {
		const char *action, *done;
	} actions[] = {
		{ "resync", "resynced" }, { "recover", "resynced" }, { "check", "checked" },
		{ "repair", "repaired" }, { "reshape", "reshaped" },
	};

	for (size_t i = 0; i < ELEMENTSOF(actions); i++)
		if (streq(actions[i].action, action))
			return pool_keep_up(ret_why, "%s is being %s (%s)", name, actions[i].done,
					    action);
	return pool_keep_up(ret_why, "%s has its sync action at %s", name, action);
}

/* Kernel drivers/md: raid10 keeps two copies unless told otherwise. */
char *pool_protection(const char *sysfs_root, const char *pool)
{
	char level[32], disks[32];
	unsigned long n = 0;

	block_attribute(sysfs_root, pool, "md/level", level, sizeof(level));
	block_attribute(sysfs_root, pool, "md/raid_disks", disks, sizeof(disks));
	if (parse_unsigned(disks, 10000, &n) < 0 || n < 2)
		return strdup("");
	if (streq(level, "raid1"))
		return text_printf("1+%lu", n - 1);
	if (streq(level, "raid10"))
		return strdup("1+1");
	if (streq(level, "raid4") || streq(level, "raid5"))
		return text_printf("%lu+1", n - 1);
	return streq(level, "raid6") && n > 2 ? text_printf("%lu+2", n - 2) : strdup("");
}

int pool_md_busy(const char *folder, char **ret_why)
{
	char action[32], degraded[32], reshape[32];
	const char *name = base_name(folder);

	/* levels without redundancy have none of these */
	sysfs_attribute("", folder, "md/sync_action", action, sizeof(action));
	sysfs_attribute("", folder, "md/degraded", degraded, sizeof(degraded));
	sysfs_attribute("", folder, "md/reshape_position", reshape, sizeof(reshape));
	if (*action && !streq(action, "idle"))
		return pool_keep_up_to_sync(ret_why, name, action);
	if (*degraded && !streq(degraded, "0"))
		return pool_keep_up(ret_why, "%s is degraded", name);
	if (*reshape && !streq(reshape, "none"))
		return pool_keep_up(ret_why, "%s is half reshaped", name);
	return 0;
}
