/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The jobs that are out on a device. Of steps, probes, rereads and wake tests one is out at a time;
 * readings go beside them. A device that is gone is kept until the last has come back. */

#include "control/job.h"

/* Exclusive jobs; the caller has seen that none is out. All take the job over. */
void errands_send_step(Managed *md, Job *j, Tools *t);
/* It cannot be sent: what comes of it is that error. */
void errands_fail_step(Managed *md, Job *j, int error, Tools *t);
void errands_send_test(Managed *md, Job *j, Tools *t);
/* What is to be done as soon as no other is out. */
void errands_ask(Managed *md, Errand what);
/* Sends the most urgent of that, if it may go. */
void errands_send_next(Managed *md, Tools *t);
/* Somebody reads it back: at once, or not at all. False: it is busy, or there is no memory. */
bool errands_send_reread(Managed *md, RereadReason why, Tools *t);

/* Readings, as far as none of the kind is out. */
void errands_send_power(Managed *md, Tools *t);
void errands_send_cache(Managed *md, Tools *t);
void errands_send_reads(Managed *md, Tools *t);
/* One job for all that answer promptly, one for each of the others. due: which of them; NULL: all.
 */
void errands_send_looks(Tools *t, bool (*due)(const Managed *md, const Tools *t), bool peeks);
/* Hooks are asked or told beside whatever else is out. Takes the job over. */
void errands_send_hook(Managed *md, Job *j, Tools *t);
unsigned errands_looks_out(const Fleet *f); /* of devices that answer promptly */

/* A job has come back. */
void errands_take_back(Managed *md, const Job *j);
void errands_note_gone(Managed *md);
bool errands_overdue(const Managed *md, uint64_t now_us);
/* True once for each job that has become overdue: the others are to make room. */
bool errands_clear_due(Managed *md, uint64_t now_us);
