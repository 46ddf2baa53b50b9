/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/knob-set.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/cache-watch.h"

#define RETRY_FIRST_US   USEC_PER_SEC
#define RETRY_LONGEST_US (60 * USEC_PER_SEC)
/* A device that does not obey is asked again ever more seldom. A fast knob wears nothing: after a
 * second, then twice as long each time, for about an hour. A slow one: after a minute, then an
 * hour. */
#define DISOBEYED_FAST    12
#define DISOBEYED_SLOW    3
#define DISOBEYED_LONGER  60
#define DISOBEYED_SLOW_US (60 * USEC_PER_SEC)
#define FREEZE_US         USEC_PER_SEC /* between writes that stop a queue, for more throughput */

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

static bool stands_aside(const Managed *md, const HeldKnob *hk)
{
	return hk->fails && !(setting_mechanisms(&md->knobs.actual) & hk->knob->mechanism);
}

bool knob_set_failed(const Managed *md)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (hk->retry_at_us && !stands_aside(md, hk)) return true;
	return false;
}

unsigned knob_set_withheld(const Managed *md)
{
	unsigned withheld = 0;

	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if ((hk->retry_at_us || hk->withdrawn) && stands_aside(md, hk))
		withheld |= hk->knob->mechanism;
	return withheld;
}

uint64_t knob_set_thawed_us(const Managed *md)
{
	return md->knobs.froze_us ? md->knobs.froze_us + FREEZE_US : 0;
}

Offer knob_set_offer(const Managed *md)
{
	Offer o = md->knobs.offer;

	o.mechanisms &= ~knob_set_withheld(md);
	return o;
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

/* What is to be given back does not wait for as long as the next try to lower. */
static void hurry_back(HeldKnob *hk, const Tools *t)
{
	if (hk->pending && is_original(hk))
		hk->retry_at_us = MIN(hk->retry_at_us, t->now_us + RETRY_LONGEST_US);
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
	if (!stands_aside(md, hk) || !is_original(hk))
		hk->failures = hk->retry_at_us = hk->fails = 0;
	if (is_original(hk) && !md->errands.busy)
		forget_knob(md, hk, t);
}

static void replace_text(char **text, char *by)
{
	free(*text);
	*text = by;
}

bool knob_set_is_failing(const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->pending && hk->failures) return true;
	return false;
}

static void clear_problem(Managed *md)
{
	if (knob_set_is_failing(md))
		return;
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->fails && hk->retry_at_us) return;
	replace_text(&md->knobs.problem, NULL);
}

void knob_set_aim(Managed *md, const Setting *target, Tools *t)
{
	md->knobs.target = *target;
	for_each_knob(HeldKnob, hk, &md->knobs)
	{
		aim_knob(md, hk);
		hurry_back(hk, t);
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

void knob_set_forget_failures(Managed *md)
{
	for_each_knob(HeldKnob, hk, &md->knobs)
	{
		hk->failures = hk->retry_at_us = hk->fails = 0;
		if (hk->withdrawn)
			replace_text(&hk->why_not, NULL);
		hk->withdrawn = false;
	}
}

bool knob_set_clear_retries(Managed *md, uint64_t now_us)
{
	bool due = false;

	for_each_knob(HeldKnob, hk, &md->knobs) if (hk->retry_at_us && hk->retry_at_us <= now_us)
	{
		hk->retry_at_us = 0;
		due = true;
	}
	return due;
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

void knob_set_take_success(Managed *md, const StepOutcome *s, Tools *t)
{
	s->hk->current = s->found;
	s->hk->failures = s->hk->retry_at_us = s->hk->fails = 0;
	if (s->raises || md->knobs.leftover)
		return;
	setting_take(&md->knobs.actual, &s->target, s->hk->knob->mechanism);
	md->knobs.tightened_us = t->now_us;
}

static const char *failure_text(int r)
{
	if (r == -EREMOTEIO)
		return "accepted, but reads back otherwise";
	return r == -ENODEV ? "the device is gone" : strerror(-r);
}

/* What is in force holds the device as it is, which the others pay for: that is not put off. */
static uint64_t wait_us(const Managed *md, const HeldKnob *hk)
{
	unsigned n = hk->failures - 1;

	if (!stands_aside(md, hk))
		return MIN(RETRY_FIRST_US << MIN(n, 6U), RETRY_LONGEST_US);
	if (!hk->knob->slow)
		return RETRY_FIRST_US << MIN(n, DISOBEYED_FAST - 1U);
	return n ? DISOBEYED_SLOW_US * DISOBEYED_LONGER : DISOBEYED_SLOW_US;
}

static bool is_hopeless(const Managed *md, const HeldKnob *hk)
{
	return hk->failures >= (hk->knob->slow ? DISOBEYED_SLOW : DISOBEYED_FAST) &&
	       stands_aside(md, hk);
}

static char *problem_text(const HeldKnob *hk, const StepOutcome *s, uint64_t us)
{
	const char *name = hk->knob->name;

	if (hk->withdrawn)
		return text_printf("%s is not used any more: %s", name, hk->why_not ?: "");
	return text_printf("%s could not be set to %s: %s; tried again in %u s", name,
			   s->value.text, failure_text(s->result), (unsigned)(us / USEC_PER_SEC));
}

static void withdraw(HeldKnob *hk, const StepOutcome *s)
{
	hk->withdrawn = true;
	replace_text(&hk->why_not,
		     text_printf("it did not obey %u times, last when set to %s: %s; "
				 "a reset of the device or a passed wake test brings "
				 "it back",
				 hk->failures, s->value.text, failure_text(s->result)));
}

static void tell_failure(Managed *md, const StepOutcome *s, Tools *t)
{
	const char *name = md->device->name, *problem = md->knobs.problem ?: "out of memory";
	const char *what = stands_aside(md, s->hk)
				   ? "the device is planned for without it"
				   : "the device is held as it is and the others make room";

	diary_decide(t->diary, name, what, "%s", problem);
	log_warning("%s: %s: %s", name, problem, what);
}

void knob_set_take_failure(Managed *md, const StepOutcome *s, Tools *t)
{
	HeldKnob *hk = s->hk;
	uint64_t us;

	hk->failures++;
	hk->fails = !s->refused;
	hk->current = s->found;
	/* a raise that demonstrably did not happen */
	if (s->raises && knob_fulfils(hk->knob, md->device, &s->was, &s->found))
		setting_take(&md->knobs.actual, &s->before, hk->knob->mechanism);
	us = wait_us(md, hk);
	hk->retry_at_us = t->now_us + us;
	if (!s->raises && is_hopeless(md, hk))
		withdraw(hk, s);
	replace_text(&md->knobs.problem, problem_text(hk, s, us));
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

/* What a knob had set and no longer holds counts as gone. True: there is something. A parked drive
 * does not show what a reset took: it is written anew in any case. */
static bool take_value(Managed *md, HeldKnob *hk, const KnobValue *found, bool reset)
{
	KnobValue before = hk->current;

	if (hk->offered && (*found->text || hk->touched))
		hk->current = *found;
	if (reset && lives_in_device(hk))
		hk->current = (KnobValue){};
	if (!is_lost(md, hk, &before))
		return false;
	setting_take(&md->knobs.actual, &SETTING_AS_FOUND, hk->knob->mechanism);
	return true;
}

bool knob_set_take_reread(Managed *md, const KnobValue *found, bool reset, Tools *t)
{
	bool lost = false;

	for (size_t i = 0; i < knob_count(); i++)
		lost |= take_value(md, &md->knobs.knobs[i], &found[i], reset);
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
