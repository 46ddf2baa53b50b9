/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/reading.h"

#include <math.h>

#include "control/fleet.h"
#include "control/trust.h"

/* Idle it errs as its profile does, above that as the prediction of its IO. */
double reading_model_error_w(const Managed *md)
{
	const Profile *p = md->device->profile;
	double watts = md->trust.estimated_w, base = MIN(watts, p->idle_w);

	return base * p->error + (watts - base) * md->planned.device.error;
}

/* One of several is as good as the others; what is set aside says nothing. NULL: there is none. */
static const Gauge *believed(const Gauges *g, SensorScope scope, const Managed *md)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].config->scope == scope && gauge_covers(&g->gauges[i], md) &&
		    !isnan(g->gauges[i].watts))
			return &g->gauges[i];
	return NULL;
}

/* Takes off what another device behind the same sensor draws. */
static void take_off(const Managed *other, DeviceReading *r)
{
	bool measured = !isnan(other->trust.measured_w);

	r->watts -= measured ? other->trust.measured_w : other->trust.estimated_w;
	r->error_w +=
		measured ? other->trust.measured_w * SENSOR_ERROR : reading_model_error_w(other);
}

static DeviceReading read_among_others(const Gauge *s, const Fleet *f, const Managed *md)
{
	DeviceReading r = { .sensor = s->config->name,
			    .of = s->config->scope == SENSOR_OF_GROUP ? "group" : "node",
			    .watts = s->watts,
			    .error_w = s->watts * SENSOR_ERROR };

	for_each_device(const Managed, other, f) if (other != md && gauge_covers(s, other))
		take_off(other, &r);
	return r;
}

DeviceReading reading_of(const Gauges *g, const Fleet *f, const Managed *md)
{
	const Gauge *own = believed(g, SENSOR_OF_DEVICE, md);
	const Gauge *shared = believed(g, SENSOR_OF_GROUP, md) ?: believed(g, SENSOR_OF_NODE, md);
	double watts = md->trust.measured_w;

	if (!isnan(watts))
		return (DeviceReading){ .sensor = own ? own->config->name : "(drive)",
					.of = "device",
					.watts = watts,
					.error_w = watts * SENSOR_ERROR };
	if (shared)
		return read_among_others(shared, f, md);
	return (DeviceReading){ .sensor = "", .of = "", .watts = NAN, .error_w = NAN };
}
