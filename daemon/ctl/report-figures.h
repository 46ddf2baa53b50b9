/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What follows from the amounts of the ledger. Pure. A figure that is not known, or makes no sense,
 * is NAN.
 *
 * Energy of a request is that of Nibler and Ropars, "Carbon Footprint of Storage in Data Centers";
 * cost of a year is that of Mordvinova et al., "USB Flash Drives as an Energy Efficient Storage
 * Alternative"; what is said of usable capacity, bytes moved and IOs is that of Byrne, "Power and
 * carbon of disk storage". */

#include <stdbool.h>

#include "ledger/amounts.h"

/* What is taken instead of what was counted; NAN: nothing. */
typedef struct ReportTerms {
	double price_kwh, g_kwh;
	double usable_tb;
} ReportTerms;

typedef struct ReportEnergy {
	double joules, kwh;
	double idle_j, above_j;
	double cpu_j, memory_j;   /* NAN: no RAPL */
	double measured, error_j; /* the share that a sensor measured */
	double mean_w, highest_w, error_w;
} ReportEnergy;

typedef struct ReportWork {
	double read_bytes, written_bytes, ios;
	double mib_j, io_j;
	double requests;  /* of the application, else IOs */
	double request_j; /* of storage and, where known, CPU and memory */
	double busy_s;
} ReportWork;

typedef struct ReportMoney {
	double cost, price_kwh; /* the price that it comes to */
	double priced;          /* the share of the energy that had one */
	double year;            /* E * 24 * 365 * price, at the mean draw */
} ReportMoney;

typedef struct ReportCarbon {
	double kg, g_kwh; /* the intensity that it comes to */
	double weighed;   /* the share of the energy that had one */
	double marginal;  /* and of that, the share whose intensity was a marginal one */
	double kg_pb, kg_giga_io;
	double year_kg;
} ReportCarbon;

typedef struct ReportCapacity {
	double usable_tb;
	double kw_pb, above_w_tb, iops_tb;
	double kwh_tb, year_t_pb;
} ReportCapacity;

typedef struct ReportLimit {
	double limited_s, budget_w; /* of the time and on the mean */
	double above_s;
	double shortfall_j;
	double lost_bytes, lost; /* the share of what would have been moved */
	double unlimited_j, saved_j;
	double turning_j, sleep_saved_j;
} ReportLimit;

typedef struct ReportFigures {
	double span_s;
	ReportEnergy energy;
	ReportWork work;
	ReportMoney money;
	ReportCarbon carbon;
	ReportCapacity capacity;
	ReportLimit limit;
} ReportFigures;

/* Did an application count its requests? */
bool report_counts_requests(const Amounts *a);

/* Means are over span_s. Where several things were added up, nobody knows what they drew at most
 * together: highest_w is not known. */
void report_figures(const Amounts *a, double span_s, bool several, const ReportTerms *t,
		    ReportFigures *ret);
