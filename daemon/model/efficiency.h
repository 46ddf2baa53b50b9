/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What storage gives for a joule, and what its watts cost in money and carbon. Pure.
 *
 * Performance per joule is that of Mordvinova, Kunkel, Baun, Ludwig and Kunze, "USB Flash Drives as
 * an Energy Efficient Storage Alternative"; what is said of usable capacity, of bytes moved and of
 * IOs is that of Byrne, "Power and carbon of disk storage". All functions return NAN for figures
 * that make no sense: no watts, no rate, no capacity. */

#include "model/predict.h"

/* How capacity is kept safe, and how full it may get: 8+3 and 80 % in Byrne. */
typedef struct Protection {
	unsigned data, parity;
	double fill; /* above 0, at most 1 */
} Protection;

/* T / E, the form for disks: MB/s for W give MB/J, IO/s for W give IO/J. */
double efficiency_per_joule(double rate, double watts);

/* (T_R + T_W) / 2 / E, the form for SSDs, which are told one power only. */
double efficiency_mean_per_joule(double read_rate, double write_rate, double watts);

/* (T_R + T_W) / (E_R + E_W), the form for flash drives, as the study's table has it (its text
 * prints the mean of the quotients instead). With equal powers it is the form for SSDs. */
double efficiency_both_per_joule(double read_rate, double write_rate, double read_w,
				 double write_w);

/* E * 24 * 365 * price, in the currency of the price of a kWh. */
double efficiency_year_cost(double watts, double price_kwh);

/* kg of CO2e a year of 365 days; g_kwh is the carbon intensity. */
double efficiency_year_kg(double watts, double g_kwh);

/* Bytes, or whatever unit the raw capacity has, that may be used:
 * raw * data / (data + parity) * fill. */
double efficiency_usable(double raw, const Protection *p);

/* Tonnes of CO2e a year for each usable PB; kW/PB are W/TB. */
double efficiency_year_t_per_pb(double watts, double usable_tb, double g_kwh);

/* kg of CO2e for each PB that is moved, and for 10^9 IOs. */
double efficiency_kg_per_pb(double mb_s, double watts, double g_kwh);
double efficiency_kg_per_giga_io(double iops, double watts, double g_kwh);

/* A device that serves all it can of a workload, as found. */
typedef struct Efficiency {
	double mb_s, iops, watts;
	double mb_j, io_j;
	double error; /* of the watts, relative */
	bool estimated;
} Efficiency;

void efficiency_predict(const Profile *p, const Mix *mix, Efficiency *ret);
