/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/knob-set.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/cache-watch.h"
#include "control/obedience.h"

#define FREEZE_US USEC_PER_SEC /* between writes that stop a queue, for more throughput */
#define SOON_US   (60 * USEC_PER_SEC)
#define VAIN_MOST 3U /* eight times the dwell */

int knob_set_init(Managed *md)
{
	KnobSet *set = &md->knobs;

	*set = (KnobSet){ .target = SETTING_AS_FOUND, .actual = SETTING_AS_FOUND };
	set->knobs = calloc(knob_count(), sizeof(*set->knobs));
	if (!set->knobs)
		return -ENOMEM;
	for (size_t i = 0; i < knob_count(); i++)
		set->knobs[i].knob = knob_registry[i];
	return 0;
}

void knob_set_done(Managed *md)
{
	if (!md->knobs.knobs)
		return;
	for_each_knob(HeldKnob, hk, &md->knobs) free(hk->why_not);
	free(md->knobs.knobs);
	free(md->knobs.problem);
}

static void take_found(Managed *md, HeldKnob *hk, KnobFound *f, Tools *t)
{
	free(hk->why_not);
	obedience_start(md, hk);
	*hk = (HeldKnob){ .knob = hk->knob,
			  .offered = f->offered,
			  .why_not = TAKE_PTR(f->why_not),
			  .touched = f->left,
			  .recorded = f->left,
			  .original = f->original,
			  .current = f->current };
	md->knobs.leftover |= f->left;
	if (f->moot)
		journal_forget(t->journal, md->device->id, hk->knob->name);
	if (f->left)
		log_notice("%s: %s was left at %s by an earlier run; originally %s",
			   md->device->name, hk->knob->name, hk->current.text, hk->original.text);
}

void knob_set_take_probe(Managed *md, ProbeFound *found, bool redirects, Tools *t)
{
	KnobSet *set = &md->knobs;

	set->offer = found->offer;
	if (!redirects) {
		set->leftover = false;
		if (!set->probed)
			set->actual.condition = found->condition;
		set->probed = true;
	}
	for (size_t i = 0; i < knob_count(); i++) {
		HeldKnob *hk = &set->knobs[i];

		if (!redirects || (hk->knob->mechanism == MECHANISM_REDIRECT && !hk->touched))
			take_found(md, hk, &found->knobs[i], t);
	}
}

const HeldKnob *knob_set_redirect(const Managed *md)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (hk->offered &&
				      hk->knob->mechanism == MECHANISM_REDIRECT) return hk;
	return NULL;
}

bool knob_set_touched(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->touched) return true;
	return false;
}

uint64_t knob_set_thawed_us(const Managed *md)
{
	return md->knobs.froze_us ? md->knobs.froze_us + FREEZE_US : 0;
}

static bool is_original(const HeldKnob *hk)
{
	return streq(hk->wanted.text, hk->original.text);
}

static void forget_knob(Managed *md, HeldKnob *hk, Tools *t)
{
	hk->touched = hk->recorded = false;
	journal_forget(t->journal, md->device->id, hk->knob->name);
}

/* A knob that was never touched and is not asked for is left as it is, whatever its owner has made
 * of it since; only a disk that was found asleep may be wanted awake. */
static bool is_nobodys_wish(const Managed *md, const HeldKnob *hk)
{
	return !hk->touched && is_original(hk) &&
	       !(md->waking.state == WAKING_WANTED && hk->knob->mechanism == MECHANISM_CONDITION);
}

static void aim_knob(Managed *md, HeldKnob *hk)
{
	hk->pending = hk->fulfilled = false;
	if (!hk->offered || knob_want(hk->knob, md->device, &md->knobs.target, &md->workload.mix,
				      &hk->original, &hk->wanted) < 0)
		return;
	if (is_nobodys_wish(md, hk))
		return;
	hk->pending = !knob_fulfils(hk->knob, md->device, &hk->wanted, &hk->current);
	hk->fulfilled = hk->touched && !hk->pending;
}

static bool others_pending(const Managed *md, Mechanism mechanism)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (hk->pending && hk->knob->mechanism == mechanism) return true;
	return false;
}

