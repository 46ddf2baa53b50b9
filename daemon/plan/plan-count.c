/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What counts against the budget. Where nothing above it is tolerated that is what a device can
 * draw. Else it is what it is expected to draw, and what the model may be wrong by, since what it
 * can draw above that it will not draw for long. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

static double dynamic_w(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];
	Prediction p;

	predict_demand(d->profile, &d->mix, &SETTING_AS_FOUND, MAX(d->demand_mb_s, 0.0), &p);
	return MAX(p.watts - d->profile->idle_w, 0.0);
}

/* One profile's error is shared by all of its drives, and adds up; those of different profiles do
 * not all go one way: sqrt(sum of squares) of theirs is what all may be off by together. */
typedef struct Family {
	const Profile *profile;
	double dynamic_w;
} Family;

static Family *family_of(Family *families, size_t *n, const Profile *p)
{
	for (size_t k = 0; k < *n; k++)
		if (families[k].profile == p)
			return &families[k];
	families[*n].profile = p;
	return &families[(*n)++];
}

static double joint_part(const Family *families, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t k = 0; k < n; k++) {
		double off_w = families[k].profile->energy_error * families[k].dynamic_w;

		sum += off_w;
		squares += off_w * off_w;
	}
	return sum > 0 ? sqrt(squares) / sum : 0;
}

int doubts_fill(Work *w)
{
	_cleanup_free_ Family *families = calloc(w->in->n_devices + 1, sizeof(*families));
	size_t n = 0;
	double part;

	if (!families)
		return -ENOMEM;
	for (size_t i = 0; i < w->in->n_devices; i++) {
		if (w->in->devices[i].measured)
			continue;
		/* for the moment they hold the watts */
		w->doubt[i] = w->alike[i] < i ? w->doubt[w->alike[i]] : dynamic_w(w, i);
		family_of(families, &n, w->in->devices[i].profile)->dynamic_w += w->doubt[i];
	}
	part = joint_part(families, n);
	for (size_t i = 0; i < w->in->n_devices; i++)
		if (!w->in->devices[i].measured)
			w->doubt[i] = part * w->in->devices[i].profile->energy_error;
	return 0;
}

/* A limit of its own, or of its group, tolerates nothing. */
bool counts_expected(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];

	return w->in->at_once_w > w->in->budget_w && isinf(limit_of(w, i)) &&
	       !(has_group(w->in, d) && isfinite(w->in->groups[d->group].limit_w));
}

/* Times what it draws above idle. */
static double scaled_w(const PlanDevice *d, double watts, double times)
{
	double idle_w = MIN(d->profile->idle_w, watts);

	return idle_w + (watts - idle_w) * times;
}

double corrected_w(const PlanDevice *d, double expect_w, double cap_w)
{
	double times = d->correction > 0 ? d->correction : 1;

	return MIN(scaled_w(d, expect_w, times), scaled_w(d, cap_w, MAX(times, 1.0)));
}

double counted_w(const Work *w, size_t i, double expect_w, double cap_w)
{
	const PlanDevice *d = &w->in->devices[i];
	double most_w, likely_w;

	if (!counts_expected(w, i))
		return cap_w;
	most_w = MAX(corrected_w(d, cap_w, cap_w), cap_w);
	likely_w = scaled_w(d, corrected_w(d, expect_w, cap_w), 1 + w->doubt[i]);
	likely_w = MIN(likely_w, most_w);
	return likely_w + w->strictness * (most_w - likely_w);
}
