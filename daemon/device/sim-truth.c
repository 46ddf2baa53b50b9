/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/sim-truth.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

static void power_on(SimTruth *t, const SimNature *n)
{
	sim_registers_init(&t->real, n->profile->kind);
	t->told = t->real;
	t->serves_us = t->awake_us = 0;
	t->awake_state = 0;
}

void sim_truth_init(SimTruth *t, const SimNature *n, uint64_t now_us)
{
	*t = (SimTruth){ .t_us = now_us };
	power_on(t, n);
}

bool sim_truth_valid(const SimTruth *t)
{
	SimRegisters r = t->real;

	if (!sim_registers_valid(&r) || !sim_registers_valid(&t->told) ||
	    t->n_pending > SIM_PENDING_MAX || t->awake_state > 0xff || t->fault > SIM_SLOW)
		return false;
	for (uint64_t i = 0; i < t->n_pending; i++) {
		if (t->pending[i].reg > SIM_COST)
			return false;
		if (t->pending[i].reg != SIM_COST)
			r.value[t->pending[i].reg] = t->pending[i].value;
		if (!sim_registers_valid(&r))
			return false;
	}
	return true;
}

static uint64_t seconds_us(double s)
{
	return (uint64_t)(s * USEC_PER_SEC);
}

static void start_waking(SimTruth *t, const SimNature *n, uint64_t now_us)
{
	const ConditionPower *c = &n->profile->conditions[t->real.value[SIM_CONDITION]];

	t->serves_us = now_us + seconds_us(c->recovery_s);
	t->awake_us = now_us + seconds_us(c->wake_s);
	t->wake_w = fmax(c->wake_w, n->profile->idle_w) * n->watts_factor;
	t->real.value[SIM_CONDITION] = CONDITION_ACTIVE;
}

static bool pending_for(const SimTruth *t, SimRegister reg)
{
	for (uint64_t i = 0; i < t->n_pending; i++)
		if (t->pending[i].reg == reg)
			return true;
	return false;
}

static void make_effective(SimTruth *t, const SimNature *n, const SimChange *c)
{
	unsigned state = c->value & 0x1f;

	/* a disk that is told to be active spins up just as for an IO */
	if (c->reg == SIM_CONDITION && c->value < t->real.value[SIM_CONDITION])
		start_waking(t, n, c->effective_us);
	else if (c->reg == SIM_CONDITION && c->value > t->real.value[SIM_CONDITION])
		t->serves_us = t->awake_us = 0;
	if (c->reg == SIM_POWER_STATE && n->profile->states[state].operational)
		t->awake_state = c->value;
	sim_registers_apply(&t->real, c, n->profile->kind);
}

static void drop_first(SimTruth *t)
{
	memmove(&t->pending[0], &t->pending[1], --t->n_pending * sizeof(t->pending[0]));
}

void sim_truth_write(SimTruth *t, const SimNature *n, const SimChange *c, bool lie)
{
	sim_registers_apply(&t->told, c, n->profile->kind);
	if (lie)
		return;
	if (t->n_pending == SIM_PENDING_MAX) {
		make_effective(t, n, &t->pending[0]);
		drop_first(t);
	}
	t->pending[t->n_pending] = *c;
	/* a device carries out its commands in order */
	if (t->n_pending)
		t->pending[t->n_pending].effective_us =
			MAX(c->effective_us, t->pending[t->n_pending - 1].effective_us);
	t->n_pending++;
}

void sim_truth_settle(SimTruth *t, const SimNature *n)
{
	for (; t->n_pending; drop_first(t))
		make_effective(t, n, &t->pending[0]);
	t->serves_us = t->awake_us = 0;
}

static void become(SimTruth *t, const SimNature *n, bool gone)
{
	if (gone == t->gone)
		return;
	t->gone = gone;
	if (gone) {
		t->n_departures++;
		t->n_pending = 0;
	} else {
		power_on(t, n);
	}
}

void sim_truth_fault(SimTruth *t, const SimNature *n, SimFault fault)
{
	become(t, n, fault == SIM_VANISH);
	if (fault == SIM_RESET) {
		power_on(t, n);
		/* commands still on their way arrive after the reset */
		for (uint64_t i = 0; i < t->n_pending; i++)
			sim_registers_apply(&t->told, &t->pending[i], n->profile->kind);
		t->n_resets++;
		fault = SIM_HEALTHY;
	}
	t->fault = fault;
}

