/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/power-sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/hwmon.h"
#include "base/text.h"

static int read_in(const char *sysfs, const char *folder, const char *file, char value[32])
{
	_cleanup_free_ char *path = text_printf("%s/%s/%s", sysfs, folder, file);

	return path ? read_attribute(path, value, 32) : -ENOMEM;
}

FeedSeen supply_seen(const char *sysfs, const char *name, char *words, size_t size)
{
	_cleanup_free_ char *folder = text_printf("class/power_supply/%s", name);
	char value[32];

	if (folder && read_in(sysfs, folder, "online", value) >= 0) {
		snprintf(words, size, "offline");
		return streq(value, "0") ? FEED_FAILED : FEED_SOUND;
	}
	if (folder && read_in(sysfs, folder, "status", value) >= 0) {
		snprintf(words, size, "discharging");
		return streq(value, "Discharging") ? FEED_FAILED : FEED_SOUND;
	}
	snprintf(words, size, "%s/class/power_supply/%s has neither online nor status", sysfs,
		 name);
	return FEED_UNKNOWN;
}

static FeedSeen look_in(const char *folder, char *const *globs, char *words, size_t size)
{
	_cleanup_closedir_ DIR *dir = opendir(folder);
	FeedSeen seen = FEED_UNKNOWN;
	struct dirent *e;

	while (dir && seen != FEED_FAILED && (e = readdir(dir))) {
		char value[32];

		if (!strv_match(globs, e->d_name) || read_in(folder, ".", e->d_name, value) < 0)
			continue;
		seen = streq(value, "0") ? FEED_SOUND : FEED_FAILED;
		snprintf(words, size, "raised (%s)", e->d_name);
	}
	return seen;
}

/* UNKNOWN < SOUND < FAILED: any failure counts, and anything known more than nothing. */
FeedSeen alarm_seen(const char *sysfs, const char *chip, char *const *globs, char *words,
		    size_t size)
{
	_cleanup_free_ char *class = text_printf("%s/class/hwmon", sysfs);
	_cleanup_closedir_ DIR *dir = class ? opendir(class) : NULL;
	static char *every[] = { "*_alarm", NULL };
	FeedSeen seen = FEED_UNKNOWN;
	struct dirent *e;

	while (dir && seen != FEED_FAILED && (e = readdir(dir))) {
		_cleanup_free_ char *folder = text_printf("%s/%s", class, e->d_name);

		if (*e->d_name != '.' && folder && hwmon_is_chip(folder, chip))
			seen = MAX(seen, look_in(folder, globs ?: every, words, size));
	}
	if (seen == FEED_UNKNOWN)
		snprintf(words, size, "no chip %s with such an alarm in %s", chip, class ?: sysfs);
	return seen;
}
