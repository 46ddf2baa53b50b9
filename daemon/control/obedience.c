/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/obedience.h"

#include <errno.h>

#define RETRY_FIRST_US   USEC_PER_SEC
#define RETRY_LONGEST_US (60 * USEC_PER_SEC)
/* A device that does not obey is asked again ever more seldom. A fast knob wears nothing: after a
 * second, then twice as long each time, for about an hour. A slow one: after a minute, then an
 * hour. */
#define DISOBEYED_FAST    12
#define DISOBEYED_SLOW    3
#define DISOBEYED_LONGER  60
#define DISOBEYED_SLOW_US (60 * USEC_PER_SEC)
#define TAKEN_MAX         3 /* by somebody else, before it is left to them */

#define for_each_obedience(o, md)                                                                  \
	for (Obedience *o = (md)->obedience; (o) < (md)->obedience + knob_count(); (o)++)

int obedience_init(Managed *md)
{
	md->obedience = calloc(knob_count(), sizeof(*md->obedience));
	return md->obedience ? 0 : -ENOMEM;
}

void obedience_done(Managed *md)
{
	if (md->obedience)
		for_each_obedience(o, md) free(o->withdrawn_why);
	free(md->obedience);
}

bool obedience_stands_aside(const Managed *md, const HeldKnob *hk)
{
	return obedience_of(md, hk)->disobeys &&
	       !(setting_mechanisms(&md->knobs.actual) & hk->knob->mechanism);
}

bool obedience_holds(const Managed *md)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (obedience_of(md, hk)->retry_at_us &&
				      !obedience_stands_aside(md, hk)) return true;
	return false;
}

bool obedience_is_missing(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs)
	{
		const Obedience *o = obedience_of(md, hk);

		if ((hk->pending && o->failures) || o->taken >= TAKEN_MAX)
			return true;
	}
	return false;
}

unsigned obedience_withheld(const Managed *md)
{
	unsigned withheld = 0;

	for_each_knob(const HeldKnob, hk, &md->knobs)
	{
		const Obedience *o = obedience_of(md, hk);

		if ((o->retry_at_us || o->withdrawn_why) && obedience_stands_aside(md, hk))
			withheld |= hk->knob->mechanism;
	}
	return withheld;
}

Offer obedience_offer(const Managed *md)
{
	Offer o = md->knobs.offer;

	o.mechanisms &= ~obedience_withheld(md);
	return o;
}

static void start(Obedience *o)
{
	free(o->withdrawn_why);
	*o = (Obedience){};
}

void obedience_start(Managed *md, const HeldKnob *hk)
{
	start(obedience_of(md, hk));
}

void obedience_forget(Managed *md)
{
	for_each_obedience(o, md) start(o);
}

void obedience_end_conflicts(Managed *md)
{
	for_each_obedience(o, md) if (o->taken >= TAKEN_MAX) start(o);
}

void obedience_note_success(Managed *md, const HeldKnob *hk)
{
	Obedience *o = obedience_of(md, hk);

	o->failures = 0;
	o->retry_at_us = 0;
	o->disobeys = false;
}

/* What is in force holds the device as it is, which the others pay for: that is not put off. */
static uint64_t wait_us(const Managed *md, const HeldKnob *hk)
{
	unsigned n = obedience_of(md, hk)->failures - 1;

	if (!obedience_stands_aside(md, hk))
		return MIN(RETRY_FIRST_US << MIN(n, 6U), RETRY_LONGEST_US);
	if (!hk->knob->slow)
		return RETRY_FIRST_US << MIN(n, DISOBEYED_FAST - 1U);
	return n ? DISOBEYED_SLOW_US * DISOBEYED_LONGER : DISOBEYED_SLOW_US;
}

uint64_t obedience_note_failure(Managed *md, const HeldKnob *hk, bool asked, uint64_t now_us)
{
	Obedience *o = obedience_of(md, hk);
	uint64_t us;

	o->failures++;
	o->disobeys = asked;
	us = wait_us(md, hk);
	o->retry_at_us = now_us + us;
	return us;
}

static void withdraw(Obedience *o, char *why)
{
	free(o->withdrawn_why);
	o->withdrawn_why = why;
	o->disobeys = true;
}

void obedience_withdraw(Managed *md, const HeldKnob *hk, const char *what)
{
	Obedience *o = obedience_of(md, hk);

	if (o->failures < (hk->knob->slow ? DISOBEYED_SLOW : DISOBEYED_FAST) ||
	    !obedience_stands_aside(md, hk))
		return;
	withdraw(o, text_printf("it did not obey %u times, last when set to %s; a reset of the "
				"device or a passed wake test brings it back",
				o->failures, what));
}

bool obedience_note_taken(Managed *md, const HeldKnob *hk, const KnobValue *found, const Tools *t)
{
	Obedience *o = obedience_of(md, hk);

	if (t->config->insists || ++o->taken < TAKEN_MAX)
		return false;
	/* the value comes last, because it may be long and the text is cut where it is shown */
	withdraw(o, text_printf("somebody else has set it %u times: it is left to them until the "
				"limits are lifted (on_conflict=insist would not); last to %s",
				o->taken, found->text));
	return o->withdrawn_why;
}

void obedience_hurry(Managed *md, const HeldKnob *hk, uint64_t now_us)
{
	Obedience *o = obedience_of(md, hk);

	o->retry_at_us = MIN(o->retry_at_us, now_us + RETRY_LONGEST_US);
}

bool obedience_clear_due(Managed *md, uint64_t now_us)
{
	bool due = false;

	for_each_obedience(o, md) if (o->retry_at_us && o->retry_at_us <= now_us)
	{
		o->retry_at_us = 0;
		due = true;
	}
	return due;
}
