/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/carbon.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#define J_PER_KWH 3.6e6
#define G_PER_KG  1e3
#define DISKS_MAX 1e6

/* What the SSD owes the disks: carbon of its making above theirs, and what each request saves. */
typedef struct Debt {
	double embodied_kg, saved_j;
} Debt;

const char *carbon_verdict_name(CarbonVerdict v)
{
	switch (v) {
	case CARBON_AFTER: return "after";
	case CARBON_ALWAYS: return "always";
	case CARBON_UNTIL: return "until";
	default: return "never";
	}
}

static double band_end(const Band *b, int end)
{
	return end < 0 ? b->low : end > 0 ? b->high : b->mean;
}

static bool is_band(const Band *b)
{
	return b->low >= 0 && b->low <= b->mean && b->mean <= b->high && isfinite(b->high);
}

static bool is_question(const CarbonQuestion *q)
{
	return is_band(&q->ssd.request_j) && is_band(&q->ssd.embodied_kg_gb) &&
	       is_band(&q->hdd.request_j) && is_band(&q->hdd.embodied_kg_gb) &&
	       is_band(&q->g_kwh) && q->size_gb > 0 && isfinite(q->size_gb) && q->disks > 0;
}

double carbon_use_kg(double joules, double g_kwh)
{
	return joules / J_PER_KWH * g_kwh / G_PER_KG;
}

static double embodied_kg(const CarbonQuestion *q, const CarbonSide *side, unsigned devices,
			  int end)
{
	return q->size_gb * devices * band_end(&side->embodied_kg_gb, end);
}

static Debt debt(const CarbonQuestion *q, CarbonCase which)
{
	return (Debt){ .embodied_kg = embodied_kg(q, &q->ssd, 1, -which) -
				      embodied_kg(q, &q->hdd, q->disks, which),
		       .saved_j = band_end(&q->hdd.request_j, which) -
				  band_end(&q->ssd.request_j, -which) };
}

/* Dirty electricity favours whoever needs less of it. */
static double case_g_kwh(const CarbonQuestion *q, CarbonCase which)
{
	return band_end(&q->g_kwh, debt(q, which).saved_j >= 0 ? (int)which : -(int)which);
}

/* Where embodied_kg = saved_kg * x. Equation 1 is strict: who is equal is not ahead. */
static CarbonCrossing cross(double embodied_kg, double saved_kg)
{
	if (saved_kg > 0 && embodied_kg > 0)
		return (CarbonCrossing){ CARBON_AFTER, embodied_kg / saved_kg };
	if (saved_kg < 0 && embodied_kg < 0)
		return (CarbonCrossing){ CARBON_UNTIL, embodied_kg / saved_kg };
	if (saved_kg > 0 || embodied_kg < 0)
		return (CarbonCrossing){ CARBON_ALWAYS, 0 };
	return (CarbonCrossing){ CARBON_NEVER, INFINITY };
}

int carbon_disks(double rate, double hdd_rate, double scaling, unsigned *ret)
{
	double disks = rate / (hdd_rate * scaling);

	if (!(rate > 0) || !(hdd_rate > 0) || !(scaling > 0) || scaling > 1 || !isfinite(disks))
		return -EINVAL;
	if (disks > DISKS_MAX)
		return -ERANGE;
	/* rounding must not make one disk more of a quotient that is whole, as 4.9 / (7 * 0.7) */
	*ret = (unsigned)fmax(1, ceil(disks * (1 - 1e-12)));
	return 0;
}

static CarbonCrossing case_requests(const CarbonQuestion *q, CarbonCase which)
{
	Debt d = debt(q, which);

	return cross(d.embodied_kg, carbon_use_kg(d.saved_j, case_g_kwh(q, which)));
}

int carbon_requests(const CarbonQuestion *q, CarbonCrossings *ret)
{
	if (!is_question(q))
		return -EINVAL;
	*ret = (CarbonCrossings){ .best = case_requests(q, CARBON_BEST),
				  .mean = case_requests(q, CARBON_MEAN),
				  .worst = case_requests(q, CARBON_WORST) };
	return 0;
}

static CarbonCrossing case_intensity(const CarbonQuestion *q, double requests, CarbonCase which)
{
	Debt d = debt(q, which);

	return cross(d.embodied_kg, carbon_use_kg(requests * d.saved_j, 1));
}

int carbon_intensity(const CarbonQuestion *q, double requests, CarbonCrossings *ret)
{
	if (!is_question(q) || !(requests > 0) || !isfinite(requests))
		return -EINVAL;
	*ret = (CarbonCrossings){ .best = case_intensity(q, requests, CARBON_BEST),
				  .mean = case_intensity(q, requests, CARBON_MEAN),
				  .worst = case_intensity(q, requests, CARBON_WORST) };
	return 0;
}

void carbon_sides(const CarbonQuestion *q, double requests, CarbonCase which, double *ret_ssd_kg,
		  double *ret_hdd_kg)
{
	double g_kwh = case_g_kwh(q, which);

	*ret_ssd_kg = embodied_kg(q, &q->ssd, 1, -which) +
		      carbon_use_kg(requests * band_end(&q->ssd.request_j, -which), g_kwh);
	*ret_hdd_kg = embodied_kg(q, &q->hdd, q->disks, which) +
		      carbon_use_kg(requests * band_end(&q->hdd.request_j, which), g_kwh);
}
