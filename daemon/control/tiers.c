/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/tiers.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "control/cache-hits.h"
#include "control/fleet.h"

/* A disk and its cache have the name of what is cached in common. */
static int has_in_common(char **behind, const char *cached, bool *ret)
{
	_cleanup_(strv_freep) char **names = strv_split(cached);

	*ret = false;
	for (char **name = names; name && *name; name++)
		*ret |= strv_match(behind, *name);
	return names ? 0 : -ENOMEM;
}

static int add_caches_of(const Fleet *fleet, size_t disk, double misses, PlanTier **tiers,
			 size_t *n)
{
	_cleanup_(strv_freep) char **behind = strv_split(fleet->devices[disk]->device->behind);

	for (size_t i = 0; i < fleet->n && behind; i++) {
		const char *cached = fleet->devices[i]->device->cached_by_it;
		bool common = false;
		PlanTier *t;

		if (*cached && has_in_common(behind, cached, &common) < 0)
			return -ENOMEM;
		if (!common)
			continue;
		t = ARRAY_GROW(*tiers, *n);
		if (!t)
			return -ENOMEM;
		*t = (PlanTier){ .disk = disk, .cache = i, .misses = misses };
	}
	return behind ? 0 : -ENOMEM;
}

int tiers_find(const Fleet *fleet, PlanTier **ret, size_t *ret_n)
{
	int r = 0;

	for (size_t i = 0; i < fleet->n && r >= 0; i++) {
		double misses = cache_hits_missed(fleet->devices[i]);

		if (!isnan(misses))
			r = add_caches_of(fleet, i, misses, ret, ret_n);
	}
	return r;
}