/* Where it ought to be: targets may be closer together than the knob can tell apart, and others (an
 * IO that woke the disk, a reset) may have given it back for us. */
static void settle_knob(Managed *md, HeldKnob *hk, Tools *t)
{
	if (!hk->fulfilled)
		return;
	if (!others_pending(md, hk->knob->mechanism))
		setting_take(&md->knobs.actual, &md->knobs.target, hk->knob->mechanism);
	/* what did not obey and is given back waits for its next try all the same */
	if (!obedience_stands_aside(md, hk) || !is_original(hk))
		obedience_note_success(md, hk);
	if (is_original(hk) && !md->errands.busy)
		forget_knob(md, hk, t);
}

static void replace_text(char **text, char *by)
{
	free(*text);
	*text = by;
}

static void clear_problem(Managed *md)
{
	if (obedience_is_missing(md))
		return;
	for_each_knob(const HeldKnob, hk, &md->knobs) if (obedience_of(md, hk)->disobeys &&
							  obedience_of(md, hk)->retry_at_us) return;
	replace_text(&md->knobs.problem, NULL);
}

static double cap_of(const Managed *md, const Setting *s)
{
	return cap_watts(md->device->profile, s);
}

static bool is_to_rise(const Managed *md)
{
	return cap_of(md, &md->knobs.target) > cap_of(md, &md->knobs.actual);
}

void knob_set_aim(Managed *md, const Setting *target, Tools *t)
{
	bool other = !setting_equal(target, &md->knobs.target);

	md->knobs.target = *target;
	if (other)
		md->knobs.exchanges = !is_to_rise(md);
	for_each_knob(HeldKnob, hk, &md->knobs)
	{
		aim_knob(md, hk);
		if (hk->pending && is_original(hk))
			obedience_hurry(md, hk, t->now_us);
	}
	for_each_knob(HeldKnob, hk, &md->knobs) settle_knob(md, hk, t);
	clear_problem(md);
}

void knob_set_aim_again(Managed *md, Tools *t)
{
	Setting target = md->knobs.target;

	knob_set_aim(md, &target, t);
}

bool knob_set_may_sleep_on(const Managed *md)
{
	const HeldKnob *hk = knob_set_redirect(md);

	return managed_asleep(md) && !cache_watch_holds(md) &&
	       !(hk && hk->touched && hk->knob->wakes);
}

/* Nothing of a disk that sleeps on is left to be put back: an IO wakes it. */
void knob_set_let_sleep_on(Managed *md, Tools *t)
{
	if (!knob_set_may_sleep_on(md) ||
	    (md->errands.busy && md->errands.mechanism == MECHANISM_CONDITION))
		return;
	for_each_knob(HeldKnob, hk,
		      &md->knobs) if (hk->touched && hk->knob->mechanism == MECHANISM_CONDITION)
		forget_knob(md, hk, t);
}

void knob_set_aim_as_found(Managed *md, Tools *t)
{
	Setting s = SETTING_AS_FOUND;

	if (knob_set_may_sleep_on(md))
		s.condition = md->knobs.actual.condition;
	knob_set_let_sleep_on(md, t);
	knob_set_aim(md, &s, t);
}

void knob_set_start_over(Managed *md)
{
	Condition c = md->knobs.actual.condition;

	md->knobs.leftover = true;
	md->knobs.actual = SETTING_AS_FOUND;
	md->knobs.actual.condition = c;
}

void knob_set_begin(Managed *md, HeldKnob *hk, bool raises, Tools *t)
{
	hk->touched = true;
	if (hk->knob->freezes)
		md->knobs.froze_us = t->now_us;
	if (raises)
		setting_take(&md->knobs.actual, &md->knobs.target, hk->knob->mechanism);
}

void knob_set_note_recorded(HeldKnob *hk)
{
	hk->recorded = true;
}

/* A setting is a step, and where none fits what is to be drawn it would be taken and taken back for
 * ever. A pace can be as it ought to be. What is given back because nothing limits it any more was
 * not given in vain. */
