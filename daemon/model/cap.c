/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "model/mixing.h"
#include "model/predict-state.h"

double paced_cap_watts(const Profile *p, double pace_w)
{
	return (p->idle_w + pace_w) * (1 + p->energy_error);
}

double pace_for_cap(const Profile *p, double cap_w)
{
	return cap_w / (1 + p->energy_error) - p->idle_w;
}

/* A non-operational state caps nothing: any IO leaves it. */
static double state_cap(const Profile *p, int power_state)
{
	if (power_state < 0 || power_state >= PROFILE_STATES_MAX)
		return INFINITY;
	return p->states[power_state].present && p->states[power_state].operational
		       ? p->states[power_state].max_w
		       : INFINITY;
}

double cap_watts_in(const StateModel *m, const Setting *s)
{
	const Profile *p = m->profile;
	const ConditionPower *c = &p->conditions[s->condition];
	double cap = MIN(p->rated_w, state_cap(p, s->power_state));

	/* idle_a and idle_b serve IO and cap nothing */
	if (condition_sleeps(s->condition) && c->present)
		return MIN(cap, c->watts * (1 + (c->estimated ? 2 : 1) * p->error));
	if (s->depth > 0 || s->chunk_kib > 0)
		cap = MIN(cap, mixing_most(p) * state_model_reach(m, s->depth, s->chunk_kib));
	if (s->limit_w > 0)
		cap = MIN(cap, s->limit_w);
	if (s->pace_w > 0)
		cap = MIN(cap, paced_cap_watts(p, s->pace_w));
	/* no mechanism takes an awake device below its idle */
	return MAX(cap, MIN(p->idle_w, p->rated_w));
}

double cap_watts(const Profile *p, const Setting *s)
{
	StateModel m;

	if (s->depth > 0 || s->chunk_kib > 0)
		state_model_build(&m, p, s->power_state);
	else
		m.profile = p;
	return cap_watts_in(&m, s);
}

double profile_operating_w(const Profile *p)
{
	double most_w = 0;
	StateModel m;

	state_model_build(&m, p, -1);
	if (p->estimated || m.surface[READ_IO][RANDOM_IO].n_depths == 0)
		return p->rated_w;
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			most_w = MAX(most_w, surface_most_w(&m.surface[d][t]));
	return MIN(p->idle_w + mixing_most(p) * most_w, p->rated_w);
}
