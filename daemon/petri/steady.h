/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The long run of a Markov chain: the share of time that it spends in each state. */

#include "petri/graph.h"

/* One share per state; those that are left for good have 0. The error of the whole is estimated
 * from how fast the sweeps converge and brought below 1e-12; what flows in and out of the states
 * agrees to 1e-9. Free with free().
 *
 * Fails with -ENOTUNIQ (there are several sets of states that are never left: chance decides),
 * -ETIME (too slow to converge) and -ENOMEM. */
int petri_steady(const PetriGraph *g, double **ret_shares);
