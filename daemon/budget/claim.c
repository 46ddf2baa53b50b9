/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claim.h"

#include <errno.h>

static const char *const class_names[_CLASS_MAX] = {
	[CLASS_SCHEDULE] = "schedule",
	[CLASS_SIGNAL] = "signal",
	[CLASS_OPERATOR] = "operator",
	[CLASS_EMERGENCY] = "emergency",
};

static const char *const scope_names[] = {
	[SCOPE_NODE] = "node",
	[SCOPE_GROUP] = "group",
	[SCOPE_DEVICE] = "device",
};

static int find_name(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(names[i], name))
			return (int)i;
	return -EINVAL;
}

const char *claim_class_name(ClaimClass k)
{
	return (unsigned)k < ELEMENTSOF(class_names) ? class_names[k] : "unknown";
}

int claim_class_from_name(const char *name)
{
	return find_name(class_names, ELEMENTSOF(class_names), name);
}

const char *claim_scope_name(ClaimScope s)
{
	return (unsigned)s < ELEMENTSOF(scope_names) ? scope_names[s] : "unknown";
}

int claim_scope_from_name(const char *name)
{
	return find_name(scope_names, ELEMENTSOF(scope_names), name);
}

bool claim_active(const Claim *claim, uint64_t now_us)
{
	return claim->start_us <= now_us && now_us < claim->expiry_us;
}
