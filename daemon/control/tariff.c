/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/tariff.h"

#include <math.h>

Rate tariff_at(const Tariff *t, const TariffConfig *config, int64_t time_s)
{
	Rate now = { config->price_kwh, config->g_kwh, config->marginal };
	double told = intensity_at(&t->series, time_s);

	if (!isnan(told))
		now.g_kwh = told;
	if (time_s >= t->fed_until_s)
		return now;
	if (!isnan(t->fed.g_kwh)) {
		now.g_kwh = t->fed.g_kwh;
		now.marginal = t->fed.marginal;
	}
	if (!isnan(t->fed.price_kwh))
		now.price_kwh = t->fed.price_kwh;
	return now;
}

void tariff_feed(Tariff *t, const Rate *fed, int64_t until_s)
{
	t->fed = *fed;
	t->fed_until_s = until_s;
}

void tariff_take_series(Tariff *t, Intensity *series)
{
	intensity_done(&t->series);
	t->series = *series;
	*series = (Intensity){};
}

void tariff_done(Tariff *t)
{
	intensity_done(&t->series);
}