static void note_shape(KnobSet *set, const StepOutcome *s, uint64_t now_us)
{
	if (!(s->hk->knob->mechanism & (MECHANISM_DEPTH | MECHANISM_CHUNK)))
		return;
	if (s->raises) {
		set->deepened_us = setting_equal(&s->target, &SETTING_AS_FOUND) ? 0 : now_us;
	} else if (set->deepened_us) {
		bool soon = now_us < set->deepened_us + SOON_US;

		set->vain = soon ? MIN(set->vain + 1, VAIN_MOST) : 0;
		set->deepened_us = 0;
	}
}

void knob_set_take_success(Managed *md, const StepOutcome *s, Tools *t)
{
	s->hk->current = s->found;
	obedience_note_success(md, s->hk);
	note_shape(&md->knobs, s, t->now_us);
	if (s->raises || md->knobs.leftover)
		return;
	/* what only makes room for a raise is no lowering that it would have to wait for */
	if (!is_to_rise(md))
		md->knobs.tightened_us = t->now_us;
	setting_take(&md->knobs.actual, &s->target, s->hk->knob->mechanism);
}

static const char *failure_text(int r)
{
	if (r == -EREMOTEIO)
		return "accepted, but reads back otherwise";
	return r == -ENODEV ? "the device is gone" : strerror(-r);
}

static char *problem_text(const Managed *md, const StepOutcome *s, uint64_t us)
{
	const Obedience *o = obedience_of(md, s->hk);
	const char *name = s->hk->knob->name;

	if (o->withdrawn_why)
		return text_printf("%s is not used any more: %s", name, o->withdrawn_why);
	return text_printf("%s could not be set to %s: %s; tried again in %u s", name,
			   s->value.text, failure_text(s->result), (unsigned)(us / USEC_PER_SEC));
}

static void tell_failure(Managed *md, const StepOutcome *s, Tools *t)
{
	const char *name = md->device->name, *problem = md->knobs.problem ?: "out of memory";
	const char *what = obedience_stands_aside(md, s->hk)
				   ? "the device is planned for without it"
				   : "the device is held as it is and the others make room";

	diary_decide(t->diary, name, what, "%s", problem);
	log_about(LOG_WARNING, 0, &(LogAbout){ .id = MESSAGE_DEVICE_DISOBEYS, .device = name },
		  "%s: %s: %s", name, problem, what);
}

void knob_set_take_failure(Managed *md, const StepOutcome *s, Tools *t)
{
	HeldKnob *hk = s->hk;
	char what[KNOB_VALUE_MAX + 64];
	uint64_t us;

	hk->current = s->found;
	/* a raise that demonstrably did not happen */
	if (s->raises && knob_fulfils(hk->knob, md->device, &s->was, &s->found))
		setting_take(&md->knobs.actual, &s->before, hk->knob->mechanism);
	us = obedience_note_failure(md, hk, !s->refused, t->now_us);
	snprintf(what, sizeof(what), "%s: %s", s->value.text, failure_text(s->result));
	if (!s->raises)
		obedience_withdraw(md, hk, what);
	replace_text(&md->knobs.problem, problem_text(md, s, us));
	tell_failure(md, s, t);
}

void knob_set_take_stale(Managed *md, const StepOutcome *s, Tools *t)
{
	HeldKnob *hk = s->hk;
	int c = condition_from_name(s->found.text);

	log_info("%s: %s was changed from %s to %s by somebody else before it was first set here; "
		 "that is what will be restored",
		 md->device->name, hk->knob->name, hk->original.text, s->found.text);
	forget_knob(md, hk, t);
	hk->original = hk->current = s->found;
	if (hk->knob->mechanism == MECHANISM_CONDITION && c >= 0)
		md->knobs.actual.condition = (Condition)c;
}

/* What a knob has set lives in the device, and a reset takes it. */
static bool lives_in_device(const HeldKnob *hk)
{
	return hk->touched && hk->knob->survives_reboot &&
	       hk->knob->mechanism != MECHANISM_CONDITION;
}

static bool holds(const Managed *md, const HeldKnob *hk)
{
	return *hk->current.text && knob_fulfils(hk->knob, md->device, &hk->wanted, &hk->current);
}

/* A knob that waits for its turn has lost nothing while what it held until then is there yet. */
static bool is_lost(const Managed *md, const HeldKnob *hk, const KnobValue *before)
{
	if (!hk->offered || !hk->touched || holds(md, hk))
		return false;
	return !hk->pending || !*before->text || !*hk->current.text ||
	       !knob_fulfils(hk->knob, md->device, before, &hk->current);
}

