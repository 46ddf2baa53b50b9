/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims that pin the NVMe power state of a device for the time of a measurement. They limit
 * nothing, and every limit comes before them. */

#include <errno.h>
#include <string.h>

#include "control/fleet.h"
#include "control/limits.h"

#define STATES_MAX 32 /* of an NVMe drive */

/* "0, 1, 2" */
static void list_states(uint32_t states, char *buf, size_t size)
{
	*buf = '\0';
	for (unsigned n = 0; n < STATES_MAX; n++)
		if (states >> n & 1)
			snprintf(buf + strlen(buf), size - strlen(buf), "%s%u", *buf ? ", " : "",
				 n);
}

static bool is_known(const Profile *p, unsigned state)
{
	return state < p->n_states && p->states[state].present;
}

/* Bit n: in state n it serves IO. */
static uint32_t operational_states(const Device *d)
{
	uint32_t states = d->power_states;

	for (unsigned n = 0; n < STATES_MAX; n++)
		if (is_known(d->profile, n) && !d->profile->states[n].operational)
			states &= ~(UINT32_C(1) << n);
	return states;
}

static int refuse_state(const Device *d, unsigned state, char **ret_error)
{
	char has[128];

	list_states(operational_states(d), has, sizeof(has));
	*ret_error = text_printf("power state %u of %s %s: it can be pinned to %s", state, d->name,
				 is_known(d->profile, state)
					 ? "is not an operational one, in which it would serve IO"
					 : "does not exist",
				 has);
	return -EINVAL;
}

static const HeldKnob *power_state_knob(const Managed *md)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (hk->knob->mechanism == MECHANISM_POWER_STATE) return hk;
	return NULL;
}

static int check_device(const Managed *md, unsigned state, char **ret_error)
{
	const HeldKnob *hk = power_state_knob(md);
	const Device *d = md->device;

	if (d->protected_why) {
		*ret_error = text_printf("%s is never touched: it %s", d->name, d->protected_why);
		return -EPERM;
	}
	if (!d->power_states || (md->knobs.probed && !(hk && hk->offered))) {
		*ret_error = text_printf(
			"power state %u of %s cannot be pinned: %s", state, d->name,
			d->power_states && hk && hk->why_not ? hk->why_not
							     : "it has no NVMe power management");
		return -EINVAL;
	}
	return operational_states(d) >> state & 1 ? 0 : refuse_state(d, state, ret_error);
}

/* One that is about to make room for it does not stand in its way. */
static const Claim *other_pin(const Limits *l, const Claim *claim)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (c->pins && streq(c->target, claim->target) && !claim_replaces(claim, c))
			return c;
	return NULL;
}

int limits_check_pin(const Limits *l, const Claim *claim, const Tools *t, char **ret_error)
{
	const Claim *other = other_pin(l, claim);

	if (claim->power_state >= STATES_MAX) {
		*ret_error = text_printf("a power state is 0 to %d", STATES_MAX - 1);
		return -EINVAL;
	}
	if (other) {
		*ret_error = text_printf("claim %llu pins %s to power state %u already",
					 (unsigned long long)other->cookie, other->target,
					 other->power_state);
		return -EBUSY;
	}
	return check_device(fleet_find_name(t->fleet, claim->target), claim->power_state,
			    ret_error);
}
