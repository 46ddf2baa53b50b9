/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the planner maximises. With fairness 0 a MB/s is a MB/s. Else a share x of what is asked is
 * worth R U(x): R, the watts that all that is asked draws above idle, makes a half of a disk
 * pool's work as much as a half of a flash pool's, and U is concave, so that who has little gets
 * more first (alpha fairness: 1 is proportional, as in Kelly, "Charging and rate control for
 * elastic traffic", 1997). */

#include <math.h>

#include "plan/plan-work.h"

/* Without it, the first byte a second of a unit would be worth any number of watts. */
#define EPSILON 0.05
/* Cut at 8 places an octave, a chord misses the logarithm by less than 0.001. */
#define STRAIGHT 1.0905077326652577 /* 2^(1/8) */

/* From 0 at nothing. */
static double utility(double alpha, double x)
{
	if (!(x > 0))
		return 0;
	if (alpha == 1)
		return log((x + EPSILON) / EPSILON);
	return (pow(x + EPSILON, 1 - alpha) - pow(EPSILON, 1 - alpha)) / (1 - alpha);
}

/* Max-min fairness is made of floors; among equal floors the rest is proportional. */
static double alpha_of(const Work *w)
{
	double alpha = w->in->policy->fairness;

	return isfinite(alpha) ? alpha : 1;
}

static bool is_current(const Setting *s, const Setting *current)
{
	Setting other = *current;

	if (s->pace_w > 0 && other.pace_w > 0)
		other.pace_w = s->pace_w;
	/* these make no choice different; they are added when all choices are made */
	other.redirect = s->redirect;
	other.idle_latency_us = s->idle_latency_us;
	if (!condition_is_sleep(other.condition))
		other.condition = CONDITION_ACTIVE;
	return setting_equal(s, &other);
}

double value_of(const Work *w, size_t i, const Curve *c, const Piece *p, double share)
{
	double alpha = alpha_of(w), asked = MIN(share, 1.0), spare = MAX(share - 1, 0.0), v;

	if (alpha > 0)
		v = c->asked_w * utility(alpha, asked) +
		    SPARE_WORTH * c->full_w * utility(alpha, spare);
	else
		v = c->asked_mb_s * asked * (1 + SPARE_WORTH) + SPARE_WORTH * c->full_mb_s * spare;
	v *= w->terms[i].weight;
	if (counts_expected(w, i) && setting_equal(&p->candidate->setting, &SETTING_AS_FOUND))
		v *= 1 + 2 * CURRENT_WORTH;
	else if (is_current(&p->candidate->setting, &w->in->devices[i].current))
		v *= 1 + CURRENT_WORTH;
	return condition_is_sleep(p->candidate->setting.condition) ? v : v + AWAKE_WORTH;
}

double stake_of_curve(const Work *w, size_t i, const Curve *c)
{
	return w->terms[i].weight * (alpha_of(w) > 0 ? c->asked_w : c->asked_mb_s);
}

double worth_of(const Work *w, size_t i, double mb_s)
{
	const Pick *p = &w->picks[i];
	double alpha = alpha_of(w), asked = MIN(mb_s, p->asked_mb_s);

	if (alpha > 0)
		asked = asked > 0 ? p->asked_w * utility(alpha, asked / p->asked_mb_s) : 0;
	return w->terms[i].weight * asked;
}

double stake_of(const Work *w, size_t i)
{
	return alpha_of(w) > 0 ? w->terms[i].weight * w->picks[i].asked_w : 0;
}

double value_straight_to(const Work *w, double share)
{
	if (alpha_of(w) <= 0)
		return INFINITY;
	if (share < 1)
		return MIN((share + EPSILON) * STRAIGHT - EPSILON, 1.0);
	return 1 + (share - 1 + EPSILON) * STRAIGHT - EPSILON;
}