/* Their value is what will be there when the limits are lifted. */
static void leave_to_others(Managed *md, HeldKnob *hk, Tools *t)
{
	forget_knob(md, hk, t);
	hk->original = hk->current;
	replace_text(&md->knobs.problem, text_printf("%s is not used: %s", hk->knob->name,
						     obedience_of(md, hk)->withdrawn_why));
	diary_decide(t->diary, md->device->name, "somebody else sets it", "%s is left to them",
		     hk->knob->name);
	log_warning("%s: %s", md->device->name, md->knobs.problem ?: hk->knob->name);
}

/* A disk that somebody woke is no conflict: it is told of as woken. */
static void tell_taken(Managed *md, HeldKnob *hk, const KnobValue *before, Tools *t)
{
	if (!*hk->current.text || hk->knob->mechanism == MECHANISM_CONDITION)
		return;
	log_about(LOG_NOTICE, 0,
		  &(LogAbout){ .id = MESSAGE_KNOB_CONTESTED, .device = md->device->name },
		  "%s: somebody else has set %s to \"%s\"; it was \"%s\"", md->device->name,
		  hk->knob->name, hk->current.text, before->text);
	if (obedience_note_taken(md, hk, &hk->current, t))
		leave_to_others(md, hk, t);
	else
		diary_decide(t->diary, md->device->name, "somebody else has changed it",
			     "%s is set again", hk->knob->name);
}

/* What a knob had set and no longer holds counts as gone. True: there is something. A parked drive
 * does not show what a reset took: it is written anew in any case. */
static bool take_value(Managed *md, HeldKnob *hk, const KnobValue *found, bool reset, Tools *t)
{
	KnobValue before = hk->current;

	if (hk->offered && (*found->text || hk->touched))
		hk->current = *found;
	if (reset && lives_in_device(hk))
		hk->current = (KnobValue){};
	if (!is_lost(md, hk, &before))
		return false;
	setting_take(&md->knobs.actual, &SETTING_AS_FOUND, hk->knob->mechanism);
	if (!reset)
		tell_taken(md, hk, &before, t);
	return true;
}

bool knob_set_take_reread(Managed *md, const KnobValue *found, const bool *asked, bool reset,
			  Tools *t)
{
	bool lost = false;

	for (size_t i = 0; i < knob_count(); i++)
		lost |= asked[i] && take_value(md, &md->knobs.knobs[i], &found[i], reset, t);
	knob_set_aim_again(md, t); /* which also settles what still holds */
	return lost;
}

void knob_set_expect_worst(Managed *md)
{
	for_each_knob(HeldKnob, hk, &md->knobs) if (lives_in_device(hk))
	{
		hk->current = (KnobValue){}; /* so that it cannot pass for fulfilled */
		setting_take(&md->knobs.actual, &SETTING_AS_FOUND, hk->knob->mechanism);
	}
}

void knob_set_condition(Managed *md, Condition c)
{
	md->knobs.actual.condition = c;
}

bool knob_set_say_active(Managed *md)
{
	const char *active = condition_name(CONDITION_ACTIVE);
	bool news = false;

	for_each_knob(HeldKnob, hk, &md->knobs)
	{
		if (hk->knob->mechanism != MECHANISM_CONDITION || !hk->offered)
			continue;
		news |= !streq(hk->current.text, active);
		snprintf(hk->current.text, sizeof(hk->current.text), "%s", active);
	}
	return news;
}

void knob_set_woken(Managed *md)
{
	md->knobs.actual.condition = md->knobs.target.condition = CONDITION_ACTIVE;
	/* a command to ask would wait until it is awake */
	(void)knob_set_say_active(md);
}

void knob_set_forget_found_condition(Managed *md)
{
	for_each_knob(HeldKnob, hk,
		      &md->knobs) if (hk->knob->mechanism == MECHANISM_CONDITION && hk->offered)
		snprintf(hk->original.text, sizeof(hk->original.text), "%s",
			 condition_name(CONDITION_ACTIVE));
}
