/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/spawn.h"
#include "base/text.h"
#include "stack/pool-kinds.h"
#include "stack/topology-read.h"

#define ANSWER_US  (10 * USEC_PER_SEC)
#define ANSWER_MAX (4UL << 20)

/* Below a root other than "/sys": ROOT/sbin/zpool. */
static char *find_zpool(const char *sysfs_root)
{
	static const char *const places[] = { "/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin" };

	if (!streq(sysfs_root, "/sys")) {
		_cleanup_free_ char *fake = text_printf("%s/sbin/zpool", sysfs_root);

		return fake && access(fake, X_OK) == 0 ? TAKE_PTR(fake) : NULL;
	}
	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		_cleanup_free_ char *path = text_printf("%s/zpool", places[i]);

		if (path && access(path, X_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

static int ask_status(const char *program, char **ret_text)
{
	const Program p = {
		.argv = (const char *const[]){ program, "status", "-P", NULL },
		.environ = (const char *const[]){ "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
						  NULL },
		.answer_max = ANSWER_MAX,
		.within_us = ANSWER_US,
	};
	_cleanup_free_ char *text = NULL;
	int r = spawn_and_read(&p, &text);

	if (r != 0)
		return r < 0 ? r : -EIO;
	*ret_text = TAKE_PTR(text);
	return 0;
}

/* What a pool is in the middle of: the word of its line "scan:", and how people say it. Evacuation
 * of a removed device and expansion of a RAID-Z have lines of their own. */
static const struct {
	const char *key, *words, *why;
} works[] = {
	{ "scan", "scrub in progress", "is being scrubbed" },
	{ "scan", "scrub paused", "is being scrubbed (paused)" },
	{ "scan", "resilver in progress", "is being resilvered" },
	{ "scan", "in progress", "is being scanned" },
	{ "scrub", "in progress", "is being scrubbed" },
	{ "remove", "in progress", "is losing a device" },
	{ "expand", "in progress", "is being expanded" },
};

static int line_busy(const char *pool, const char *key, const char *value, char **ret_why)
{
	if (streq(key, "state") && !streq(value, "ONLINE"))
		return pool_keep_up(ret_why, "zpool %s is %s", pool, value);
	for (size_t i = 0; i < ELEMENTSOF(works); i++)
		if (streq(key, works[i].key) && strstr(value, works[i].words))
			return pool_keep_up(ret_why, "zpool %s %s", pool, works[i].why);
	return 0;
}

/* Lines "KEY: VALUE", the key right-aligned, "pool:" first of each pool. */
static int answer_busy(char *text, const char *pool, char **ret_why)
{
	bool ours = false;
	int r = 0;

	for (char *save, *line = strtok_r(text, "\n", &save); line && r == 0;
	     line = strtok_r(NULL, "\n", &save)) {
		char *key = line + strspn(line, " "), *colon = strchr(key, ':');
		char *value = colon ? colon + 1 + strspn(colon + 1, " ") : NULL;

		if (!colon || !islower((unsigned char)*key))
			continue;
		*colon = '\0';
		if (streq(key, "pool"))
			ours = streq(value, pool);
		else if (ours)
			r = line_busy(pool, key, value, ret_why);
	}
	return r;
}

int pool_zfs_busy(const char *sysfs_root, const char *device, char **ret_why)
{
	_cleanup_free_ char *pool = topology_zfs_pool(sysfs_root, device), *text = NULL;
	_cleanup_free_ char *program = pool && *pool ? find_zpool(sysfs_root) : NULL;
	int r = program ? ask_status(program, &text) : 0;

	if (r >= 0)
		return text ? answer_busy(text, pool, ret_why) : 0;
	if (r == -ENOMEM)
		return r;
	log_warning_errno(r, "zpool status does not say how zpool %s is; its disks stay up", pool);
	return pool_keep_up(ret_why, "zpool status does not say how zpool %s is: %s", pool,
			    r == -ETIMEDOUT ? "no answer" : strerror(-r));
}
