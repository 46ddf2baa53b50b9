/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The figures of a report by name, for JSON and CSV alike. */

#include <math.h>

#include "ctl/report.h"

#define FIELD(json, csv, member)                                                                   \
	{                                                                                          \
		json, csv, offsetof(ReportFigures, member), false                                  \
	}
#define OF_NODE(json, csv, member)                                                                 \
	{                                                                                          \
		json, csv, offsetof(ReportFigures, member), true                                   \
	}

const ReportField report_fields[] = {
	FIELD("Energy", "energy_j", energy.joules),
	FIELD("KilowattHours", "energy_kwh", energy.kwh),
	FIELD("IdleEnergy", "idle_j", energy.idle_j),
	FIELD("AboveIdleEnergy", "above_idle_j", energy.above_j),
	FIELD("MeasuredShare", "measured_share", energy.measured),
	FIELD("ErrorEnergy", "error_j", energy.error_j),
	FIELD("MeanPower", "mean_w", energy.mean_w),
	FIELD("HighestPower", "highest_w", energy.highest_w),
	FIELD("BytesRead", "read_bytes", work.read_bytes),
	FIELD("BytesWritten", "written_bytes", work.written_bytes),
	FIELD("IOs", "ios", work.ios),
	FIELD("BusySeconds", "busy_s", work.busy_s),
	FIELD("MiBPerJoule", "mib_per_j", work.mib_j),
	FIELD("IOPerJoule", "io_per_j", work.io_j),
	OF_NODE("Requests", "requests", work.requests),
	OF_NODE("RequestEnergy", "request_j", work.request_j),
	OF_NODE("CPUEnergy", "cpu_j", energy.cpu_j),
	OF_NODE("MemoryEnergy", "memory_j", energy.memory_j),
	FIELD("Cost", "cost", money.cost),
	FIELD("PricePerKWh", "price_kwh", money.price_kwh),
	FIELD("PricedShare", "priced_share", money.priced),
	FIELD("CostPerYear", "cost_year", money.year),
	FIELD("KgCO2e", "co2e_kg", carbon.kg),
	FIELD("GramsPerKWh", "co2e_g_kwh", carbon.g_kwh),
	FIELD("WeighedShare", "weighed_share", carbon.weighed),
	FIELD("MarginalShare", "marginal_share", carbon.marginal),
	FIELD("KgCO2ePerYear", "co2e_kg_year", carbon.year_kg),
	FIELD("KgPerPB", "co2e_kg_pb", carbon.kg_pb),
	FIELD("KgPerGigaIO", "co2e_kg_giga_io", carbon.kg_giga_io),
	OF_NODE("UsableTB", "usable_tb", capacity.usable_tb),
	OF_NODE("KilowattPerPB", "kw_pb", capacity.kw_pb),
	OF_NODE("AboveIdleWattPerTB", "above_idle_w_tb", capacity.above_w_tb),
	OF_NODE("IOPSPerTB", "iops_tb", capacity.iops_tb),
	OF_NODE("KilowattHoursPerTB", "kwh_tb", capacity.kwh_tb),
	OF_NODE("TonnesPerPBYear", "co2e_t_pb_year", capacity.year_t_pb),
	FIELD("UnlimitedEnergy", "unlimited_j", limit.unlimited_j),
	FIELD("SavedByBudget", "saved_by_budget_j", limit.saved_j),
	FIELD("TurningEnergy", "turning_j", limit.turning_j),
	FIELD("SavedBySleep", "saved_by_sleep_j", limit.sleep_saved_j),
	FIELD("LostBytes", "lost_bytes", limit.lost_bytes),
	FIELD("LostShare", "lost_share", limit.lost),
	OF_NODE("LimitedSeconds", "limited_s", limit.limited_s),
	OF_NODE("BudgetPower", "budget_w", limit.budget_w),
	OF_NODE("AboveSeconds", "above_s", limit.above_s),
	OF_NODE("ShortfallEnergy", "shortfall_j", limit.shortfall_j),
	FIELD("CountedSeconds", "counted_s", span_s),
	{},
};

double report_field(const ReportField *f, const ReportFigures *of)
{
	return *(const double *)((const char *)of + f->offset);
}

const char *report_by_name(ReportBy by)
{
	static const char *const names[] = {
		[BY_DEVICE] = "device", [BY_POOL] = "pool",  [BY_GROUP] = "group",
		[BY_CGROUP] = "cgroup", [BY_NODE] = "node",  [BY_DAY] = "day",
		[BY_HOUR] = "hour",     [BY_CLAIM] = "claim"
	};

	return names[by];
}
