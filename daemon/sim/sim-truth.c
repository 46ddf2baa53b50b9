/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-truth.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "model/predict-state.h"
#include "sim/sim-account.h"
#include "sim/sim-cache.h"

#define FED_KIB      128                  /* bcache writes its buckets from front to back */
#define REBUILD_MB_S 30                   /* of a resync that leaves room for others */
#define FAILS_US     (180 * USEC_PER_SEC) /* 30 s and five retries of the SCSI layer */

static void power_on(SimTruth *t, const SimNature *n)
{
	sim_registers_init(&t->real, n->profile->kind);
	t->told = t->real;
	t->serves_us = t->awake_us = 0;
	t->awake_state = 0;
	t->waiting_since_us = 0;
}

void sim_truth_init(SimTruth *t, const SimNature *n, uint64_t now_us)
{
	*t = (SimTruth){ .t_us = now_us };
	power_on(t, n);
}

static bool amount(double v)
{
	return v >= 0 && v < 1e18;
}

static bool cache_valid(const SimTruth *t)
{
	return amount(t->dirty_bytes) && amount(t->waiting_reads) && t->marked_dirty <= 1 &&
	       t->bypassed <= 1 && amount(t->fed_mb_s[READ_IO]) && amount(t->fed_mb_s[WRITE_IO]);
}

