/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Power states, and what they and the limits let the drive draw. */

#include "nvmesim.h"

/* What IO may draw: IO is only done in operational states. */
double power_cap_w(const Sim *s)
{
	unsigned ps = s->drive.states[s->ps].non_operational ? s->last_operational : s->ps;
	double cap = s->drive.states[ps].max_w;

	if (s->limit_w > 0)
		cap = MIN(cap, s->limit_w);
	if (s->ocp_w > 0)
		cap = MIN(cap, s->ocp_w);
	return cap;
}

double power_idle_w(const Sim *s)
{
	const DriveState *state = &s->drive.states[s->ps];

	return state->non_operational ? MIN(state->max_w, s->drive.idle_w) : s->drive.idle_w;
}

uint64_t power_transition_ns(const Sim *s, unsigned ps)
{
	if (ps == s->ps)
		return 0;
	return 1000ULL * (s->drive.states[s->ps].exit_us + s->drive.states[ps].entry_us);
}

void power_enter(Sim *s, unsigned ps, const char *why)
{
	if (ps != s->ps)
		log_event(s, "state from=%u to=%u why=%s", s->ps, ps, why);
	energy_advance(s);
	s->ps = ps;
	if (!s->drive.states[ps].non_operational)
		s->last_operational = ps;
	s->idle_since_ns = now_ns();
}

/* NVMe base specification, "Non-Operational Power States": an I/O command returns the controller to
 * the last operational state. */
void power_wake(Sim *s)
{
	uint64_t ready;

	if (!s->drive.states[s->ps].non_operational)
		return;
	ready = now_ns() + power_transition_ns(s, s->last_operational);
	s->ready_ns = MAX(s->ready_ns, ready);
	s->counters.wakes++;
	power_enter(s, s->last_operational, "io");
}

/* APST entry of a state: bits 7:3 the state to go to, bits 31:8 the idle time in ms, 0 never. */
static unsigned apst_target(const Sim *s)
{
	return s->apst[s->ps] >> 3 & 31;
}

uint64_t power_next_ns(const Sim *s)
{
	uint64_t idle_ms = s->apst[s->ps] >> 8 & 0xffffff;
	unsigned to = apst_target(s);

	if (!s->options.apst || !s->apst_on || s->depth || !idle_ms || to >= s->drive.n_states ||
	    !s->drive.states[to].non_operational)
		return NEVER;
	return s->idle_since_ns + idle_ms * NSEC_PER_MSEC;
}

void power_tick(Sim *s)
{
	if (power_next_ns(s) <= now_ns())
		power_enter(s, apst_target(s), "apst");
}
