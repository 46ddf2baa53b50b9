/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger/amounts.h"

#include "base/cleanup.h"

static const char *const columns[_AMOUNT_MAX] = {
	[AMOUNT_SPAN_US] = "span_us",
	[AMOUNT_ENERGY_UJ] = "energy_uj",
	[AMOUNT_IDLE_UJ] = "idle_uj",
	[AMOUNT_MEASURED_UJ] = "measured_uj",
	[AMOUNT_ERROR_UJ] = "error_uj",
	[AMOUNT_HIGHEST_MW] = "highest_mw",
	[AMOUNT_READ_BYTES] = "read_bytes",
	[AMOUNT_WRITTEN_BYTES] = "written_bytes",
	[AMOUNT_READS] = "reads",
	[AMOUNT_WRITES] = "writes",
	[AMOUNT_BUSY_US] = "busy_us",
	[AMOUNT_LOST_BYTES] = "lost_bytes",
	[AMOUNT_UNLIMITED_UJ] = "unlimited_uj",
	[AMOUNT_TURNING_UJ] = "turning_uj",
	[AMOUNT_PRICED_UJ] = "priced_uj",
	[AMOUNT_COST_NANO] = "cost_nano",
	[AMOUNT_WEIGHED_UJ] = "weighed_uj",
	[AMOUNT_MARGINAL_UJ] = "marginal_uj",
	[AMOUNT_CO2_UG] = "co2_ug",
	[AMOUNT_LIMITED_US] = "limited_us",
	[AMOUNT_BUDGET_UJ] = "budget_uj",
	[AMOUNT_ABOVE_US] = "above_us",
	[AMOUNT_SHORTFALL_UJ] = "shortfall_uj",
	[AMOUNT_REQUESTS] = "requests",
	[AMOUNT_CPU_UJ] = "cpu_uj",
	[AMOUNT_MEMORY_UJ] = "memory_uj",
};

const char *amount_column(Amount a)
{
	return columns[a];
}

bool amount_is_highest(Amount a)
{
	return a == AMOUNT_HIGHEST_MW;
}

void amounts_add(Amounts *to, const Amounts *more)
{
	for (Amount a = 0; a < _AMOUNT_MAX; a++) {
		int64_t *sum = &to->of[a];

		if (amount_is_highest(a))
			*sum = MAX(*sum, more->of[a]);
		else if (__builtin_add_overflow(*sum, more->of[a], sum))
			*sum = more->of[a] < 0 ? INT64_MIN : INT64_MAX;
	}
}
