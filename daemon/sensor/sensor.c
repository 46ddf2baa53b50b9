/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sensor/sensor.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sensor/sensor-private.h"

#define STUCK_READINGS    30
#define STUCK_MOVED       0.2 /* of the rated power */
#define SETTLING_READINGS 5
#define EXPECTED_BLEND    0.2 /* weight of the newest expectation */
#define IMPOSSIBLE        2.0 /* times the rated power */

static int read_built_in(Sensor *s, double *ret_w)
{
	return s->config.read(s->config.source, ret_w);
}

static int (*const reads[])(Sensor *s, double *ret_w) = {
	[SENSOR_HWMON] = sensor_hwmon_read,
	[SENSOR_DCMI] = sensor_dcmi_read,
	[SENSOR_RAPL] = sensor_rapl_read,
	[SENSOR_BUILT_IN] = read_built_in,
};

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

int sensor_new(const SensorConfig *config, const char *sysfs_root, Sensor **ret)
{
	_cleanup_(sensor_freep) Sensor *s = calloc(1, sizeof(*s));
	SensorConfig *c;

	if (!s)
		return -ENOMEM;
	s->fd = -EBADF;
	c = &s->config;
	*c = (SensorConfig){ .type = config->type,
			     .scope = config->scope,
			     .subtract_w = config->subtract_w,
			     .read = config->read,
			     .source = config->source };
	if (copy_text(&c->name, config->name) < 0 || copy_text(&c->chip, config->chip) < 0 ||
	    copy_text(&c->input, config->input) < 0 || copy_text(&c->target, config->target) < 0 ||
	    copy_text(&c->less, config->less) < 0 || copy_text(&s->sysfs_root, sysfs_root) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(s);
	return 0;
}

Sensor *sensor_free(Sensor *s)
{
	if (!s)
		return NULL;
	closep(&s->fd);
	sensor_config_done(&s->config);
	free(s->sysfs_root);
	free(s->path);
	free(s);
	return NULL;
}

int sensor_read(Sensor *s, double *ret_w)
{
	return reads[s->config.type](s, ret_w);
}

/* When a reading has changed, the expectation is still that of the load before, and at first it is
 * no more than a guess: what it is then says nothing. Nor does a single one that is far off. */
static void note_expectation(SensorHealth *h, double watts, double expected_w)
{
	h->repeated = watts == h->last_w ? h->repeated + 1 : 1;
	h->last_w = watts;
	if (h->repeated <= SETTLING_READINGS) {
		h->expected_w = h->least_expected_w = h->most_expected_w = expected_w;
		return;
	}
	h->expected_w += EXPECTED_BLEND * (expected_w - h->expected_w);
	h->least_expected_w = fmin(h->least_expected_w, h->expected_w);
	h->most_expected_w = fmax(h->most_expected_w, h->expected_w);
}

static bool is_stuck(const SensorHealth *h, double rated_w)
{
	return h->repeated > STUCK_READINGS &&
	       h->most_expected_w - h->least_expected_w > STUCK_MOVED * rated_w;
}

bool sensor_judge(SensorHealth *h, int r, double watts, double expected_w, double rated_w)
{
	char *why = h->why_aside;
	size_t size = sizeof(h->why_aside);

	*why = '\0';
	if (r < 0) {
		snprintf(why, size, "it cannot be read: %s", strerror(-r));
		return false;
	}
	if (isfinite(watts))
		note_expectation(h, watts, expected_w);
	if (!isfinite(watts))
		snprintf(why, size, "it gives no number");
	else if (watts < 0)
		snprintf(why, size, "it says %.1f W, which is negative", watts);
	else if (watts > IMPOSSIBLE * rated_w)
		snprintf(why, size, "it says %.1f W, where %.1f W are possible", watts, rated_w);
	else if (is_stuck(h, rated_w))
		snprintf(why, size, "it stays at %.1f W while the load changes", watts);
	return !*why;
}
