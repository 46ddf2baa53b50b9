/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/hwmon.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

/* The ACPI power meter has its name one folder deeper up to Linux 6.12. */
static const char *const places[] = { "", "/device" };

static bool name_is(const char *folder, const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(places); i++) {
		_cleanup_free_ char *path = text_printf("%s%s/name", folder, places[i]);
		char found[64];

		if (path && read_attribute(path, found, sizeof(found)) >= 0)
			return streq(found, name);
	}
	return false;
}

static bool device_is(const char *folder, const char *device)
{
	_cleanup_free_ char *link = text_printf("%s/device", folder), *real = NULL;
	const char *slash;

	real = link ? realpath(link, NULL) : NULL;
	slash = real ? strrchr(real, '/') : NULL;
	return slash && streq(slash + 1, device);
}

bool hwmon_is_chip(const char *folder, const char *chip)
{
	_cleanup_free_ char *name = strdup(chip);
	char *at = name ? strchr(name, '@') : NULL;

	if (!name)
		return false;
	if (at)
		*at = '\0';
	return name_is(folder, name) && (!at || device_is(folder, at + 1));
}
