/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/efficiency.h"

#include <math.h>

#include "model/carbon.h"

#define SECONDS_PER_YEAR (HOURS_PER_YEAR * 3600.0)
#define HOURS_PER_YEAR   (24 * 365)
#define W_PER_KW         1e3
#define MB_PER_PB        1e9
#define KG_PER_T         1e3

/* NAN instead of an infinity, or of what is below zero. */
static double quotient(double a, double b)
{
	return a >= 0 && b > 0 && isfinite(a) && isfinite(b) ? a / b : NAN;
}

double efficiency_per_joule(double rate, double watts)
{
	return quotient(rate, watts);
}

double efficiency_mean_per_joule(double read_rate, double write_rate, double watts)
{
	return quotient((read_rate + write_rate) / 2, watts);
}

double efficiency_both_per_joule(double read_rate, double write_rate, double read_w, double write_w)
{
	return quotient(read_rate + write_rate, read_w + write_w);
}

double efficiency_year_cost(double watts, double price_kwh)
{
	return watts >= 0 && price_kwh >= 0 ? watts / W_PER_KW * HOURS_PER_YEAR * price_kwh : NAN;
}

double efficiency_year_kg(double watts, double g_kwh)
{
	return watts >= 0 && g_kwh >= 0 ? carbon_use_kg(watts * SECONDS_PER_YEAR, g_kwh) : NAN;
}

double efficiency_usable(double raw, const Protection *p)
{
	if (!(raw > 0) || p->data == 0 || !(p->fill > 0) || p->fill > 1)
		return NAN;
	return raw * p->data / ((double)p->data + p->parity) * p->fill;
}

double efficiency_year_t_per_pb(double watts, double usable_tb, double g_kwh)
{
	return quotient(efficiency_year_kg(watts, g_kwh) / KG_PER_T, usable_tb / 1e3);
}

double efficiency_kg_per_pb(double mb_s, double watts, double g_kwh)
{
	return g_kwh >= 0 ? carbon_use_kg(MB_PER_PB * quotient(watts, mb_s), g_kwh) : NAN;
}

double efficiency_kg_per_giga_io(double iops, double watts, double g_kwh)
{
	return g_kwh >= 0 ? carbon_use_kg(1e9 * quotient(watts, iops), g_kwh) : NAN;
}

void efficiency_predict(const Profile *p, const Mix *mix, Efficiency *ret)
{
	Prediction at;

	predict(p, mix, &SETTING_AS_FOUND, &at);
	*ret = (Efficiency){ .mb_s = at.mb_s,
			     .iops = at.iops,
			     .watts = at.watts,
			     .mb_j = efficiency_per_joule(at.mb_s, at.watts),
			     .io_j = efficiency_per_joule(at.iops, at.watts),
			     .error = at.error,
			     .estimated = at.estimated };
}
