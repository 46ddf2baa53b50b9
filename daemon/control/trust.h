/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How far the model is believed of a device: what it draws beside what it was said to draw, and
 * whether pacing reaches its IO at all. */

#include "control/tools.h"

#define SENSOR_ERROR 0.02 /* what a sensor may be off without anything being wrong */

void trust_init(Managed *md, const OperatingBook *known);
static inline bool trust_is_uncontrolled(const Managed *md, uint64_t now_us)
{
	return now_us < md->trust.uncontrolled_until_us;
}

/* What it draws without IO, in the condition that it is in. */
double trust_base_w(const Managed *md);
/* Pacing is relied on again; true: from now on. */
bool trust_clear_due(Managed *md, uint64_t now_us);
/* After new rates. */
Need trust_judge(Managed *md, Tools *t);
/* eBPF saw it spend so much, above idle. */
Need trust_take_overrun(Managed *md, double spent_w, Tools *t);
/* eBPF saw it spend so much above what it draws without IO. */
void trust_note_spent(Managed *md, double spent_w);
void trust_watch_pace(Managed *md, Meter *meter); /* eBPF is told what is in force */

/* What it draws, as its own reading said, or a sensor beside it; r: what the reading returned. */
void trust_take_power(Managed *md, int r, double watts);
/* 100 % of it rises to what it has been measured to draw for a while, for this run and those that
 * follow. Not while a limit is active, lest the limit moves under the operator's hands. */
void trust_learn_operating(Managed *md, bool limited, Tools *t);
void trust_set_measured(Managed *md, double watts);
/* Holds the model against the device's own reading. settling: its setting is being changed. */
void trust_correct(Managed *md, bool settling, uint64_t now_us);
/* After that: by a sensor of more than the device. */
void trust_correct_further(Managed *md, const Correction *c);
void trust_note_aside(const char *of, bool was_believed, const SensorHealth *h);
