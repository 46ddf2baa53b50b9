/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A net solved for a test: its means, and an assertion of how near a figure is. */

#include <math.h>

#include "petri/means.h"
#include "petri/steady.h"

static inline PetriMeans solved(const PetriNet *n, size_t max_states, size_t *ret_states)
{
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	_cleanup_free_ double *shares = NULL;
	PetriMeans means;

	assert_int_equal(petri_explore(n, NULL, max_states, &g), 0);
	assert_int_equal(petri_steady(&g, &shares), 0);
	assert_int_equal(petri_means_of(n, &g, shares, &means), 0);
	if (ret_states)
		*ret_states = g.states.n;
	return means;
}

/* Machine repair: so many machines fail, each at that rate, and one man repairs them. Place 0 holds
 * those that run and place 1 those that do not; transition 1 is a repair. */
static inline PetriNet repair_net(unsigned machines, double failing, double repairing)
{
	PetriNet n = { 0 };
	unsigned up = petri_place(&n, machines), down = petri_place(&n, 0);

	petri_timed(&n, failing, PETRI_INFINITE);
	petri_input(&n, up, 1);
	petri_output(&n, down, 1);
	petri_timed(&n, repairing, 1);
	petri_input(&n, down, 1);
	petri_output(&n, up, 1);
	return n;
}

static inline void assert_near(double found, double expected, double relative)
{
	if (!(fabs(found - expected) <= relative * fabs(expected)))
		fail_msg("%.15g is not %.15g within %g of it", found, expected, relative);
}
