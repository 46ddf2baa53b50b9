/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/frontiers.h"

#include <errno.h>

#include "control/fleet.h"
#include "control/gather.h"

static size_t index_of(const Fleet *f, const Managed *md)
{
	size_t i = 0;

	while (f->devices[i] != md)
		i++;
	return i;
}

int control_frontier(const Control *c, const char *device, FrontierState *ret)
{
	const Managed *md = fleet_find_name(&c->fleet, device);
	const Policy *policy = gather_policy(c);
	_cleanup_(facts_done) Facts f = {};
	size_t i;
	int r;

	if (!md || !policy)
		return md ? -EOPNOTSUPP : -ENOENT;
	r = gather_facts(c, policy, &f);
	if (r < 0)
		return r;
	i = index_of(&c->fleet, md);
	ret->mix = f.devices[i].mix;
	ret->mix_seen = md->workload.has_mix;
	plan_candidates(&(PlanInput){ .devices = f.devices,
				      .n_devices = f.n_devices,
				      .groups = f.groups,
				      .n_groups = f.n_groups,
				      .policy = policy },
			i, ret->candidates, &ret->n);
	return 0;
}
