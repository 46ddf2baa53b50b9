/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool-md.h"

#include <errno.h>

#include "base/sysfs.h"
#include "base/text.h"

/* Kernel Documentation/admin-guide/md.rst, sync_action. */
char *pool_sync_words(const char *action)
{
	static const struct {
		const char *action, *done;
	} actions[] = {
		{ "resync", "resynced" }, { "recover", "resynced" }, { "check", "checked" },
		{ "repair", "repaired" }, { "reshape", "reshaped" },
	};

	for (size_t i = 0; i < ELEMENTSOF(actions); i++)
		if (streq(actions[i].action, action))
			return text_printf("is being %s (%s)", actions[i].done, action);
	return text_printf("has its sync action at %s", action);
}

static char *why_not_idle(const char *folder)
{
	char action[32], degraded[32], reshape[32];

	/* levels without redundancy have none of these */
	sysfs_attribute("", folder, "md/sync_action", action, sizeof(action));
	sysfs_attribute("", folder, "md/degraded", degraded, sizeof(degraded));
	sysfs_attribute("", folder, "md/reshape_position", reshape, sizeof(reshape));
	if (*action && !streq(action, "idle"))
		return pool_sync_words(action);
	if (*degraded && !streq(degraded, "0"))
		return text_printf("is degraded");
	return text_printf("%s", *reshape && !streq(reshape, "none") ? "is half reshaped" : "");
}

int pool_md_busy(const char *folder, char **ret_why)
{
	_cleanup_free_ char *what = why_not_idle(folder), *why = NULL;

	if (!what)
		return -ENOMEM;
	why = *what ? text_printf("%s %s", base_name(folder), what) : NULL;
	if (*what && !why)
		return -ENOMEM;
	*ret_why = TAKE_PTR(why);
	return 0;
}
