/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The consent of the operator's hooks to a step that stops a disk, or holds back what is written to
 * it. A step waits for it while fast knobs of the device, and all of the others, go on. */

#include "control/errands.h"

/* Which step of theirs the knob is to make now: one of HookStep, or -1. To give back, to wake and
 * to go from one sleep to a deeper one are none. */
int consent_step(const Managed *md, const HeldKnob *hk, const Tools *t);
bool consent_is_awaited(const Managed *md, const HeldKnob *hk, const Tools *t);
bool consent_is_wanted(const Managed *md, HookStep step, const Tools *t);
/* Its step is being made now. */
bool consent_is_under_way(const Managed *md, HookStep step);
/* It is no longer wanted, or takes too long to be taken. */
bool consent_is_stale(const Managed *md, HookStep step, const Tools *t);
/* Takes back a question that nobody has heard yet. False: there is none. */
bool consent_withdraw(Managed *md, HookStep step);

/* `told`: what the step is; taken over. waits: the answer is waited for. */
void consent_ask(Managed *md, HookStep step, char *told, bool waits, Tools *t);
/* The answer is waited for no longer. */
void consent_waive(Managed *md, HookStep step, Tools *t);
/* The step is over; who was asked is told what came of it: "done", "failed: ..." */
void consent_end(Managed *md, HookStep step, const char *result, Tools *t);
/* Hands out what waits, one question a device and no more than a few of all. */
void consent_send(Tools *t);
/* An answer. What it needs; *ret_veto: NULL, or who refused and why (of the job's, malloc'd). */
Need consent_take(Managed *md, Job *j, Tools *t, char **ret_veto);
void consent_done(Managed *md);
