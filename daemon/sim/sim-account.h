/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What becomes of a device's workload. No clock, no locks. */

#include "sim/sim-truth.h"

bool sim_account_valid(const SimAccount *a);
/* The workload asks for so much; INFINITY asks for what it gets. */
void sim_account_ask(const Mix *mix, double demand_mb_s, SimRates *rates);
/* These IOs come back with an error. */
void sim_account_fail(const SimStream *direct, SimRates *rates);
/* The device is ready for those that waited, if any did. */
void sim_account_waited(SimTruth *t);
/* Seconds pass at these rates. */
void sim_account_pass(SimAccount *a, const SimRates *rates, double s);
