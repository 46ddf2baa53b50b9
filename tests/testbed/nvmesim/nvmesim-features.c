/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Get and Set Features, and the faults that a test asks for. Layouts of command dword 11 from the
 * NVMe base specification 2.3 and the OCP Datacenter NVMe SSD Specification 2.0 (C7h). */

#include <stdlib.h>

#include "nvmesim.h"

#define SAVE_BIT  (1u << 31)
#define OCP_INDEX 1

struct Feature {
	uint8_t id;
	bool power; /* goes back to its default, or the saved value, on a reset */
	bool (*offered)(const Sim *s);
	uint16_t (*check)(const Sim *s, uint32_t value);
	void (*apply)(Sim *s, uint32_t value);
	uint32_t (*get)(const Sim *s, uint32_t cdw11);
};

/* 02h: power state in bits 4:0, workload hint in 7:5 */
static uint16_t power_state_check(const Sim *s, uint32_t value)
{
	return (value & 31) < s->drive.n_states ? OK : INVALID_FIELD;
}

static void power_state_apply(Sim *s, uint32_t value)
{
	s->hint = value >> 5 & 7;
	power_enter(s, value & 31, "host");
}

static uint32_t power_state_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->ps | s->hint << 5;
}

/* 04h: composite temperature only; threshold in 15:0, sensor 19:16, over or under in 21:20 */
static void temperature_apply(Sim *s, uint32_t value)
{
	if (value >> 20 & 3)
		s->under_k = value & 0xffff;
	else
		s->over_k = value & 0xffff;
}

static uint16_t temperature_check(const Sim *s, uint32_t value)
{
	(void)s;
	return value >> 16 & 0xf || (value >> 20 & 3) > 1 ? INVALID_FIELD : OK;
}

static uint32_t temperature_get(const Sim *s, uint32_t cdw11)
{
	return cdw11 >> 20 & 3 ? s->under_k : s->over_k;
}

/* 07h: queues, less one; the host may ask for any number and is told what it gets */
static uint32_t queues_get(const Sim *s, uint32_t cdw11)
{
	uint32_t n = s->options.queues - 1;

	(void)cdw11;
	return n | n << 16;
}

static void events_apply(Sim *s, uint32_t value)
{
	s->async_events = value;
}

static uint32_t events_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->async_events;
}

static void apst_apply(Sim *s, uint32_t value)
{
	s->apst_on = value & 1;
	s->idle_since_ns = now_ns();
}

static uint32_t apst_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->apst_on;
}

static void keep_alive_apply(Sim *s, uint32_t value)
{
	s->keep_alive_ms = value;
}

static uint32_t keep_alive_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->keep_alive_ms;
}

/* 23h: value in bits 15:0, scale in 17:16 (1: 0.1 mW, 2: 10 mW); 0 is no limit */
static double limit_watts(uint32_t value)
{
	return (value & 0xffff) * ((value >> 16 & 3) == 1 ? 1e-4 : 1e-2);
}

static bool limit_offered(const Sim *s)
{
	return s->options.limit;
}

static uint16_t limit_check(const Sim *s, uint32_t value)
{
	unsigned scale = value >> 16 & 3;

	if (!(value & 0xffff))
		return OK;
	if (scale != 1 && scale != 2)
		return INVALID_FIELD;
	return limit_watts(value) < s->drive.limit_min_w ? INVALID_POWER_LIMIT : OK;
}

static void limit_apply(Sim *s, uint32_t value)
{
	s->limit_raw = value;
	s->limit_w = limit_watts(value);
}

static uint32_t limit_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->limit_raw;
}

/* 25h: action in bits 3:0, 1 starts and 0 stops */
static bool measurement_offered(const Sim *s)
{
	return s->options.measurement;
}

static uint16_t measurement_check(const Sim *s, uint32_t value)
{
	(void)s;
	return (value & 0xf) > 1 ? INVALID_FIELD : OK;
}

static void measurement_apply(Sim *s, uint32_t value)
{
	measurement_set(s, value & 1);
}

static uint32_t measurement_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->measurement.on;
}

/* C7h: watts in bits 7:0 */
static bool ocp_offered(const Sim *s)
{
	return s->options.ocp;
}

static uint16_t ocp_check(const Sim *s, uint32_t value)
{
	return (value & 0xff) && (value & 0xff) < s->drive.limit_min_w ? INVALID_FIELD : OK;
}

static void ocp_apply(Sim *s, uint32_t value)
{
	s->ocp_raw = value & 0xff;
	s->ocp_w = s->ocp_raw;
}

static uint32_t ocp_get(const Sim *s, uint32_t cdw11)
{
	(void)cdw11;
	return s->ocp_raw;
}

static const Feature features[] = {
	{ FEATURE_POWER_STATE, true, NULL, power_state_check, power_state_apply, power_state_get },
	{ 0x04, false, NULL, temperature_check, temperature_apply, temperature_get },
	{ 0x07, false, NULL, NULL, NULL, queues_get },
	{ 0x0b, false, NULL, NULL, events_apply, events_get },
	{ 0x0c, false, NULL, NULL, apst_apply, apst_get },
	{ 0x0f, false, NULL, NULL, keep_alive_apply, keep_alive_get },
	{ FEATURE_POWER_LIMIT, true, limit_offered, limit_check, limit_apply, limit_get },
	{ 0x25, false, measurement_offered, measurement_check, measurement_apply, measurement_get },
	{ FEATURE_OCP_WATTS, true, ocp_offered, ocp_check, ocp_apply, ocp_get },
};

