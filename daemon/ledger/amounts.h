/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the ledger counts, of one thing in one span of time. These are whole numbers, so that sums
 * are the same in whatever order and by whatever grouping they are formed. Pure. */

#include <stdbool.h>
#include <stdint.h>

/* One microjoule, byte, ... each; µg of CO2e, and billionths of the currency. */
typedef enum Amount {
	AMOUNT_SPAN_US,     /* the time that was counted */
	AMOUNT_ENERGY_UJ,   /* drawn in it */
	AMOUNT_IDLE_UJ,     /* of that, what would have been drawn without any IO */
	AMOUNT_MEASURED_UJ, /* of that, what a sensor measured; the rest is modelled */
	AMOUNT_ERROR_UJ,    /* it may be so much more or less */
	AMOUNT_HIGHEST_MW,  /* the highest mean of a look, about a second; sums take the highest */
	AMOUNT_READ_BYTES,
	AMOUNT_WRITTEN_BYTES,
	AMOUNT_READS,
	AMOUNT_WRITES,
	AMOUNT_BUSY_US,      /* IO was under way */
	AMOUNT_LOST_BYTES,   /* would have been moved without the limit */
	AMOUNT_UNLIMITED_UJ, /* would have been drawn without the limit */
	AMOUNT_TURNING_UJ,   /* would have been drawn had no disk ever slept */
	AMOUNT_PRICED_UJ,    /* of the energy, what had a price */
	AMOUNT_COST_NANO,    /* that price */
	AMOUNT_WEIGHED_UJ,   /* of the energy, what had a carbon intensity */
	AMOUNT_MARGINAL_UJ,  /* of that, what had a marginal one; the rest had an average */
	AMOUNT_CO2_UG,       /* caused by what was weighed */
	/* of the node alone */
	AMOUNT_LIMITED_US,   /* a limit was in force */
	AMOUNT_BUDGET_UJ,    /* which allowed so much */
	AMOUNT_ABOVE_US,     /* it was exceeded, by more than a power sensor may be off (2 %) */
	AMOUNT_SHORTFALL_UJ, /* it was below what the devices can be brought down to, by so much */
	AMOUNT_REQUESTS,     /* of an application, as it counted them */
	AMOUNT_CPU_UJ,       /* of the CPU's packages, by RAPL */
	AMOUNT_MEMORY_UJ,    /* of the memory, likewise */
	_AMOUNT_MAX,
} Amount;

typedef struct Amounts {
	int64_t of[_AMOUNT_MAX];
} Amounts;

/* The column of the file: "energy_uj". */
const char *amount_column(Amount a);
/* Does a sum of it take the highest? */
bool amount_is_highest(Amount a);
/* Adds up what was counted of two spans, or of two things in one span where the caller corrects
 * AMOUNT_SPAN_US. What would be too large stays at the largest. */
void amounts_add(Amounts *to, const Amounts *more);
