/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/report-figures.h"

#include <math.h>

#include "model/carbon.h"
#include "model/efficiency.h"

#define J_PER_KWH 3.6e6
#define G_PER_KG  1e3
#define MIB       0x1p20

static double micro(const Amounts *a, Amount which)
{
	return (double)a->of[which] / 1e6;
}

static double counted(const Amounts *a, Amount which)
{
	return (double)a->of[which];
}

static double quotient(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/* What nobody counted is not known to be none. */
static double known(double v)
{
	return v > 0 ? v : NAN;
}

static ReportEnergy energy_of(const Amounts *a, double span_s, bool several)
{
	const double j = micro(a, AMOUNT_ENERGY_UJ);

	return (ReportEnergy){ .joules = j,
			       .kwh = j / J_PER_KWH,
			       .idle_j = micro(a, AMOUNT_IDLE_UJ),
			       .above_j = j - micro(a, AMOUNT_IDLE_UJ),
			       .cpu_j = known(micro(a, AMOUNT_CPU_UJ)),
			       .memory_j = known(micro(a, AMOUNT_MEMORY_UJ)),
			       .measured = quotient(micro(a, AMOUNT_MEASURED_UJ), j),
			       .error_j = micro(a, AMOUNT_ERROR_UJ),
			       .mean_w = quotient(j, span_s),
			       .highest_w =
				       several ? NAN : known(counted(a, AMOUNT_HIGHEST_MW) / 1e3),
			       .error_w = quotient(micro(a, AMOUNT_ERROR_UJ), span_s) };
}

bool report_counts_requests(const Amounts *a)
{
	return a->of[AMOUNT_REQUESTS] > 0;
}

static ReportWork work_of(const Amounts *a)
{
	const double j = micro(a, AMOUNT_ENERGY_UJ);
	const double bytes = counted(a, AMOUNT_READ_BYTES) + counted(a, AMOUNT_WRITTEN_BYTES);
	const double ios = counted(a, AMOUNT_READS) + counted(a, AMOUNT_WRITES);
	const double requests = report_counts_requests(a) ? counted(a, AMOUNT_REQUESTS) : ios;
	const double whole_j = j + micro(a, AMOUNT_CPU_UJ) + micro(a, AMOUNT_MEMORY_UJ);

	return (ReportWork){ .read_bytes = counted(a, AMOUNT_READ_BYTES),
			     .written_bytes = counted(a, AMOUNT_WRITTEN_BYTES),
			     .ios = ios,
			     .mib_j = bytes > 0 ? quotient(bytes / MIB, j) : NAN,
			     .io_j = ios > 0 ? quotient(ios, j) : NAN,
			     .requests = requests,
			     .request_j = quotient(whole_j, requests),
			     .busy_s = micro(a, AMOUNT_BUSY_US) };
}

static ReportMoney money_of(const Amounts *a, double mean_w, double price_kwh)
{
	const double kwh = micro(a, AMOUNT_ENERGY_UJ) / J_PER_KWH;
	const double priced_kwh = micro(a, AMOUNT_PRICED_UJ) / J_PER_KWH;
	const double nano = counted(a, AMOUNT_COST_NANO);
	ReportMoney m = { .cost = kwh * price_kwh, .price_kwh = price_kwh, .priced = 1 };

	if (isnan(price_kwh))
		m = (ReportMoney){ .cost = priced_kwh > 0 ? nano / 1e9 : NAN,
				   .price_kwh = quotient(nano / 1e9, priced_kwh),
				   .priced = quotient(priced_kwh, kwh) };
	m.year = efficiency_year_cost(mean_w, m.price_kwh);
	return m;
}

static ReportCarbon carbon_of(const Amounts *a, double span_s, double g_kwh)
{
	const double j = micro(a, AMOUNT_ENERGY_UJ), weighed_j = micro(a, AMOUNT_WEIGHED_UJ);
	const double mean_w = quotient(j, span_s), kg = counted(a, AMOUNT_CO2_UG) / 1e9;
	const double mb = (counted(a, AMOUNT_READ_BYTES) + counted(a, AMOUNT_WRITTEN_BYTES)) / 1e6;
	const double ios = counted(a, AMOUNT_READS) + counted(a, AMOUNT_WRITES);
	ReportCarbon c = {
		.kg = carbon_use_kg(j, g_kwh), .g_kwh = g_kwh, .weighed = 1, .marginal = NAN
	};

	if (isnan(g_kwh))
		c = (ReportCarbon){
			.kg = weighed_j > 0 ? kg : NAN,
			.g_kwh = quotient(kg * G_PER_KG, weighed_j / J_PER_KWH),
			.weighed = quotient(weighed_j, j),
			.marginal = quotient(micro(a, AMOUNT_MARGINAL_UJ), weighed_j),
		};
	c.kg_pb = efficiency_kg_per_pb(quotient(mb, span_s), mean_w, c.g_kwh);
	c.kg_giga_io = efficiency_kg_per_giga_io(quotient(ios, span_s), mean_w, c.g_kwh);
	c.year_kg = efficiency_year_kg(mean_w, c.g_kwh);
	return c;
}

static ReportCapacity capacity_of(const ReportFigures *f, double tb)
{
	return (ReportCapacity){
		.usable_tb = tb,
		.kw_pb = efficiency_per_joule(f->energy.mean_w, tb),
		.above_w_tb = quotient(quotient(f->energy.above_j, f->span_s), tb),
		.iops_tb = quotient(quotient(f->work.ios, f->span_s), tb),
		.kwh_tb = quotient(f->energy.kwh, tb),
		.year_t_pb = efficiency_year_t_per_pb(f->energy.mean_w, tb, f->carbon.g_kwh),
	};
}

static ReportLimit limit_of(const Amounts *a)
{
	const double j = micro(a, AMOUNT_ENERGY_UJ), limited_s = micro(a, AMOUNT_LIMITED_US);
	const double lost = counted(a, AMOUNT_LOST_BYTES);
	const double moved = counted(a, AMOUNT_READ_BYTES) + counted(a, AMOUNT_WRITTEN_BYTES);
	ReportLimit l = { .limited_s = limited_s,
			  .budget_w = quotient(micro(a, AMOUNT_BUDGET_UJ), limited_s),
			  .above_s = micro(a, AMOUNT_ABOVE_US),
			  .shortfall_j = micro(a, AMOUNT_SHORTFALL_UJ),
			  .lost_bytes = lost,
			  .lost = quotient(lost, moved + lost),
			  .unlimited_j = known(micro(a, AMOUNT_UNLIMITED_UJ)),
			  .turning_j = known(micro(a, AMOUNT_TURNING_UJ)) };

	l.saved_j = l.unlimited_j - j;
	l.sleep_saved_j = l.turning_j - j;
	return l;
}

void report_figures(const Amounts *a, double span_s, bool several, const ReportTerms *t,
		    ReportFigures *ret)
{
	ReportFigures f = { .span_s = span_s };

	f.energy = energy_of(a, span_s, several);
	f.work = work_of(a);
	f.money = money_of(a, f.energy.mean_w, t->price_kwh);
	f.carbon = carbon_of(a, span_s, t->g_kwh);
	f.capacity = capacity_of(&f, t->usable_tb);
	f.limit = limit_of(a);
	*ret = f;
}
