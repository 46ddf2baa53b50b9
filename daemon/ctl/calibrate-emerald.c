/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a watt gives, by the workloads of SNIA's Emerald specification: from points that were
 * measured, of the sizes nearest to its own, in the power state that holds nothing back. */

#include <math.h>

#include "ctl/calibrate.h"

#define HOT_BAND_READS 0.7
#define HOT_BAND_APART 0.15 /* a mix that is farther from it is another */

typedef struct Load {
	double read_share, kib;
	Pattern pattern;
} Load;

static const Load loads[_EMERALD_MAX] = {
	[EMERALD_HOT_BAND] = { HOT_BAND_READS, 8, RANDOM_IO },
	[EMERALD_RANDOM_READ] = { 1, 8, RANDOM_IO },
	[EMERALD_RANDOM_WRITE] = { 0, 8, RANDOM_IO },
	[EMERALD_SEQUENTIAL_READ] = { 1, 256, SEQUENTIAL_IO },
	[EMERALD_SEQUENTIAL_WRITE] = { 0, 256, SEQUENTIAL_IO },
};

static bool is_of(const Point *p, const Load *l)
{
	double apart = l->read_share == HOT_BAND_READS ? HOT_BAND_APART : 0;

	return p->power_state == 0 && p->pattern == l->pattern &&
	       fabs(p->read_share - l->read_share) <= apart;
}

/* 4 KiB are as near to 8 KiB as 16 KiB are: then the smaller one counts. */
static bool is_nearer(double kib, double than, const Load *l)
{
	double apart = fabs(log2(kib / l->kib)) - fabs(log2(than / l->kib));

	return than == 0 || (fabs(apart) < 1e-9 ? kib < than : apart < 0);
}

/* Of the nearest size, at the depth that gives most. */
static void take_best(const Calibration *c, EmeraldLoad which, Emerald *ret)
{
	const Load *l = &loads[which];
	double *kib = &ret->kib[which], *per_w = &ret->per_w[which];

	for (size_t i = 0; i < c->n_points; i++) {
		const Point *p = &c->points[i].at;
		double gives = (p->pattern == RANDOM_IO ? p->iops : p->mb_s) / p->watts;

		if (!is_of(p, l))
			continue;
		if (is_nearer(p->chunk_kib, *kib, l)) {
			*kib = p->chunk_kib;
			*per_w = gives;
		} else if (*kib == p->chunk_kib) {
			*per_w = fmax(*per_w, gives);
		}
	}
}

void calibrate_emerald(const Calibration *c, Emerald *ret)
{
	*ret = (Emerald){ .ready_idle_gb_w = c->subject.capacity_bytes / 1e9 / c->idle_w };
	for (EmeraldLoad l = 0; l < _EMERALD_MAX; l++)
		take_best(c, l, ret);
}

void calibrate_print_emerald(FILE *f, const Calibration *c)
{
	Emerald e;

	calibrate_emerald(c, &e);
	fputs("\n# SNIA Emerald: GB, IOPS and MB/s of a watt, and the size of the IOs measured\n"
	      "[emerald]\n",
	      f);
	if (e.ready_idle_gb_w > 0)
		fprintf(f, "ready_idle_gb_w = %.6g\n", e.ready_idle_gb_w);
	for (EmeraldLoad l = 0; l < _EMERALD_MAX; l++)
		if (e.kib[l] > 0)
			fprintf(f, "%s = %.6g\n%s = %.0fK\n", emerald_key(l), e.per_w[l],
				emerald_chunk_key(l), e.kib[l]);
}
