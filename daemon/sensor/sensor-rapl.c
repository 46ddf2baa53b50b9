/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernel Documentation/power/powercap/powercap.rst: energy_uj counts microjoules up to
 * max_energy_range_uj and starts again at zero. */

#include <errno.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "sensor/sensor-private.h"

static int read_microjoules(const Sensor *s, const char *attribute, double *ret)
{
	_cleanup_free_ char *path =
		text_printf("%s/class/powercap/%s/%s", s->sysfs_root, s->config.input, attribute);
	char text[32];
	int r = path ? read_attribute(path, text, sizeof(text)) : -ENOMEM;

	return r < 0 ? r : parse_double(text, ret);
}

int sensor_rapl_read(Sensor *s, double *ret_w)
{
	double now_uj, range_uj, joules;
	uint64_t now_us = clock_now_us(&clock_boottime), since_us = s->last_us;
	int r = read_microjoules(s, "energy_uj", &now_uj);

	if (r < 0)
		return r;
	joules = now_uj * 1e-6 - s->last_j;
	if (joules < 0 && read_microjoules(s, "max_energy_range_uj", &range_uj) >= 0)
		joules += range_uj * 1e-6;
	s->last_j = now_uj * 1e-6;
	s->last_us = now_us;
	if (!since_us || now_us <= since_us)
		return -EAGAIN;
	*ret_w = joules * USEC_PER_SEC / (double)(now_us - since_us);
	return 0;
}
