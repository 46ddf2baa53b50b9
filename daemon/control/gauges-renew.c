/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sensors as they are configured, at first and again. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/drift.h"

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static bool is_as_before(const SensorConfig *a, const SensorConfig *b)
{
	return streq(a->name, b->name) && a->type == b->type && a->scope == b->scope &&
	       a->subtract_w == b->subtract_w && a->read == b->read && a->source == b->source &&
	       same_text(a->chip, b->chip) && same_text(a->input, b->input) &&
	       same_text(a->target, b->target) && same_text(a->less, b->less);
}

static size_t place_of(const Gauges *g, const SensorConfig *config)
{
	size_t i = 0;

	while (i < g->n && !is_as_before(g->gauges[i].config, config))
		i++;
	return i;
}

static int renew_one(const Gauges *g, const SensorConfig *config, const char *sysfs_root,
		     Gauges *ret)
{
	size_t place = place_of(g, config), i = ret->n++;
	Gauge *s = &ret->gauges[i];

	if (place == g->n) {
		s->watts = NAN;
		s->config = config;
		return sensor_new(config, sysfs_root ?: "/sys", &s->sensor);
	}
	*s = g->gauges[place];
	s->config = config;
	ret->drift[i] = g->drift[place];
	return 0;
}

void gauges_drop(const Gauges *g, Gauges *made)
{
	for (size_t i = 0; i < made->n; i++)
		if (place_of(g, made->gauges[i].config) == g->n)
			sensor_free(made->gauges[i].sensor);
	free(made->gauges);
	free(made->drift);
	free(made->leaving);
}

int gauges_renew(const Gauges *g, const ControlConfig *now, Gauges *ret)
{
	size_t n = now->n_sensors;
	Gauges made = { .gauges = calloc(n + 1, sizeof(*made.gauges)),
			.drift = calloc(n + 1, sizeof(*made.drift)),
			.leaving = calloc(g->n + g->n_leaving + 1, sizeof(*made.leaving)) };
	int r = made.gauges && made.drift && made.leaving ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = renew_one(g, &now->sensors[i], now->sysfs_root, &made);
	if (r < 0) {
		gauges_drop(g, &made);
		return r;
	}
	ret->gauges = made.gauges;
	ret->drift = made.drift;
	ret->leaving = made.leaving;
	ret->n = made.n;
	ret->n_leaving = 0;
	return 0;
}

static bool has_sensor(const Gauges *g, const Sensor *sensor)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].sensor == sensor)
			return true;
	return false;
}

/* A worker may be reading one that is not configured any more: it is freed when it comes back. */
void gauges_swap(Gauges *g, Gauges *now)
{
	memcpy(now->leaving, g->leaving, g->n_leaving * sizeof(*g->leaving));
	now->n_leaving = g->n_leaving;
	for (size_t i = 0; i < g->n; i++) {
		Gauge *s = &g->gauges[i];

		if (has_sensor(now, s->sensor))
			continue;
		free(g->drift[i].fit);
		if (s->reading)
			now->leaving[now->n_leaving++] = s->sensor;
		else
			sensor_free(s->sensor);
	}
	free(g->gauges);
	free(g->drift);
	free(g->leaving);
	g->gauges = now->gauges;
	g->drift = now->drift;
	g->leaving = now->leaving;
	g->n = now->n;
	g->n_leaving = now->n_leaving;
}