bool sim_truth_valid(const SimTruth *t)
{
	SimRegisters r = t->real;

	if (!sim_registers_valid(&r) || !sim_registers_valid(&t->told) ||
	    t->n_pending > SIM_PENDING_MAX || t->awake_state > 0xff || t->fault > SIM_RESYNC ||
	    !cache_valid(t) || !sim_account_valid(&t->account))
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

	t->account.spin_ups += t->real.value[SIM_CONDITION] >= CONDITION_STANDBY_Y;
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

/* From idle_b on the heads are unloaded. */
static void change_condition(SimTruth *t, const SimNature *n, const SimChange *c)
{
	uint64_t from = t->real.value[SIM_CONDITION];

	t->account.unloads += from < CONDITION_IDLE_B && c->value >= CONDITION_IDLE_B;
	/* a disk that is told to be active spins up just as for an IO */
	if (c->value < from)
		start_waking(t, n, c->effective_us);
	else
		t->serves_us = t->awake_us = 0;
}

static void make_effective(SimTruth *t, const SimNature *n, const SimChange *c)
{
	unsigned state = c->value & 0x1f;

	if (c->reg == SIM_CONDITION && c->value != t->real.value[SIM_CONDITION])
		change_condition(t, n, c);
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
	t->waiting_since_us = t->drained_us = 0;
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
	for (unsigned i = 0; i < n->faults.n; i++) {
		const SimFaultPlan *f = n->faults.plan[i];
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

bool sim_truth_stuck(const SimTruth *t)
{
	return t->fault == SIM_NO_WAKE && condition_sleeps((Condition)t->real.value[SIM_CONDITION]);
}

/* A link sleeps as soon as it has had nothing to carry. */
static bool link_sleeps(const SimTruth *t, const SimNature *n)
{
	return n->profile->kind != KIND_NVME && n->profile->link_recovery_s > 0 &&
	       t->real.value[SIM_LINK] >= SIM_LINK_MED_POWER_WITH_DIPM && !(t->rates.mb_s > 0) &&
	       t->serves_us < t->t_us;
}

/* An IO arrives at a device that may be asleep. */
static void wake(SimTruth *t, const SimNature *n)
{
	const PowerState *state = &n->profile->states[t->real.value[SIM_POWER_STATE] & 0x1f];

	if (sim_truth_stuck(t))
		return;
	if (t->real.value[SIM_CONDITION] != CONDITION_ACTIVE) {
		t->account.io_wakes += condition_sleeps((Condition)t->real.value[SIM_CONDITION]);
		start_waking(t, n, t->t_us);
		if (!pending_for(t, SIM_CONDITION))
			t->told.value[SIM_CONDITION] = CONDITION_ACTIVE;
	}
	if (link_sleeps(t, n))
		t->serves_us = t->t_us + seconds_us(n->profile->link_recovery_s);
	/* NVMe base specification, "Power Management": IO in a non-operational state returns the
	 * controller to the last operational one */
	if (n->profile->kind == KIND_NVME && state->present && !state->operational) {
		t->serves_us = t->t_us + state->exit_us;
		t->real.value[SIM_POWER_STATE] = t->awake_state;
		if (!pending_for(t, SIM_POWER_STATE))
			t->told.value[SIM_POWER_STATE] = t->awake_state;
	}
}

/* Plans the work that reaches the device while it serves. */
static void plan_work(const SimTruth *t, const SimSplit *split, SimStream work[_SIM_WORK_MAX])
{
	double fed = t->fed_mb_s[READ_IO] + t->fed_mb_s[WRITE_IO];

	work[SIM_OWN] = split->direct;
	work[SIM_WRITEBACK] = split->writeback;
	if (fed > 0)
		work[SIM_FED] = (SimStream){ .mix = { .read_share = t->fed_mb_s[READ_IO] / fed,
						      .read_kib = FED_KIB,
						      .write_kib = FED_KIB,
						      .depth = 8 },
					     .mb_s = fed };
	if (t->fault == SIM_RESYNC)
		work[SIM_REBUILD] = (SimStream){
			.mix = { .read_share = 0.5, .read_kib = 256, .write_kib = 256, .depth = 4 },
			.mb_s = REBUILD_MB_S
		};
}

static bool any(const SimStream work[_SIM_WORK_MAX])
{
	for (int i = 0; i < _SIM_WORK_MAX; i++)
		if (work[i].mb_s > 0)
			return true;
	return false;
}

/* Counts the IO that waits until the device is ready. */
static void wait_for(SimTruth *t, const SimNature *n, const SimStream *own, bool serving,
		     uint64_t *next_us)
{
	double waiting = fmin(n->workload->mix.depth, (double)t->real.value[SIM_NR_REQUESTS]);
	uint64_t fails_us;

	if (serving) {
		sim_account_waited(t);
		return;
	}
	t->rates.depth = own->mb_s > 0 ? waiting : 0;
	if (own->mb_s > 0 && !t->waiting_since_us) {
		t->waiting_since_us = t->t_us;
		t->waiting_reads = waiting * own->mix.read_share;
	}
	fails_us = t->waiting_since_us + FAILS_US;
	if (!t->waiting_since_us || t->t_us >= fails_us)
		return;
	*next_us = MIN(*next_us, fails_us);
}

static void working_rates(SimTruth *t, const SimNature *n, SimForecast *cache,
			  const SimStream work[_SIM_WORK_MAX], uint64_t *next_us)
{
	static const SimStream nothing[_SIM_WORK_MAX];
	bool serving = t->serves_us <= t->t_us && !(sim_truth_stuck(t) && any(work));
	bool awake = t->awake_us <= t->t_us;
	SimMoment m = { .registers = &t->real, .cache = cache };
	uint64_t until_us;

	m.family_error = sim_nature_family_error(n, t->t_us, &until_us);
	*next_us = MIN(*next_us, until_us);
	sim_rates(n, &m, serving ? work : nothing, &t->rates);
	wait_for(t, n, &work[SIM_OWN], serving, next_us);
	if (t->serves_us > t->t_us)
		*next_us = MIN(*next_us, t->serves_us);
	if (!awake) {
		*next_us = MIN(*next_us, t->awake_us);
		t->rates.watts = fmax(t->rates.watts, t->wake_w);
	}
}

/* Computes what the workload gets, by way of the cache or not. */
static void workload_rates(SimTruth *t, const SimNature *n, double demand_mb_s,
			   const SimSplit *split)
{
	bool late = t->waiting_since_us && t->t_us >= t->waiting_since_us + FAILS_US;

	sim_account_ask(&n->workload->mix, demand_mb_s, &t->rates);
	t->rates.held_mb_s = split->held_mb_s;
	t->rates.cached_mb_s = split->cached_mb_s;
	t->rates.cached_reads = split->cached_reads;
	t->rates.mb_s += split->held_mb_s + split->cached_mb_s;
	t->rates.fed_mb_s[WRITE_IO] = split->held_mb_s;
	t->rates.fed_mb_s[READ_IO] = split->cached_mb_s + t->rates.work_mb_s[SIM_WRITEBACK];
	if (late)
		sim_account_fail(&split->direct, &t->rates);
}

/* Does everything that happens at t_us, and returns until when nothing else will. */
static uint64_t happen(SimTruth *t, const SimNature *n, SimForecast *cache)
{
	uint64_t next_us = UINT64_MAX, until_us;
	double demand = sim_nature_demand(n, t->t_us, &until_us);
	SimStream work[_SIM_WORK_MAX] = { 0 };
	SimSplit split;

	due_faults(t, n, &next_us);
	if (t->gone) {
		t->rates = (SimRates){ 0 };
		sim_account_ask(&n->workload->mix, demand, &t->rates);
		memcpy(t->rates.failed, t->rates.asked_ios, sizeof(t->rates.failed));
		return MIN(next_us, until_us);
	}
	due_changes(t, n, &next_us);
	sim_cache_notice(t, n);
	sim_cache_split(t, n, demand, &split);
	plan_work(t, &split, work);
	if (sim_cache_mark(t, &split) || any(work))
		wake(t, n);
	working_rates(t, n, cache, work, &next_us);
	workload_rates(t, n, demand, &split);
	if (n->cache_bytes > 0)
		next_us = MIN(next_us, sim_cache_next_us(t, n));
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
	sim_account_pass(&t->account, r, s);
	sim_cache_pass(t, s);
}

static void remember(SimHistory *h, const SimTruth *t)
{
	uint64_t last = (h->n - 1) % SIM_HISTORY_MAX, at = h->n % SIM_HISTORY_MAX;

	if (h->n && h->step[last].watts == t->rates.watts &&
	    h->step[last].fed_mb_s[READ_IO] == (float)t->rates.fed_mb_s[READ_IO] &&
	    h->step[last].fed_mb_s[WRITE_IO] == (float)t->rates.fed_mb_s[WRITE_IO])
		return;
	h->step[at].t_us = t->t_us;
	h->step[at].watts = t->rates.watts;
	h->step[at].fed_mb_s[READ_IO] = (float)t->rates.fed_mb_s[READ_IO];
	h->step[at].fed_mb_s[WRITE_IO] = (float)t->rates.fed_mb_s[WRITE_IO];
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
