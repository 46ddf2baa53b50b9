/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* A candidate on its way to a choice: cut by limit and floor, split where demand is met. `mb_s` is
 * linear in the watts, and so is the latency's factor. */
typedef struct Span {
	double lo_w, hi_w, lo_mb_s, hi_mb_s, lo_factor, hi_factor;
} Span;

static double between(double lo, double hi, double part)
{
	return lo + (hi - lo) * part;
}

static Span span_between(const Span *s, double from, double to)
{
	return (Span){
		.lo_w = between(s->lo_w, s->hi_w, from),
		.hi_w = between(s->lo_w, s->hi_w, to),
		.lo_mb_s = between(s->lo_mb_s, s->hi_mb_s, from),
		.hi_mb_s = between(s->lo_mb_s, s->hi_mb_s, to),
		.lo_factor = between(s->lo_factor, s->hi_factor, from),
		.hi_factor = between(s->lo_factor, s->hi_factor, to),
	};
}

/* With a latency weight of 1, a doubled p99 halves the value. */
static double latency_factor(const Work *w, double as_found_us, double p99_us)
{
	double weight = w->in->policy->latency_weight;

	if (weight <= 0 || !(p99_us > as_found_us) || !(as_found_us > 0))
		return 1;
	return pow(as_found_us / p99_us, weight);
}

static Span span_of(const Work *w, size_t i, const Candidate *c, double as_found_us)
{
	const PlanDevice *d = &w->in->devices[i];
	double bias = bias_of(d);
	Span s = {
		.lo_w = c->cap_w * bias,
		.hi_w = c->cap_w * bias,
		.lo_mb_s = c->mb_s,
		.hi_mb_s = c->mb_s,
	};
	Candidate top;

	s.lo_factor = s.hi_factor = latency_factor(w, as_found_us, c->p99_us);
	if (!c->paced || c->cap_hi_w <= c->cap_w)
		return s;
	s.hi_w = c->cap_hi_w * bias;
	s.hi_mb_s = MAX(c->mb_s_hi, c->mb_s);
	if (w->in->policy->latency_weight > 0) {
		candidate_at(d->profile, &d->mix, c, c->cap_hi_w, &top);
		s.hi_factor = MAX(s.lo_factor, latency_factor(w, as_found_us, top.p99_us));
	}
	return s;
}

static bool is_current(const Setting *s, const Setting *current)
{
	Setting other = *current;

	if (s->pace_w > 0 && other.pace_w > 0)
		other.pace_w = s->pace_w;
	/* redirection makes no choice different; it is added when all choices are made */
	other.redirect = s->redirect;
	if (!condition_is_sleep(other.condition))
		other.condition = CONDITION_ACTIVE;
	return setting_equal(s, &other);
}

static double value_of(const Work *w, size_t i, const Candidate *c, double mb_s, double factor)
{
	const PlanDevice *d = &w->in->devices[i];
	double asked = MIN(mb_s, MAX(d->demand_mb_s, 0.0));
	double v = w->terms[i].weight * factor * (asked + SPARE_WORTH * mb_s);

	if (is_current(&c->setting, &d->current))
		v *= 1 + CURRENT_WORTH;
	return condition_is_sleep(c->setting.condition) ? v : v + AWAKE_WORTH;
}

static int add(const Work *w, size_t i, const Candidate *c, const Span *s, ChoiceList *l)
{
	Choice ch = { .lo_w = s->lo_w, .hi_w = s->hi_w };

	if (l->n == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 128;
		Choice *choices = reallocarray(l->choices, capacity, sizeof(*choices));
		Part *parts;

		if (!choices)
			return -ENOMEM;
		l->choices = choices;
		parts = reallocarray(l->parts, capacity, sizeof(*parts));
		if (!parts)
			return -ENOMEM;
		l->parts = parts;
		l->capacity = capacity;
	}
	ch.lo_value = value_of(w, i, c, s->lo_mb_s, s->lo_factor);
	ch.hi_value = ch.lo_value;
	if (ch.hi_w > ch.lo_w)
		ch.hi_value = MAX(ch.lo_value, value_of(w, i, c, s->hi_mb_s, s->hi_factor));
	l->choices[l->n] = ch;
	l->parts[l->n++] = (Part){ c, s->lo_mb_s, s->hi_mb_s };
	return 0;
}

/* Adds one choice, or two where the demand is met within a segment: past that point watts are worth
 * little. */
static int add_span(const Work *w, size_t i, const Candidate *c, const Span *s, ChoiceList *l)
{
	double demand = MAX(w->in->devices[i].demand_mb_s, 0.0), part;
	Span asked, spare;
	int r;

	if (s->lo_mb_s >= demand || s->hi_mb_s <= demand)
		return add(w, i, c, s, l);
	part = (demand - s->lo_mb_s) / (s->hi_mb_s - s->lo_mb_s);
	asked = span_between(s, 0, part);
	spare = span_between(s, part, 1);
	r = add(w, i, c, &asked, l);
	return r < 0 ? r : add(w, i, c, &spare, l);
}

/* Cuts the span to the device's limit and to its floor. False: nothing is left. */
static bool cut(const Work *w, size_t i, bool keep_floor, Span *s)
{
	double limit = limit_of(w, i), floor = w->terms[i].floor_mb_s;

	if (s->lo_w > limit)
		return false;
	if (s->hi_w > limit) {
		*s = span_between(s, 0, (limit - s->lo_w) / (s->hi_w - s->lo_w));
		s->hi_w = limit;
	}
	if (!keep_floor || s->lo_mb_s >= floor)
		return true;
	if (s->hi_mb_s < floor)
		return false;
	*s = span_between(s, (floor - s->lo_mb_s) / (s->hi_mb_s - s->lo_mb_s), 1);
	return true;
}

static int add_cut(const Work *w, size_t i, bool keep_floor, ChoiceList *l)
{
	const Frontier *f = w->frontier[i];
	double as_found_us = f->candidates[f->n - 1].p99_us;
	int r = 0;

	for (size_t k = 0; r == 0 && k < f->n; k++) {
		Span s = span_of(w, i, &f->candidates[k], as_found_us);

		if (cut(w, i, keep_floor, &s))
			r = add_span(w, i, &f->candidates[k], &s, l);
	}
	return r;
}

int add_choices(const Work *w, size_t i, bool keep_floor, ChoiceList *l)
{
	const Candidate *least = w->frontier[i] ? &w->frontier[i]->candidates[0] : &w->fixed[i];
	size_t before = l->n;
	Span s;
	int r = 0;

	if (w->frontier[i])
		r = add_cut(w, i, keep_floor, l);
	if (r == 0 && l->n == before && keep_floor && w->frontier[i])
		r = add_cut(w, i, false, l);
	if (r < 0 || l->n > before)
		return r;
	s = span_of(w, i, least, least->p99_us);
	if (!w->frontier[i])
		s.lo_w = s.hi_w = least->cap_w; /* the bias is in it */
	else
		s = span_between(&s, 0, 0);
	return add(w, i, least, &s, l);
}

void choice_list_done(ChoiceList *l)
{
	free(l->choices);
	free(l->parts);
}
