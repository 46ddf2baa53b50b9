/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When an SSD has made up for the carbon of its making against disks that serve the same requests:
 * Nibler and Ropars, "Carbon Footprint of Storage in Data Centers", equations 1 to 3. Pure. */

/* A quantity that is known within bounds. 0 <= low <= mean <= high. */
typedef struct Band {
	double low, mean, high;
} Band;

/* kg of CO2e for each GB of capacity, as the study collected them. */
#define CARBON_SSD_KG_GB ((Band){ 0.033, 0.16, 0.34 })
#define CARBON_HDD_KG_GB ((Band){ 0.005, 0.02, 0.06 })

/* Which end of every band is taken. */
typedef enum CarbonCase {
	CARBON_WORST = -1, /* the one that favours the disks */
	CARBON_MEAN = 0,
	CARBON_BEST = 1, /* the one that favours the SSD */
} CarbonCase;

typedef struct CarbonSide {
	Band request_j;      /* energy of one request, of all devices of this side together */
	Band embodied_kg_gb; /* CO2e of the making */
} CarbonSide;

/* One SSD against `disks` disks, each of size_gb. */
typedef struct CarbonQuestion {
	CarbonSide ssd, hdd;
	double size_gb;
	unsigned disks;
	Band g_kwh; /* carbon intensity of the electricity, g of CO2e */
} CarbonQuestion;

typedef enum CarbonVerdict {
	CARBON_AFTER,  /* the SSD is ahead beyond this figure */
	CARBON_ALWAYS, /* it is ahead from the start, and stays so: the figure is 0 */
	CARBON_NEVER,  /* it is never ahead: the figure is INFINITY */
	CARBON_UNTIL,  /* it is ahead up to this figure: it is made with less, and uses more */
} CarbonVerdict;

/* Where both sides have caused as much carbon. */
typedef struct CarbonCrossing {
	CarbonVerdict verdict;
	double at;
} CarbonCrossing;

typedef struct CarbonCrossings {
	CarbonCrossing best, mean, worst;
} CarbonCrossings;

const char *carbon_verdict_name(CarbonVerdict v); /* "after", "always", "never", "until" */

/* Equation 3: how many disks serve as many requests, ceil(rate / (hdd_rate * scaling)), at least
 * one. Rates are requests a second; scaling is what a disk among many serves of what it serves
 * alone, above 0 and at most 1. -EINVAL, or -ERANGE for more than a million disks. */
int carbon_disks(double rate, double hdd_rate, double scaling, unsigned *ret);

/* Equations 1 and 2 solved for the number of requests. -EINVAL: a band is none, or there is no
 * size or no disk. */
int carbon_requests(const CarbonQuestion *q, CarbonCrossings *ret);

/* The same solved for the carbon intensity, in g/kWh, at which so many requests are the break-even;
 * that of the question is not used. Also -EINVAL where there is no request. */
int carbon_intensity(const CarbonQuestion *q, double requests, CarbonCrossings *ret);

/* What each side has caused after so many requests, its making included, in kg of CO2e: the two
 * sides of equation 2. The question must be one that carbon_requests() takes. */
void carbon_sides(const CarbonQuestion *q, double requests, CarbonCase which, double *ret_ssd_kg,
		  double *ret_hdd_kg);

/* kg of CO2e of so many joules. */
double carbon_use_kg(double joules, double g_kwh);
