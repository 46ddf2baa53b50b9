/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/served.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/knob-set.h"
#include "control/pace-use.h"
#include "control/waking.h"
#include "control/workload.h"

#define FIRST_LOOK   2    /* the one before began under another setting */
#define LAST_LOOK    4    /* from then on it is believed */
#define KNOWN_OFF    3    /* the same of one that is known to serve otherwise */
#define MOST_LOOKS   11   /* of so many, from the second on, it is the mean */
#define MATTERS      0.15 /* of what was planned with... */
#define MATTERS_ALL  0.02 /* ...and of what the model says */
#define FACTOR_LEAST 0.001
#define FACTOR_MOST  2.0
#define PACED_NEAR   0.9 /* of the pace: that holds it, not the device */
/* Another mix: what was learned of the last one tells nothing of it. */
#define OTHER_SIZE  2.0
#define OTHER_SHARE 0.3
#define KEPT_US     (3600 * USEC_PER_SEC) /* without being measured again; then half is forgiven */
#define FORGIVEN    0.05                  /* what is left is rounding */
/* Between plans for what was learned: a device that serves now this and now that, because others
 * share what serves it, would be set otherwise all the time. */
#define PATIENCE_US      (4 * USEC_PER_SEC)
#define PATIENCE_MOST_US (300 * USEC_PER_SEC)
#define SHORT            0.75 /* of what was planned */

static bool is_other_kind(const Mix *a, const Mix *b)
{
	double ratio = mix_mean_kib(a) / mix_mean_kib(b);

	return ratio >= OTHER_SIZE || ratio <= 1 / OTHER_SIZE ||
	       fabs(a->read_share - b->read_share) > OTHER_SHARE;
}

static bool is_other_pattern(const Mix *a, const Mix *b)
{
	return fabs(a->random_share - b->random_share) > OTHER_SHARE;
}

static void forget_at(Served *s, size_t i)
{
	s->learned.n--;
	memmove(&s->learned.of[i], &s->learned.of[i + 1],
		(s->learned.n - i) * sizeof(s->learned.of[0]));
	memmove(&s->notes[i], &s->notes[i + 1], (s->learned.n - i) * sizeof(s->notes[0]));
}

/* True: it is to be tried again. */
static bool forgive(Served *s, uint64_t now_us)
{
	bool any = false;

	for (size_t i = s->learned.n; i-- > 0;) {
		LearnedFactor *f = &s->learned.of[i];

		if (now_us < s->notes[i].measured_us + KEPT_US)
			continue;
		any = true;
		f->factor = (1 + f->factor) / 2;
		s->notes[i].told = f->factor;
		s->notes[i].measured_us = now_us;
		if (fabs(f->factor - 1) < FORGIVEN)
			forget_at(s, i);
	}
	return any;
}

static bool changes(const Managed *md)
{
	return (md->errands.busy && md->errands.mechanism) || waking_under_way(md) ||
	       managed_asleep(md);
}

/* Without its pace, which holds the watts and not what the device could serve. */
static void predict_by_profile(const Managed *md, Prediction *ret)
{
	Setting s = md->knobs.actual;

	s.pace_w = 0;
	predict(md->device->profile, &md->workload.mix, &s, ret);
}

/* Does the setting alone hold it back? Or, as found, the device itself? */
static bool is_held_back(const Managed *md)
{
	if (changes(md))
		return false;
	if (!md->knobs.actual.depth)
		return workload_fills_device(md);
	return workload_held_by_depth(md) && !workload_spends_pace(md, PACED_NEAR);
}

/* That an IO takes there by the profile, and how many are outstanding with it. */
static double io_us_of(const Setting *s, const Prediction *p, double *ret_depth)
{
	*ret_depth = s->depth ?: p->depth;
	return 1e6 * *ret_depth / p->iops;
}