static void due_faults(SimTruth *t, const SimNature *n, uint64_t *next_us)
{
	for (unsigned i = 0; i < n->n_faults; i++) {
		const SimFaultPlan *f = n->faults[i];
		uint64_t from = n->epoch_us + f->at_us, to = from + f->for_us;
		uint32_t bit = 1U << i;

		if (!(t->faults_begun & bit)) {
			if (t->t_us < from) {
				*next_us = MIN(*next_us, from);
				continue;
			}
			t->faults_begun |= bit;
			sim_truth_fault(t, n, f->kind);
		}
		if (f->for_us == 0 || (t->faults_ended & bit))
			continue;
		if (t->t_us < to) {
			*next_us = MIN(*next_us, to);
			continue;
		}
		t->faults_ended |= bit;
		sim_truth_fault(t, n, SIM_HEALTHY);
	}
}

static void due_changes(SimTruth *t, const SimNature *n, uint64_t *next_us)
{
	while (t->n_pending && t->pending[0].effective_us <= t->t_us) {
		make_effective(t, n, &t->pending[0]);
		drop_first(t);
	}
	if (t->n_pending)
		*next_us = MIN(*next_us, t->pending[0].effective_us);
}

/* An IO arrives at a device that sleeps. */
static void wake(SimTruth *t, const SimNature *n)
{
	const PowerState *state = &n->profile->states[t->real.value[SIM_POWER_STATE] & 0x1f];

	if (t->real.value[SIM_CONDITION] != CONDITION_ACTIVE) {
		start_waking(t, n, t->t_us);
		if (!pending_for(t, SIM_CONDITION))
			t->told.value[SIM_CONDITION] = CONDITION_ACTIVE;
	}
	/* NVMe base specification, "Power Management": IO in a non-operational state returns the
	 * controller to the last operational one */
	if (n->profile->kind == KIND_NVME && state->present && !state->operational) {
		t->serves_us = t->t_us + state->exit_us;
		t->real.value[SIM_POWER_STATE] = t->awake_state;
		if (!pending_for(t, SIM_POWER_STATE))
			t->told.value[SIM_POWER_STATE] = t->awake_state;
	}
}

static void waking_rates(SimTruth *t, const SimNature *n, SimForecast *cache, double demand,
			 uint64_t *next_us)
{
	bool serving = t->serves_us <= t->t_us, awake = t->awake_us <= t->t_us;
	double waiting = fmin(n->workload->mix.depth, (double)t->real.value[SIM_NR_REQUESTS]);

	sim_rates(n, &t->real, cache, serving ? demand : 0, &t->rates);
	if (!serving) {
		*next_us = MIN(*next_us, t->serves_us);
		t->rates.depth = demand > 0 ? waiting : 0;
	}
	if (!awake) {
		*next_us = MIN(*next_us, t->awake_us);
		t->rates.watts = fmax(t->rates.watts, t->wake_w);
	}
}

/* Everything that happens at t_us; returns until when nothing else will. */
static uint64_t happen(SimTruth *t, const SimNature *n, SimForecast *cache)
{
	uint64_t next_us = UINT64_MAX, until_us;
	double demand = sim_nature_demand(n, t->t_us, &until_us);

	due_faults(t, n, &next_us);
	if (t->gone) {
		t->rates = (SimRates){ 0 };
		return next_us;
	}
	due_changes(t, n, &next_us);
	if (demand > 0)
		wake(t, n);
	waking_rates(t, n, cache, demand, &next_us);
	return MIN(next_us, until_us);
}

static void integrate(SimTruth *t, double s)
{
	const SimRates *r = &t->rates;

	t->joules += r->watts * s;
	t->io_joules += r->io_joules * s;
	t->latency_us += r->depth * s * 1e6;
	t->sequential_ios += r->sequential_ios * s;
	for (int d = 0; d < _DIRECTION_MAX; d++) {
		t->ios[d] += r->ios[d] * s;
		t->bytes[d] += r->bytes[d] * s;
	}
}

static void remember(SimHistory *h, const SimTruth *t)
{
	uint64_t last = (h->n - 1) % SIM_HISTORY_MAX, at = h->n % SIM_HISTORY_MAX;

	if (h->n && h->step[last].watts == t->rates.watts)
		return;
	h->step[at].t_us = t->t_us;
	h->step[at].watts = t->rates.watts;
	h->n++;
}

void sim_truth_advance(SimTruth *t, const SimNature *n, SimForecast *cache, SimHistory *history,
		       uint64_t now_us)
{
	for (;;) {
		uint64_t next_us = MIN(happen(t, n, cache), MAX(now_us, t->t_us));

		if (history)
			remember(history, t);
		if (next_us <= t->t_us)
			return;
		integrate(t, (double)(next_us - t->t_us) / USEC_PER_SEC);
		t->t_us = next_us;
	}
}
