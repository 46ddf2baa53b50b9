/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What sensors measure: read off the loop, because a drive or a BMC may take its time to answer,
 * judged, and summed up to the devices, the groups and the node. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define ANSWER_US (5 * USEC_PER_SEC)

static void read_drive(Job *job)
{
	PowerReading *p = (PowerReading *)job;
	Device *d = p->md->device;

	p->result = d->ops->power(d, &p->watts);
}

static void note_aside(const char *of, bool was_believed, const SensorHealth *h)
{
	if (was_believed && *h->why_aside)
		log_warning("%s: its power reading is set aside: %s", of, h->why_aside);
	else if (!was_believed && !*h->why_aside)
		log_notice("%s: its power reading is believed again", of);
}

static void drive_done(Job *job)
{
	PowerReading *p = (PowerReading *)job;
	ManagedDevice *md = p->md;
	bool was_believed = !*p->health.why_aside;

	p->busy = false;
	if (md->gone) {
		manager_forget_gone(p->manager, md);
		return;
	}
	/* a drive that does not measure itself is no fault */
	if (p->result == -EOPNOTSUPP) {
		md->measured_w = NAN;
		p->never = true;
		return;
	}
	md->measured_w = sensor_judge(&p->health, p->result, p->watts, md->estimated_w,
				      md->device->profile->rated_w)
				 ? p->watts
				 : NAN;
	note_aside(md->device->name, was_believed, &p->health);
}

static void managed_read_power(Manager *m, ManagedDevice *md)
{
	PowerReading *p = &md->power;

	if (managed_asleep(md))
		md->measured_w = NAN; /* asking would wake it */
	if (!md->device->ops->power || p->busy || p->never || managed_asleep(md))
		return;
	*p = (PowerReading){ .job = { .slow = true, .run = read_drive, .done = drive_done },
			     .manager = m,
			     .md = md,
			     .health = p->health,
			     .busy = true };
	if (m->loop->submit(m->loop, &p->job) < 0)
		p->busy = false;
}

static void read_sensor(Job *job)
{
	ManagedSensor *s = (ManagedSensor *)job;

	s->result = sensor_read(s->sensor, &s->read_w);
}

static bool covers(const ManagedSensor *s, const ManagedDevice *md)
{
	const SensorConfig *c = s->config;

	return c->scope == SENSOR_OF_NODE ||
	       (c->scope == SENSOR_OF_GROUP && streq(c->target, md->device->group)) ||
	       (c->scope == SENSOR_OF_DEVICE &&
		(streq(c->target, md->device->name) || streq(c->target, md->device->id)));
}

/* What the things that it measures are expected to draw, and can at most. Of the host nothing is
 * known: any watts are possible. */
static void expectation(const Manager *m, const ManagedSensor *s, double *ret_w, double *ret_rated)
{
	*ret_w = *ret_rated = s->config->scope == SENSOR_OF_HOST ? INFINITY : 0;
	for (size_t i = 0; i < m->n_devices; i++)
		if (covers(s, m->devices[i])) {
			*ret_w += m->devices[i]->estimated_w;
			*ret_rated += m->devices[i]->device->profile->rated_w;
		}
}

static const ManagedSensor *find_sensor(const Manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_sensors; i++)
		if (streq(m->sensors[i].config->name, name))
			return &m->sensors[i];
	return NULL;
}

/* What it measures besides storage. */
static double besides_w(const Manager *m, const ManagedSensor *s)
{
	const ManagedSensor *other = s->config->less ? find_sensor(m, s->config->less) : NULL;

	return s->config->subtract_w + (other ? other->watts : s->config->less ? NAN : 0);
}

