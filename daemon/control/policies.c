/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/policies.h"

#include <errno.h>

#include "base/log.h"

int policies_load(Policies *p, const ControlConfig *c, const char *name)
{
	_cleanup_(policy_freep) Policy *policy = NULL, *emergency = NULL;
	int r = policy_find(c->policy_directories, name, &policy);

	if (r < 0)
		return r;
	r = policy_find(c->policy_directories, "emergency", &emergency);
	if (r < 0)
		log_warning_errno(r, "No emergency policy: emergencies will use %s", name);
	policies_done(p);
	p->chosen = TAKE_PTR(policy);
	p->emergency = TAKE_PTR(emergency);
	return 0;
}

void policies_done(Policies *p)
{
	p->chosen = policy_free(p->chosen);
	p->emergency = policy_free(p->emergency);
}

const Policy *policies_for(const Policies *p, const Claim *effective)
{
	return effective && effective->class == CLASS_EMERGENCY && p->emergency ? p->emergency
										: p->chosen;
}
