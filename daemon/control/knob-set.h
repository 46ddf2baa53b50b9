/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The knobs of a device: what they ought to say, what they have been verified to say, and what they
 * said before storpower touched them. */

#include "control/tools.h"

int knob_set_init(Managed *md);
void knob_set_done(Managed *md);

/* What a probe has found, a knob each. */
typedef struct KnobFound {
	bool offered;
	bool left; /* an earlier run had set it: `original` is what that run found */
	bool moot; /* an earlier run had set it, and nothing of that is left to be put back */
	char *why_not;
	KnobValue original, current;
} KnobFound;
typedef struct ProbeFound {
	Offer offer;
	Condition condition; /* ACTIVE where it is not asleep, or cannot tell */
	bool has_cache;
	CacheState cache;
	KnobFound knobs[]; /* in registry order */
} ProbeFound;
/* Takes the texts over. redirects: only the knobs that redirect were asked. */
void knob_set_take_probe(Managed *md, ProbeFound *found, bool redirects, Tools *t);

const HeldKnob *knob_set_redirect(const Managed *md); /* NULL: none is offered */
bool knob_set_touched(const Managed *md);             /* is anything still to be given back? */
/* When a queue that a knob stopped may be stopped again. */
uint64_t knob_set_thawed_us(const Managed *md);

/* Says what ought to be. What holds already settles at once. */
void knob_set_aim(Managed *md, const Setting *target, Tools *t);
/* The same target once more, after something else has changed. */
void knob_set_aim_again(Managed *md, Tools *t);
/* As it was found, but a disk that sleeps sleeps on, unless writes held back have to reach it. */
bool knob_set_may_sleep_on(const Managed *md);
void knob_set_let_sleep_on(Managed *md, Tools *t);
void knob_set_aim_as_found(Managed *md, Tools *t);
/* All is given back first, then the device is asked anew. */
void knob_set_start_over(Managed *md);

/* A step sets out: raises count from now on. */
void knob_set_begin(Managed *md, HeldKnob *hk, bool raises, Tools *t);
void knob_set_note_recorded(HeldKnob *hk);

/* What has come of a step, copied from its job. */
typedef struct StepOutcome {
	HeldKnob *hk;
	int result;
	bool raises;
	bool refused; /* the device was not asked */
	Setting before, target;
	KnobValue value, was, found; /* found: "" where it could not be read */
} StepOutcome;
void knob_set_take_success(Managed *md, const StepOutcome *s, Tools *t);
void knob_set_take_failure(Managed *md, const StepOutcome *s, Tools *t);
/* Somebody changed the value between our reading it and our first write: theirs is the original. */
void knob_set_take_stale(Managed *md, const StepOutcome *s, Tools *t);

/* What the knobs say now; "" where one could not be read. True: something was lost, and is set
 * again. reset: what lives in the device is lost in any case. */
bool knob_set_take_reread(Managed *md, const KnobValue *found, const bool *asked, bool reset,
			  Tools *t);
void knob_set_expect_worst(Managed *md); /* until that has been read */

/* The condition as others have seen it change. */
void knob_set_condition(Managed *md, Condition c); /* the disk is in it, whatever was aimed at */
void knob_set_woken(Managed *md);                  /* active, and so it is to be */
bool knob_set_say_active(Managed *md);             /* what its knob would read; true: it is news */
void knob_set_forget_found_condition(Managed *md); /* it is to be active at the end */
