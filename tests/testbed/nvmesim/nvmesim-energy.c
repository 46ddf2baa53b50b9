/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the drive has drawn: the idle draw over time, and each IO's joules when it is done. The
 * power that the drive reports of itself is the mean of the last whole second. */

#include <math.h>

#include "nvmesim.h"

#define WINDOW_BUCKETS (NSEC_PER_SEC / ENERGY_BUCKET_NS)

_Static_assert(WINDOW_BUCKETS < ENERGY_BUCKETS, "the window must fit into the ring");

void energy_start(Energy *e, uint64_t now)
{
	*e = (Energy){ .start_ns = now, .last_ns = now, .newest = now / ENERGY_BUCKET_NS };
}

static double *bucket(Energy *e, uint64_t number)
{
	if (number > e->newest + ENERGY_BUCKETS)
		e->newest = number - ENERGY_BUCKETS;
	while (e->newest < number)
		e->bucket_j[++e->newest % ENERGY_BUCKETS] = 0;
	return &e->bucket_j[number % ENERGY_BUCKETS];
}

static void add_until(Energy *e, uint64_t until, double watts)
{
	uint64_t ring_ns = ENERGY_BUCKETS * ENERGY_BUCKET_NS;
	double joules;

	if (until > e->last_ns + ring_ns) { /* too old for the ring, not for the total */
		e->joules += watts * (double)(until - ring_ns - e->last_ns) / 1e9;
		e->last_ns = until - ring_ns;
	}
	while (e->last_ns < until) {
		uint64_t number = e->last_ns / ENERGY_BUCKET_NS;
		uint64_t end = MIN((number + 1) * ENERGY_BUCKET_NS, until);

		joules = watts * (double)(end - e->last_ns) / 1e9;
		*bucket(e, number) += joules;
		e->joules += joules;
		e->last_ns = end;
	}
}

void energy_advance(Sim *s)
{
	add_until(&s->energy, now_ns(), power_idle_w(s));
}

void energy_add_io(Sim *s, double joules)
{
	energy_advance(s);
	*bucket(&s->energy, s->energy.last_ns / ENERGY_BUCKET_NS) += joules;
	s->energy.joules += joules;
}

double energy_watts(Sim *s)
{
	Energy *e = &s->energy;
	uint64_t now_bucket, n;
	double joules = 0;

	energy_advance(s);
	now_bucket = e->last_ns / ENERGY_BUCKET_NS;
	bucket(e, now_bucket);
	/* the first bucket is not a whole one */
	n = MIN(WINDOW_BUCKETS, now_bucket - MIN(now_bucket, e->start_ns / ENERGY_BUCKET_NS + 1));
	if (!n)
		return power_idle_w(s);
	for (uint64_t i = 1; i <= n; i++)
		joules += e->bucket_j[(now_bucket - i) % ENERGY_BUCKETS];
	return joules / (double)n / ENERGY_BUCKET_NS * 1e9;
}

uint32_t watts_field(double watts)
{
	return 2u << 16 | (uint32_t)lround(MIN(watts * 100, 65535.0));
}

void measurement_set(Sim *s, bool on)
{
	Measurement *m = &s->measurement;

	if (!on) {
		m->on = false;
		return;
	}
	*m = (Measurement){
		.on = true,
		.generation = (uint8_t)(m->generation + 1),
		.next_ns = now_ns() + NSEC_PER_SEC,
	};
}

/* Intervals of a second. */
void measurement_tick(Sim *s)
{
	Measurement *m = &s->measurement;
	double watts;
	unsigned bin;

	if (!m->on || now_ns() < m->next_ns)
		return;
	m->next_ns += NSEC_PER_SEC;
	watts = energy_watts(s);
	m->count++;
	m->sum_w += watts;
	m->max_w = MAX(m->max_w, watts);
	bin = (unsigned)(watts * 1000 / HISTOGRAM_BIN_MW);
	if (bin < HISTOGRAM_BINS)
		m->bins[bin]++;
	else
		m->overflow++;
}

/* Power Measurement Log Page, NVMe 2.3; offsets as in libnvme's struct nvme_power_meas_log. */
void measurement_page(const Sim *s, uint8_t *page)
{
	const Measurement *m = &s->measurement;

	page[1] = m->generation;
	put16(page + 2, m->on | (m->overflow ? 1 << 4 : 0));
	put32(page + 4, MEASUREMENT_BYTES);
	put32(page + 8, m->count);
	put16(page + 12, HISTOGRAM_BINS);
	put16(page + 24, 8);
	put16(page + 26, HISTOGRAM_BIN_MW);
	put16(page + 28, HISTOGRAM_BINS);
	put32(page + 32, m->overflow);
	put32(page + 40, m->count ? watts_field(m->sum_w / m->count) : 0);
	put32(page + 44, m->count ? watts_field(m->max_w) : 0);
	page[56] = 1; /* interval power percent error */
	for (unsigned i = 0; i < HISTOGRAM_BINS; i++) {
		put32(page + 64 + 8 * i, m->bins[i]);
		put32(page + 68 + 8 * i, watts_field(i * HISTOGRAM_BIN_MW / 1000.0));
	}
}
