/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Accounts for what becomes of a device's workload. It has no clock and no locks. */

#include "sim/sim-truth.h"

bool sim_account_valid(const SimAccount *a);
/* The workload asks for so much; INFINITY asks for what it gets. */
void sim_account_ask(const Mix *mix, double demand_mb_s, SimRates *rates);
/* Counts these IOs as failed ones. */
void sim_account_fail(const SimStream *direct, SimRates *rates);
/* The device is ready: counts the reads that waited for it, if any did. */
void sim_account_waited(SimTruth *t);
/* Seconds pass at these rates. */
void sim_account_pass(SimAccount *a, const SimRates *rates, double s);
