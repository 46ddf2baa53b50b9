/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/means.h"

#include <errno.h>
#include <math.h>

int petri_means_new(const PetriNet *n, PetriMeans *ret)
{
	double *all = calloc(n->n_places + 2 * n->n_transitions + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	*ret = (PetriMeans){ all, all + n->n_places, all + n->n_places + n->n_transitions };
	return 0;
}

void petri_means_done(PetriMeans *m)
{
	free(m->tokens);
	*m = (PetriMeans){ 0 };
}

void petri_means_add(PetriMeans *m, const PetriNet *n, const uint16_t *marking, double weight)
{
	for (size_t i = 0; i < n->n_places; i++)
		m->tokens[i] += weight * marking[i];
	for (size_t i = 0; i < n->n_transitions; i++) {
		const PetriTransition *t = &n->transitions[i];
		double rate = t->priority ? NAN : petri_rate(n, t, marking);

		m->flow[i] += weight * rate;
		if (rate > 0)
			m->busy[i] += weight;
	}
}

void petri_means_divide(PetriMeans *m, const PetriNet *n, double weights)
{
	for (size_t i = 0; i < n->n_places + 2 * n->n_transitions; i++)
		m->tokens[i] /= weights;
}

int petri_means_of(const PetriNet *n, const PetriGraph *g, const double *shares, PetriMeans *ret)
{
	int r = petri_means_new(n, ret);

	for (size_t i = 0; r >= 0 && i < g->states.n; i++)
		if (shares[i] > 0)
			petri_means_add(ret, n, marking_at(&g->states, i), shares[i]);
	return r;
}