/* The learned throughput, over what the profile says of the present mix. */
static void rescale(Managed *md, size_t at)
{
	Served *s = &md->served;
	LearnedFactor *f = &s->learned.of[at];
	ServedNote *n = &s->notes[at];
	Prediction p;

	predict(md->device->profile, &md->workload.mix, &f->setting, &p);
	n->model_mb_s = p.mb_s;
	f->factor = n->told = CLAMP(n->mb_s / p.mb_s, FACTOR_LEAST, 1.0);
	f->io_us = io_us_of(&f->setting, &p, &f->found_depth);
}

/* What lies beneath a device that is outpaced holds it back, and knows nothing of what eBPF takes
 * for random: until it is measured again it is believed to serve as much. Of all others what was
 * learned of another mix tells nothing. */
static void note_mix(Managed *md)
{
	Served *s = &md->served;
	const Mix *mix = &md->workload.mix;
	bool other = is_other_kind(&s->mix, mix);

	if (!s->learned.n || !(other || is_other_pattern(&s->mix, mix)))
		return;
	if (other || !s->outpaced)
		s->learned.n = 0;
	for (size_t i = 0; i < s->learned.n; i++)
		rescale(md, i);
	s->mix = *mix;
	s->looks = 0;
	s->asks = true;
}

static void forget(Managed *md, uint64_t now_us)
{
	note_mix(md);
	md->served.asks |= forgive(&md->served, now_us);
}

/* The place of the setting; that measured longest ago makes room. */
static size_t place_for(Served *s, const Setting *setting)
{
	const LearnedFactor *own = learned_at(&s->learned, setting);
	size_t oldest = 0;

	if (own)
		return (size_t)(own - s->learned.of);
	for (size_t i = 1; i < s->learned.n; i++)
		if (s->notes[i].measured_us < s->notes[oldest].measured_us)
			oldest = i;
	if (s->learned.n == LEARNED_MAX)
		forget_at(s, oldest);
	return s->learned.n++;
}

static void tell(const Managed *md, const ServedNote *n, Tools *t)
{
	char setting[128];

	setting_text(setting, sizeof(setting), &md->served.setting);
	diary_decide(t->diary, md->device->name, "that is learned, and the plan is made anew",
		     "%s: %.1f MB/s are served, the model says %.1f", setting, n->mb_s,
		     n->model_mb_s);
	log_info("%s: serves %.1f MB/s at %s where the model says %.1f: planned for with that from "
		 "now on",
		 md->device->name, n->mb_s, setting, n->model_mb_s);
}

static bool matters(double factor, double was)
{
	return fabs(factor - was) > MAX(MATTERS * was, MATTERS_ALL);
}

/* What was never seen to be wrong is not learned, so that chance moves nothing. Of an outpaced
 * device the profile is known to be wrong. */
static void learn(Managed *md, const Prediction *p, Tools *t)
{
	Served *s = &md->served;
	double depth, io_us = io_us_of(&s->setting, p, &depth);
	double was = learned_factor(&s->learned, md->device->profile, &s->setting, io_us);
	bool own = learned_at(&s->learned, &s->setting);
	ServedNote note = { t->now_us, 0, s->factor * p->mb_s, p->mb_s };
	bool tells;
	size_t at;

	if (!own && !s->outpaced && !matters(s->factor, was))
		return;
	if (!s->learned.n)
		s->mix = md->workload.mix;
	at = place_for(s, &s->setting);
	tells = !own || matters(s->factor, s->notes[at].told);
	note.told = tells ? s->factor : s->notes[at].told;
	s->notes[at] = note;
	s->learned.of[at] = (LearnedFactor){ s->setting, s->factor, io_us, depth };
	s->asks |= tells;
	if (tells)
		tell(md, &note, t);
}

/* Has it neither an adapter of its own nor a pool, as loop and virtio devices have not? Two drives
 * that fall short of one profile may do so because that is wrong, and each has its own work. */
static bool may_share(const Managed *md)
{
	return md->served.outpaced && !*md->device->hba && !*md->device->pool;
}

