/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a kWh costs, in money and in CO2e: as configured, as a file tells over time, or as a service
 * feeds it. */

#include "control/control.h"
#include "ledger/intensity.h"

/* Of one moment. */
typedef struct Rate {
	double price_kwh; /* in the configured currency; NAN: unknown */
	double g_kwh;     /* g of CO2e; NAN: unknown */
	bool marginal;    /* of the plant that one kWh more would start; else the grid's mean */
} Rate;

typedef struct Tariff {
	Intensity series;    /* of the file */
	Rate fed;            /* by a service; it comes first */
	int64_t fed_until_s; /* wall clock; 0: nothing is fed */
} Tariff;

/* The wall clock says time_s. */
Rate tariff_at(const Tariff *t, const TariffConfig *config, int64_t time_s);
/* What a service feeds holds until then. A figure that is NAN is not fed. */
void tariff_feed(Tariff *t, const Rate *fed, int64_t until_s);
/* The file's new content, which is the tariff's from now on. */
void tariff_take_series(Tariff *t, Intensity *series);
void tariff_done(Tariff *t);