static const Feature *find(const Sim *s, uint8_t id)
{
	for (size_t i = 0; i < ELEMENTSOF(features); i++)
		if (features[i].id == id)
			return !features[i].offered || features[i].offered(s) ? &features[i] : NULL;
	return NULL;
}

/* A vendor's feature belongs to the UUID that the command names. */
static bool other_vendor(const Command *c)
{
	return (cdw(c, 10) & 0xff) >= 0xc0 && (cdw(c, 14) & 0x7f) != OCP_INDEX;
}

static uint32_t effective_value(const Sim *s, const Command *c, const Feature *f)
{
	return cdw(c, f->id == FEATURE_POWER_LIMIT ? s->options.limit_dword : 11);
}

static void set_done(Sim *s, Job *j)
{
	_cleanup_free_ Job *job = j;
	const Feature *f = job->feature;
	Fault *fault = &s->faults[f->id];

	if (!job->command.conn)
		return;
	fault->lied = fault->mode == FAULT_LIE;
	fault->shown = job->value;
	if (job->effective && f->apply)
		f->apply(s, job->value);
	s->counters.sets += f->power;
	command_reply(s, &job->command, OK, f->id == 0x07 ? f->get(s, 0) : 0, NULL, 0);
}

static uint16_t set_check(const Sim *s, const Command *c, const Feature *f, uint32_t value)
{
	uint8_t id = cdw(c, 10) & 0xff;

	if (s->faults[id].refuse)
		return s->faults[id].refuse;
	if (!f || other_vendor(c))
		return INVALID_FIELD;
	return f->check ? f->check(s, value) : OK;
}

void features_set(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	uint8_t id = cdw(c, 10) & 0xff;
	const Feature *f = find(s, id);
	uint32_t value = f ? effective_value(s, c, f) : 0;
	uint16_t status = set_check(s, c, f, value);
	Job *j = status ? NULL : calloc(1, sizeof(*j));

	if (cdw(c, 10) & SAVE_BIT)
		s->counters.saved++;
	if (!j) {
		command_reply(s, c, status ?: INVALID_FIELD, 0, NULL, 0);
		return;
	}
	if (cdw(c, 10) & SAVE_BIT)
		s->saved_value[id] = value;
	for (size_t i = 0; id == 0x0c && i < MIN(n / 8, (size_t)DRIVE_STATES_MAX); i++)
		s->apst[i] = get64(data + 8 * i);
	j->done = set_done;
	j->command = *c;
	j->feature = f;
	j->value = value;
	j->effective = s->faults[id].mode == FAULT_NONE;
	j->due_ns = c->arrived_ns + s->faults[id].slow_ns;
	if (id == FEATURE_POWER_STATE && j->effective)
		j->due_ns += power_transition_ns(s, value & 31);
	job_add(s, j);
	io_pump(s);
}

static uint32_t selected(const Sim *s, const Command *c, const Feature *f)
{
	const Fault *fault = &s->faults[f->id];

	switch (cdw(c, 10) >> 8 & 7) {
	case 1: return f->power ? 0 : f->get(s, cdw(c, 11));
	case 2: return f->power ? s->saved_value[f->id] : f->get(s, cdw(c, 11));
	case 3: return 4 | f->power; /* changeable, saveable */
	default: return fault->lied ? fault->shown : f->get(s, cdw(c, 11));
	}
}

void features_get(Sim *s, const Command *c)
{
	uint8_t id = cdw(c, 10) & 0xff, table[8 * DRIVE_STATES_MAX];
	const Feature *f = find(s, id);
	bool with_table = id == 0x0c;

	if (!f || other_vendor(c)) {
		command_reply(s, c, INVALID_FIELD, 0, NULL, 0);
		return;
	}
	for (unsigned i = 0; i < DRIVE_STATES_MAX; i++)
		put64(table + 8 * i, s->apst[i]);
	command_reply(s, c, OK, selected(s, c, f), with_table ? table : NULL,
		      with_table ? MIN((size_t)command_length(c), sizeof(table)) : 0);
}

void features_reset(Sim *s)
{
	for (size_t i = 0; i < ELEMENTSOF(features); i++) {
		const Feature *f = &features[i];

		s->faults[f->id].lied = false;
		if (f->power && f->id != FEATURE_POWER_STATE)
			f->apply(s, s->saved_value[f->id]);
	}
	s->hint = s->saved_value[FEATURE_POWER_STATE] >> 5 & 7;
	power_enter(s, s->saved_value[FEATURE_POWER_STATE] & 31, "reset");
	s->apst_on = false;
	memset(s->apst, 0, sizeof(s->apst));
	s->async_events = s->keep_alive_ms = s->under_k = 0;
	s->over_k = 343;
	s->measurement.on = false;
}
