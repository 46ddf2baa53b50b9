/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What no single line of a node file can tell: whether all of it fits together. */

#include <errno.h>

#include "base/clock.h"
#include "base/text.h"
#include "sim/sim-file.h"

static int check_steps(const SimFile *f, const SimWorkload *w, const char *name, unsigned line)
{
	const SimDemand *d = &w->demand;
	IniLine l = { .path = f->path, .line = line };

	if (d->repeat_us && (d->kind != SIM_STEPS || d->repeat_us < USEC_PER_SEC ||
			     d->steps[d->n_steps - 1].at_us >= d->repeat_us))
		return ini_complain(&l,
				    "%s: repeat needs at least 1s and a demand in steps, all "
				    "before it",
				    name);
	return 0;
}

static const SimGroup *find_group(const SimFile *f, const char *name)
{
	for (size_t i = 0; i < f->n_groups; i++)
		if (streq(f->groups[i].name, name))
			return &f->groups[i];
	return NULL;
}

/* A workload that saturates has no end, and no cache can hold it. */
static int check_cache(const SimFile *f, const SimGroup *g, const SimWorkload *w)
{
	const SimGroup *cache = g->cache ? find_group(f, g->cache) : NULL;
	IniLine l = { .path = f->path, .line = g->line };

	if (g->pools && (!g->pool || g->pools > g->count))
		return ini_complain(&l, "[devices %s]: pools needs pool= and a device for each",
				    g->name);
	if (g->cache && (!cache || cache == g || cache->cache))
		return ini_complain(&l,
				    "[devices %s]: cache = %s is no other section without a cache "
				    "of its own",
				    g->name, g->cache);
	if (g->cache && w->demand.kind == SIM_SATURATE)
		return ini_complain(&l, "[devices %s]: a workload that saturates fills any cache",
				    g->name);
	return 0;
}

static int check_group(const SimFile *f, const SimGroup *g)
{
	const SimWorkload *w = sim_file_workload(f, g);
	IniLine l = { .path = f->path, .line = g->line };

	if (!g->profile)
		return ini_complain(&l, "[devices %s] names no profile", g->name);
	if (!w)
		return ini_complain(&l, "[devices %s]: there is no [workload %s]", g->name,
				    g->workload);
	if (g->workload && g->own_used)
		return ini_complain(&l, "[devices %s] has both workload= and a workload of its own",
				    g->name);
	return check_cache(f, g, w) ?: check_steps(f, w, g->name, g->line);
}

static int check_fault(const SimFile *f, const SimFaultPlan *p)
{
	IniLine l = { .path = f->path, .line = p->line };

	if (!p->device)
		return ini_complain(&l, "[fault] has no device");
	return p->kind == SIM_HEALTHY ? ini_complain(&l, "[fault] of %s has no kind", p->device)
				      : 0;
}

static bool same_family(const SimFamily *a, const SimFamily *b)
{
	return a->error == b->error && a->drift.most == b->drift.most &&
	       a->drift.period_us == b->drift.period_us;
}

/* An error that is one profile's is the same for all of its devices. */
static int check_family(const SimFile *f, const SimGroup *g)
{
	SimFamily own = sim_file_family(f, g);
	IniLine l = { .path = f->path, .line = g->line };

	for (const SimGroup *other = f->groups; other < g; other++) {
		SimFamily family = sim_file_family(f, other);

		if (!other->profile || !g->profile || !streq(other->profile, g->profile) ||
		    same_family(&own, &family))
			continue;
		return ini_complain(&l,
				    "[devices %s]: family_error and drift of %s differ from those "
				    "in [devices %s], line %u: say the same in both, or say it in "
				    "[node]",
				    g->name, g->profile, other->name, other->line);
	}
	return 0;
}

static int check_burst(const SimFile *f)
{
	const SimBurst *b = &f->burst;
	IniLine l = { .path = f->path, .line = b->line };

	if (!b->line)
		return 0;
	if (!b->every_us || !b->for_us)
		return ini_complain(&l, "[burst] needs every=, such as 10min, and for=, such as "
					"20s");
	if (b->for_us < USEC_PER_SEC || b->for_us > b->every_us)
		return ini_complain(&l, "[burst]: for= must be at least 1s and no longer than "
					"every=");
	return 0;
}

static int check_sensor(const SimFile *f, const SimSensorPlan *p)
{
	IniLine l = { .path = f->path, .line = p->line };

	if (!p->of.name)
		return ini_complain(&l,
				    "[sensor %s] needs of=, such as node, group NAME or "
				    "device NAME",
				    p->name);
	for (size_t i = 0; p->of.scope == SENSOR_OF_GROUP && i < f->n_groups; i++)
		if (f->groups[i].group && streq(f->groups[i].group, p->of.name))
			return 0;
	if (p->of.scope == SENSOR_OF_GROUP)
		return ini_complain(&l,
				    "[sensor %s]: no [devices NAME] section has group = %s: name "
				    "one of their groups",
				    p->name, p->of.name);
	return 0;
}

int sim_file_check(const SimFile *f)
{
	IniLine l = { .path = f->path };
	int r = 0;

	if (!f->name)
		r = ini_complain(&l, "[node] has no name");
	if (f->n_groups == 0)
		r = ini_complain(&l, "no [devices NAME] section: a node needs at least one device");
	for (size_t i = 0; i < f->n_groups; i++)
		r = check_group(f, &f->groups[i]) ?: check_family(f, &f->groups[i]) ?: r;
	for (size_t i = 0; i < f->n_faults; i++)
		r = check_fault(f, &f->faults[i]) ?: r;
	for (size_t i = 0; i < f->sensing.n_plans; i++)
		r = check_sensor(f, &f->sensing.plans[i]) ?: r;
	return check_burst(f) ?: r;
}
