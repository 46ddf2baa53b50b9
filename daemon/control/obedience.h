/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How far the knobs of a device obey, and whether somebody else sets them: when one that failed is
 * tried again, and which are planned without. */

#include "control/tools.h"

int obedience_init(Managed *md);
void obedience_done(Managed *md);

static inline Obedience *obedience_of(const Managed *md, const HeldKnob *hk)
{
	return &md->obedience[hk - md->knobs.knobs];
}

/* Does one wait for its next try that the device cannot do without, because it is in force? */
bool obedience_holds(const Managed *md);
/* Has one not got to where it ought to be, because it failed or was left to somebody else? */
bool obedience_is_missing(const Managed *md);
/* Does one that failed wait, while the device is planned for without it? */
bool obedience_stands_aside(const Managed *md, const HeldKnob *hk);
/* Mechanisms that are as found because one did not obey, for now or for good. */
unsigned obedience_withheld(const Managed *md);
Offer obedience_offer(const Managed *md); /* without those */

/* It has been asked anew. */
void obedience_start(Managed *md, const HeldKnob *hk);
void obedience_note_success(Managed *md, const HeldKnob *hk);
/* asked: the device was asked, and did not obey. Returns how long it waits for the next try, us. */
uint64_t obedience_note_failure(Managed *md, const HeldKnob *hk, bool asked, uint64_t now_us);
/* After a failure to lower: what failed too often is not used any more. what: the value and the
 * failure. */
void obedience_withdraw(Managed *md, const HeldKnob *hk, const char *what);
/* Somebody else has set it. True: so often that it is left to them, as configured. */
bool obedience_note_taken(Managed *md, const HeldKnob *hk, const KnobValue *found, const Tools *t);
/* What is to be given back does not wait for as long as the next try to lower. */
void obedience_hurry(Managed *md, const HeldKnob *hk, uint64_t now_us);
/* All may be tried at once; what was withdrawn is offered again. */
void obedience_forget(Managed *md);
/* What was left to somebody else may be set again: nothing is enforced any more. */
void obedience_end_conflicts(Managed *md);
/* Times of the next try that have come; true: there were some. */
bool obedience_clear_due(Managed *md, uint64_t now_us);