bool served_in_common(const Managed *a, const Managed *b)
{
	return may_share(a) && may_share(b) && a->device->profile == b->device->profile;
}

double served_demand_mb_s(const Managed *md, const Fleet *f)
{
	double sum = 0;
	size_t n = 0;

	if (!may_share(md))
		return pace_use_demand_mb_s(md, f);
	for_each_device(const Managed, other, f) if (served_in_common(md, other))
	{
		sum += other->workload.demand_mb_s;
		n++;
	}
	return sum / (double)n; /* it is one of them */
}

const Managed *served_first(const Managed *md, const Fleet *f)
{
	if (!may_share(md))
		return md;
	for_each_device(const Managed, other, f) if (served_in_common(md, other)) return other;
	return md;
}

/* What each serves on average of those that serve in common. NAN: one of them is set otherwise, and
 * takes what the others leave. */
static double common_mb_s(const Managed *md, const Fleet *f)
{
	Setting setting = learned_part(&md->knobs.actual);
	double sum = workload_mb_s(&md->workload);
	size_t n = 1;

	for_each_device(const Managed, other, f)
	{
		Setting its = learned_part(&other->knobs.actual);

		if (other == md || !served_in_common(md, other))
			continue;
		if (!setting_equal(&its, &setting) || changes(other))
			return NAN;
		sum += workload_mb_s(&other->workload);
		n++;
	}
	return sum / (double)n;
}

static void measure(Managed *md, Tools *t)
{
	Served *s = &md->served;
	Setting setting = learned_part(&md->knobs.actual);
	double factor, mb_s = common_mb_s(md, t->fleet);
	Prediction p;

	if (!setting_equal(&s->setting, &setting) || isnan(mb_s))
		s->looks = 0;
	s->setting = setting;
	predict_by_profile(md, &p);
	if (!(p.mb_s > 0) || isnan(mb_s))
		return;
	s->looks = MIN(s->looks + 1, (unsigned)MOST_LOOKS);
	factor = CLAMP(mb_s / p.mb_s, FACTOR_LEAST, FACTOR_MOST);
	s->factor =
		s->looks <= FIRST_LOOK ? factor : s->factor + (factor - s->factor) / (s->looks - 1);
	if (s->looks < (s->outpaced ? KNOWN_OFF : LAST_LOOK))
		return;
	if (!setting.depth)
		s->outpaced = matters(s->factor, 1) && s->factor < 1;
	learn(md, &p, t);
}

void served_forget(Managed *md)
{
	md->served = (Served){};
}

void served_judge(Managed *md, Tools *t)
{
	forget(md, t->now_us);
	if (is_held_back(md))
		measure(md, t);
	else
		md->served.looks = 0;
}

/* Much less than planned: who waits for a better plan then loses more than a change costs. */
static bool falls_short(const Managed *md)
{
	return knob_set_touched(md) &&
	       workload_mb_s(&md->workload) < SHORT * md->planned.device.mb_s;
}

Need served_take_need(Managed *md, uint64_t now_us)
{
	Served *s = &md->served;
	uint64_t waited_us = now_us - s->asked_us;

	if (!s->asks || (waited_us < s->patience_us && !falls_short(md)))
		return NOTHING_NEEDED;
	s->patience_us = waited_us < 4 * s->patience_us ? MIN(2 * s->patience_us, PATIENCE_MOST_US)
							: PATIENCE_US;
	s->asked_us = now_us;
	s->asks = false;
	return need(NEED_BETTER_PLAN, CAUSE_SERVES_OTHERWISE);
}

Mix served_mix(const Managed *md, const Fleet *f)
{
	Mix mix;

	md = served_first(md, f);
	mix = md->workload.mix;

	mix.learned = md->served.learned.n ? &md->served.learned : NULL;
	mix.pace_left = pace_use_left(md, f);
	return mix;
}