static void sensor_done(Job *job)
{
	ManagedSensor *s = (ManagedSensor *)job;
	bool was_believed = !*s->health.why_aside;
	double expected_w, rated_w, watts = s->read_w - besides_w(s->manager, s);

	s->busy = false;
	if (s->result == -EAGAIN)
		return;
	expectation(s->manager, s, &expected_w, &rated_w);
	s->watts = sensor_judge(&s->health, s->result, watts, expected_w, rated_w) ? watts : NAN;
	note_aside(s->config->name, was_believed, &s->health);
}

/* What it said long ago is no measurement of now. */
static void forget_if_late(const Manager *m, ManagedSensor *s)
{
	if (manager_now_us(m) < s->begun_us + ANSWER_US || isnan(s->watts))
		return;
	s->watts = NAN;
	snprintf(s->health.why_aside, sizeof(s->health.why_aside), "it does not answer");
	note_aside(s->config->name, true, &s->health);
}

void manager_read_sensors(Manager *m)
{
	for (size_t i = 0; i < m->n_sensors; i++) {
		ManagedSensor *s = &m->sensors[i];

		if (s->busy) {
			forget_if_late(m, s);
			continue;
		}
		s->begun_us = manager_now_us(m);
		s->job = (Job){ .slow = true, .run = read_sensor, .done = sensor_done };
		s->busy = m->loop->submit(m->loop, &s->job) >= 0;
	}
	/* a device's own sensor, outside it, is nearer the truth than what the drive says */
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedSensor *s = manager_sensor_of(m, SENSOR_OF_DEVICE, m->devices[i]);

		if (s)
			m->devices[i]->measured_w = s->watts;
		else
			managed_read_power(m, m->devices[i]);
	}
}

const ManagedSensor *manager_sensor_of(const Manager *m, SensorScope scope, const ManagedDevice *md)
{
	for (size_t i = 0; i < m->n_sensors; i++)
		if (m->sensors[i].config->scope == scope && (!md || covers(&m->sensors[i], md)))
			return &m->sensors[i];
	return NULL;
}

/* Is it the first device of those that the sensor measures? So that each sensor counts once. */
static bool is_first(const Manager *m, const ManagedSensor *s, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (covers(s, m->devices[i]))
			return false;
	return true;
}

double manager_measure(const Manager *m)
{
	const ManagedSensor *s = manager_sensor_of(m, SENSOR_OF_NODE, NULL);
	double total = 0;

	if (s && !isnan(s->watts))
		return s->watts;
	for (size_t i = 0; i < m->n_devices; i++) {
		s = manager_sensor_of(m, SENSOR_OF_GROUP, m->devices[i]);
		if (!s || isnan(s->watts))
			total += m->devices[i]->measured_w;
		else if (is_first(m, s, i))
			total += s->watts;
	}
	return m->n_devices ? total : NAN;
}

int manager_open_sensors(Manager *m)
{
	size_t n = m->config.n_sensors;

	m->sensors = calloc(n + 1, sizeof(*m->sensors));
	if (!m->sensors)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ManagedSensor *s = &m->sensors[m->n_sensors++];
		int r = sensor_new(&m->config.sensors[i], m->config.sysfs_root ?: "/sys",
				   &s->sensor);

		if (r < 0)
			return r;
		s->manager = m;
		s->config = &m->config.sensors[i];
		s->watts = NAN;
	}
	return 0;
}

void manager_close_sensors(Manager *m)
{
	for (size_t i = 0; i < m->n_sensors; i++)
		sensor_free(m->sensors[i].sensor);
	free(m->sensors);
}

size_t manager_sensor_count(const Manager *m)
{
	return m->n_sensors;
}

void manager_sensor(const Manager *m, size_t index, SensorState *ret)
{
	static const char *const scopes[] = { "node", "group", "device", "host" };
	const ManagedSensor *s = &m->sensors[index];

	*ret = (SensorState){ .name = s->config->name,
			      .type = sensor_type_name(s->config->type),
			      .of = scopes[s->config->scope],
			      .target = s->config->target,
			      .watts = s->watts,
			      .why_aside = s->health.why_aside };
}
