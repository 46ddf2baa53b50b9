/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-account.h"

#include <math.h>

#include "base/clock.h"

#define PER_DOUBLING   4
#define CACHED_READ_US 150 /* by flash that is not busy */
#define AMOUNTS(a)     ((const double *)(a))
#define N_AMOUNTS      (offsetof(SimAccount, io_wakes) / sizeof(double))

bool sim_account_valid(const SimAccount *a)
{
	for (size_t i = 0; i < N_AMOUNTS; i++)
		if (!(AMOUNTS(a)[i] >= 0) || isinf(AMOUNTS(a)[i]))
			return false;
	return true;
}

void sim_account_add(SimAccount *sum, const SimAccount *a)
{
	for (size_t i = 0; i < N_AMOUNTS; i++)
		((double *)sum)[i] += AMOUNTS(a)[i];
	sum->io_wakes += a->io_wakes;
	sum->spin_ups += a->spin_ups;
	sum->unloads += a->unloads;
}

static size_t bucket(double us)
{
	double b = us > 1 ? ceil(PER_DOUBLING * log2(us)) : 0;

	return (size_t)fmin(b, SIM_WAITS - 1);
}

double sim_account_read_us(const SimAccount *a, double share)
{
	double sum = 0, below = 0;

	for (size_t i = 0; i < SIM_WAITS; i++)
		sum += a->read_waits[i];
	for (size_t i = 0; i < SIM_WAITS; i++) {
		below += a->read_waits[i];
		if (sum > 0 && below >= share * sum)
			return exp2((double)i / PER_DOUBLING);
	}
	return NAN;
}

void sim_account_ask(const Mix *mix, double demand_mb_s, SimRates *rates)
{
	double mb_s = isfinite(demand_mb_s) ? demand_mb_s : rates->mb_s;
	double kib = mix->read_share * mix->read_kib + (1 - mix->read_share) * mix->write_kib;
	double ios = mb_s * 1e6 / (kib * 1024);

	rates->asked_mb_s = mb_s;
	rates->asked_ios[READ_IO] = ios * mix->read_share;
	rates->asked_ios[WRITE_IO] = ios * (1 - mix->read_share);
}

void sim_account_fail(const SimStream *direct, SimRates *rates)
{
	SimRates failing = { 0 };

	sim_account_ask(&direct->mix, fmin(direct->mb_s, 1e6), &failing);
	for (int d = 0; d < _DIRECTION_MAX; d++)
		rates->failed[d] = failing.asked_ios[d];
}

void sim_account_waited(SimTruth *t)
{
	if (!t->waiting_since_us)
		return;
	t->account.late_reads += t->waiting_reads;
	t->account.read_waits[bucket((double)(t->t_us - t->waiting_since_us))] += t->waiting_reads;
	t->waiting_since_us = 0;
	t->waiting_reads = 0;
}

void sim_account_pass(SimAccount *a, const SimRates *r, double s)
{
	a->asked_bytes += r->asked_mb_s * s * 1e6;
	a->served_bytes += r->mb_s * s * 1e6;
	a->held_bytes += r->held_mb_s * s * 1e6;
	a->cached_reads += r->cached_reads * s;
	a->read_waits[bucket(CACHED_READ_US)] += r->cached_reads * s;
	if (r->own_reads > 0)
		a->read_waits[bucket(r->read_us)] += r->own_reads * s;
	for (int d = 0; d < _DIRECTION_MAX; d++) {
		a->ios[d] += r->asked_ios[d] * s;
		a->failed[d] += r->failed[d] * s;
	}
}
