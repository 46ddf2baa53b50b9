/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl carbon, efficiency and report: what they share. */

#include "ctl/ctl-model.h"
#include "model/carbon.h"
#include "model/efficiency.h"

#define SECONDS_PER_YEAR (365 * 86400.0) /* as the studies count */

/* carbon-options.c */
bool carbon_given(const Ctl *c, CarbonOption o);
/* In J, kg/GB, GB, requests a second, years, g/kWh or the price of a kWh; what is usual where it
 * was not given, and NAN where nothing is. STATUS_USAGE, complained of, where the text is none. */
int carbon_band(const Ctl *c, CarbonOption o, Band *ret);
int carbon_number(const Ctl *c, CarbonOption o, double *ret);
/* One intensity, for what has no bands. */
int carbon_intensity_alone(const Ctl *c, double *ret_g_kwh);
/* "8+3" */
int parse_protection(const char *text, Protection *ret);
/* --protection and --fill; all of the capacity where neither was given. */
int carbon_protection(const Ctl *c, Protection *ret);

/* carbon-ledger.c: J of an IO of the device, idling included, over all that the ledger holds, and
 * by its error less and more. Returns an exit status. */
int carbon_ledger_energy(Ctl *c, const char *device, Band *ret);

/* What "carbon" was told, and what follows from it. */
typedef struct Inquiry {
	CarbonQuestion question;
	const char *ssd, *hdd;          /* profiles; NULL: none */
	double rate, hdd_rate;          /* requests a second; NAN: not known */
	double scaling, life_y;         /* likewise */
	CarbonCrossings requests;       /* to break even */
	CarbonCrossings seconds, g_kwh; /* NAN where the rate is not known */
} Inquiry;

/* carbon-profile.c: the number of disks, and of --ssd and --hdd under --workload the rates and
 * energies that were not told. */
int carbon_complete(Ctl *c, Inquiry *q);

/* carbon-json.c */
json_object *carbon_json(const Inquiry *q);
/* kg of CO2e of the SSD, and of the disks, in the whole life; NAN where the rate is not known. */
void carbon_of_life(const Inquiry *q, CarbonCase which, double ret_kg[2]);

/* carbon-print.c */
void carbon_print(const Ctl *c, const Inquiry *q);
