/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a setting costs and gives under a workload. Pure. */

#include "model/learned.h"

/* The shape of a device's IO. */
typedef struct Mix {
	double read_share;   /* of IOs, 0..1 */
	double random_share; /* of IOs, 0..1 */
	double read_kib;     /* mean size of a read; meaningless when read_share is 0 */
	double write_kib;
	double depth; /* IOs the workload would keep outstanding if not held back */
	/* What the device was found to serve of it; NULL: it is taken to serve what its profile
	 * says. Not owned. */
	const Learned *learned;
	/* The part of its pace that it leaves while it waits for it, 0..1: who has few IOs out at a
	 * time has none for one member of a stripe while others hold all of them. */
	double pace_left;
} Mix;

/* A device that nobody has seen working is assumed to do 70:30 random 16 KiB at depth 32. */
#define MIX_UNKNOWN                                                                                \
	((Mix){ .read_share = 0.7,                                                                 \
		.random_share = 1,                                                                 \
		.read_kib = 16,                                                                    \
		.write_kib = 16,                                                                   \
		.depth = 32 })

typedef struct Prediction {
	double watts; /* expected draw when the workload saturates the setting */
	double mb_s;  /* 10^6 bytes a second */
	double iops;
	double p99_us;
	double depth;   /* IOs outstanding at the device; 0: it sleeps */
	double error;   /* relative error of the watts */
	double learned; /* the factor of what was learned that is in it; 1: nothing was */
	bool estimated;
} Prediction;

/* Expected power and throughput of a saturating workload of this mix, corrected by what was
 * learned. A device that serves less draws less above idle. Mixes are the time-weighted mean of
 * their pure parts, corrected as far as mixes were measured near by, with the error widened where
 * none was: a mix cannot be interpolated from pure runs (27 % and 19 % off at 256 KiB in Nibler and
 * Ropars). */
void predict(const Profile *p, const Mix *mix, const Setting *s, Prediction *ret);

/* The same while the workload asks for only demand_mb_s: watts between idle and saturated. */
void predict_demand(const Profile *p, const Mix *mix, const Setting *s, double demand_mb_s,
		    Prediction *ret);

/* The most that the device can draw in this setting, whatever the workload does: the least of what
 * each mechanism allows, errors added, never above the rated power. With SETTING_AS_FOUND: the
 * rated power. This is what a budget is spent on. */
double cap_watts(const Profile *p, const Setting *s);

/* What the device draws at most in operation: the highest watts that the profile predicts of any
 * workload when nothing is set, its error not included, never above the rated power. The rated
 * power where nobody has measured the device: a generic profile's points are shares of it. */
double profile_operating_w(const Profile *p);

/* How long a disk must stay in the condition until that has saved the energy of going there and
 * coming back: T = (E_down + E_up - P_c (t_down + t_up)) / (P_idle - P_c), and never less than the
 * way itself. INFINITY where it saves nothing or the profile does not know it. */
double condition_break_even_s(const Profile *p, Condition c);

/* Joules above idle of one mean IO of the mix, and of a byte of it. */
double mix_io_joules(const Profile *p, const Mix *mix);
/* What pacing charges for the same: io.cost has one price of a page per direction, and it is the
 * dearer pattern's, so that no mix is sold below its energy (block/blk-iocost.c, calc_lcoefs()). */
double mix_price_joules(const Profile *p, const Mix *mix);
double pacing_page_joules(const Profile *p, Direction d);
double mix_mean_kib(const Mix *mix);
double mix_largest_kib(const Mix *mix);
