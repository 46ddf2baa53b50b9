/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernel Documentation/hwmon/sysfs-interface.rst: powerN_input or powerN_average, in microwatts.
 * The ACPI power meter has them, and its name, one folder deeper up to Linux 6.12. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/hwmon.h"
#include "base/text.h"
#include "sensor/sensor-private.h"

static const char *const places[] = { "", "/device" };
static const char *const values[] = { "input", "average" };

static char *find_input(const char *folder, const char *input)
{
	for (size_t i = 0; i < ELEMENTSOF(places) * ELEMENTSOF(values); i++) {
		_cleanup_free_ char *path =
			text_printf("%s%s/%s_%s", folder, places[i / 2], input, values[i % 2]);

		if (path && access(path, R_OK) == 0)
			return TAKE_PTR(path);
	}
	return NULL;
}

static int find_chip_input(Sensor *s)
{
	_cleanup_free_ char *class = text_printf("%s/class/hwmon", s->sysfs_root);
	_cleanup_closedir_ DIR *dir = class ? opendir(class) : NULL;
	struct dirent *e;

	while (dir && !s->path && (e = readdir(dir))) {
		_cleanup_free_ char *folder = text_printf("%s/%s", class, e->d_name);

		if (*e->d_name != '.' && folder && hwmon_is_chip(folder, s->config.chip))
			s->path = find_input(folder, s->config.input);
	}
	return s->path ? 0 : -ENOENT;
}

int sensor_hwmon_read(Sensor *s, double *ret_w)
{
	char text[32];
	double microwatts;
	int r = s->path ? 0 : find_chip_input(s);

	if (r >= 0)
		r = read_attribute(s->path, text, sizeof(text));
	if (r >= 0)
		r = parse_double(text, &microwatts);
	if (r < 0) {
		/* a driver that comes back may have another number */
		free(s->path);
		s->path = NULL;
		return r;
	}
	*ret_w = microwatts * 1e-6;
	return 0;
}
