/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-sensor.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim-random.h"

/* The outages of a sensor come one in each such time as makes them the share that they are. */
static bool is_silent(const SimSensor *s, uint64_t t_us)
{
	SimDemand outage = { .kind = SIM_BURST, .high_mb_s = 1 };
	uint64_t until_us;

	if (s->plan->dropout <= 0)
		return false;
	outage.on_us = s->plan->outage_us;
	outage.off_us = (uint64_t)((double)outage.on_us * (1 / s->plan->dropout - 1));
	return sim_demand_at(&outage, s->seed, t_us, &until_us) > 0;
}

static bool measures(const SimSensor *s, const SimDevice *d)
{
	const SensorTarget *of = &s->plan->of;

	switch (of->scope) {
	case SENSOR_OF_GROUP: return streq(of->name, d->device->group);
	case SENSOR_OF_DEVICE: return streq(of->name, d->device->name);
	default: return true;
	}
}

static double true_watts(const SimSensor *s, uint64_t t_us)
{
	const SimNode *n = s->node;
	double sum = 0;

	for (size_t i = 0; i < n->n_devices; i++) {
		if (!measures(s, n->devices[i]))
			continue;
		sim_device_advance_locked(n->devices[i]);
		sum += sim_history_watts(&n->devices[i]->record->history, t_us);
		sim_record_unlock(n->devices[i]->record);
	}
	return sum;
}

static int sensor_read(void *source, double *ret_w)
{
	const SimSensor *s = source;
	uint64_t now_us = clock_now_us(s->node->clock), epoch_us = s->node->memory.header->epoch_us;
	uint64_t then_us = now_us - MIN(s->plan->delay_us, now_us);
	double factor = 1 + s->plan->bias;

	if (is_silent(s, now_us - MIN(epoch_us, now_us)))
		return -ENODATA;
	factor *= 1 + s->plan->noise * sim_normal(s->seed, now_us);
	*ret_w = true_watts(s, then_us) * fmax(factor, 0);
	return 0;
}

int sim_sensors_build(SimNode *n)
{
	const SimSensing *sensing = &n->file->sensing;

	n->sensors = calloc(sensing->n_plans + 1, sizeof(*n->sensors));
	if (!n->sensors)
		return -ENOMEM;
	for (size_t i = 0; i < sensing->n_plans; i++) {
		const SimSensorPlan *p = &sensing->plans[i];
		IniLine l = { .path = n->file->path, .line = p->line };

		if (p->of.scope == SENSOR_OF_DEVICE && !sim_node_find(n, p->of.name))
			return ini_complain(&l, "[sensor %s]: the node has no device \"%s\"",
					    p->name, p->of.name);
		n->sensors[i] =
			(SimSensor){ .plan = p,
				     .node = n,
				     .seed = sim_hash(n->file->seed, sim_hash_text(p->name)) };
	}
	return 0;
}

static int add_config(SimSensor *s, SensorConfig **configs, size_t *n)
{
	SensorConfig c = { .type = SENSOR_BUILT_IN,
			   .scope = s->plan->of.scope,
			   .read = sensor_read,
			   .source = s };
	SensorConfig *slot;

	c.name = strdup(s->plan->name);
	c.target = strdup(s->plan->of.name);
	slot = c.name && c.target ? ARRAY_GROW(*configs, *n) : NULL;
	if (!slot) {
		sensor_config_done(&c);
		return -ENOMEM;
	}
	*slot = c;
	return 0;
}

int sim_node_sensors(Inventory *node, SensorConfig **configs, size_t *n)
{
	SimNode *of = sim_node_of(node);
	int r = 0;

	for (size_t i = 0; i < of->file->sensing.n_plans && r >= 0; i++)
		r = add_config(&of->sensors[i], configs, n);
	return r;
}
