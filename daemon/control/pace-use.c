/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/pace-use.h"

#include <math.h>

#include "control/pools.h"
#include "control/workload.h"

#define LEFT_MOST   0.75 /* of a pace; a member is paced to four times what it is to draw at most */
#define LEFT_LEAST  0.03 /* less is not told from what looks differ by */
#define FIRST_LOOKS 3    /* before that it may be chance... */
#define MOST_LOOKS  12   /* ...and of so many it is the mean */
#define SURPRISE    0.15 /* so far from the mean it is another workload */
#define NEAR_ALL    0.97 /* of what is asked for: nothing is missed */
#define SAME        0.1  /* relative: a look that began under almost this pace */
#define NEWS        0.02
#define SMOOTHS     0.15 /* weight of a look in what a member serves */

/* What the members of a pool that are paced do in all. */
typedef struct PoolUse {
	double spent_w, pace_w; /* above idle; of all members */
	double mb_s, demand_mb_s;
	double smooth_mb_s; /* mb_s over some seconds */
	bool waits;         /* one of them has IO that waits for its pace */
	bool known;         /* all are paced, and metered */
} PoolUse;

static bool is_paced(const Managed *md)
{
	return md->knobs.actual.pace_w > 0;
}

static PoolUse use_of(const Managed *md, const Fleet *f)
{
	PoolUse u = { .known = true };

	for (const Managed *member = pools_first(f, md); member; member = pools_next(f, member)) {
		const Workload *w = &member->workload;

		u.known &= is_paced(member) && !isnan(w->rates.joules_per_s);
		u.spent_w += w->rates.joules_per_s;
		u.pace_w += member->knobs.actual.pace_w;
		u.mb_s += workload_mb_s(w);
		u.demand_mb_s += w->demand_mb_s;
		u.smooth_mb_s += member->served.in_pool.mb_s;
		u.waits |= workload_iops(w) > 0 && !w->unheld.now;
	}
	return u;
}

/* Who leaves less than was planned with draws more: that is believed at once. */
static void learn(PaceUse *use, double left)
{
	if (fabs(left - use->mean) > SURPRISE)
		use->looks = 0;
	use->looks = MIN(use->looks + 1, (unsigned)MOST_LOOKS);
	use->mean += (left - use->mean) / use->looks;
	if (use->looks >= FIRST_LOOKS || use->mean < use->left)
		use->left = use->mean < LEFT_LEAST ? 0 : MIN(use->mean, LEFT_MOST);
}

static void forget(PaceUse *use)
{
	use->left = use->mean = 0;
	use->looks = 0;
}

/* The first member keeps what is learned for all, so that they have it in common.
 *
 * Who gets all that it asks for leaves some of its pace and misses nothing; how much it would leave
 * if it asked for more is not known, and what was found before is still the best guess. What comes
 * after a pause may be another workload. A look that began under quite another pace is left out. */
void pace_use_judge(Managed *md, Tools *t)
{
	PaceUse *use = &md->served.in_pool;
	PoolUse pool;
	double before_w = use->looked_at_w;

	if (!md->place.number)
		return;
	use->mb_s += (use->mb_s > 0 ? SMOOTHS : 1) * (workload_mb_s(&md->workload) - use->mb_s);
	if (pools_first(t->fleet, md) != md)
		return;
	pool = use_of(md, t->fleet);
	use->looked_at_w = pool.pace_w;
	if (!pool.known || !(pool.mb_s > 0))
		forget(use);
	else if (pool.waits && pool.mb_s < NEAR_ALL * pool.demand_mb_s &&
		 fabs(pool.pace_w - before_w) < SAME * before_w)
		learn(use, 1 - pool.spent_w / ((pool.pace_w + before_w) / 2));
}

double pace_use_left(const Managed *md, const Fleet *f)
{
	const Managed *keeper = pools_first(f, md);

	return keeper ? keeper->served.in_pool.left : 0;
}

bool pace_use_is_news(const Managed *md, const Fleet *f)
{
	return fabs(pace_use_left(md, f) - md->planned.pace_left) > NEWS;
}

double pace_use_demand_mb_s(const Managed *md, const Fleet *f)
{
	PoolUse pool;

	if (!md->place.number || !is_paced(md))
		return md->workload.demand_mb_s;
	pool = use_of(md, f);
	if (!pool.waits || !isfinite(pool.demand_mb_s) || !(pool.smooth_mb_s > 0))
		return md->workload.demand_mb_s;
	return pool.demand_mb_s * md->served.in_pool.mb_s / pool.smooth_mb_s;
}
