/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/drift-report.h"

#include <errno.h>
#include <math.h>

#include "control/control-state.h"
#include "control/drift-fit.h"
#include "control/trust.h"

#define WIDEST 0.25 /* of the value: a wider interval says nothing */

/* The fit behind one sensor: of all energies, and of one factor for each family. */
typedef struct Fitted {
	const DriftOf *of;
	FitResult energies, factors;
	const char *why_not;
} Fitted;

static double energy_of(const Profile *p, Direction d, Pattern t, bool page)
{
	return page ? p->energy[d][t].page_j : p->energy[d][t].io_j;
}

/* One factor on all energies of a family is told where the single ones are not. */
static int solve_factors(const DriftOf *of, FitResult *ret)
{
	size_t into[FIT_UNKNOWNS_MAX] = {};
	double part[FIT_UNKNOWNS_MAX] = { 1 };
	FitSums joined;

	for (size_t f = 0; f < of->n; f++)
		for (Direction d = 0; d < _DIRECTION_MAX; d++)
			for (Pattern t = 0; t < _PATTERN_MAX; t++)
				for (int page = 0; page < 2; page++) {
					size_t i = drift_unknown(f, d, t, page);

					into[i] = 1 + f;
					part[i] = energy_of(of->family[f], d, t, page);
				}
	fit_join(&of->sums, into, part, 1 + of->n, &joined);
	return fit_solve(&joined, ret);
}

static void fit(const DriftOf *of, Fitted *ret)
{
	*ret = (Fitted){ .of = of, .why_not = "" };
	if (of->too_many)
		ret->why_not = "the sensor measures devices of too many profiles";
	else if (of->sums.observations < DRIFT_OBSERVATIONS_LEAST ||
		 solve_factors(of, &ret->factors) < 0 || fit_solve(&of->sums, &ret->energies) < 0)
		ret->why_not = "there are too few observations";
	else
		ret->why_not = drift_why_nothing(&ret->factors);
}

/* Unknown i, of which the profile's value is times `unit`. The sensor's scale may be off by as much
 * as the watts without IO are. */
static DriftFigure figure(const FitResult *r, size_t i, double profile, double unit)
{
	DriftFigure f = { .profile = profile, .fitted = NAN, .error = NAN };
	double value = r->value[i] * unit, error;

	if (i >= r->n || !r->determined[i] || r->own[i] < DRIFT_OWN_LEAST || !drift_idle_agrees(r))
		return f;
	error = DRIFT_DEVIATIONS * r->sd[i] * unit + (SENSOR_ERROR + fabs(r->value[0] - 1)) * value;
	if (!(error <= WIDEST * MAX(value, profile)))
		return f;
	f.fitted = value;
	f.error = error;
	f.determined = true;
	return f;
}

static const char *const energy_names[_DIRECTION_MAX][_PATTERN_MAX][2] = {
	[READ_IO] = { [RANDOM_IO] = { "random-read-io", "random-read-page" },
		      [SEQUENTIAL_IO] = { "sequential-read-io", "sequential-read-page" } },
	[WRITE_IO] = { [RANDOM_IO] = { "random-write-io", "random-write-page" },
		       [SEQUENTIAL_IO] = { "sequential-write-io", "sequential-write-page" } },
};

static void add_figure(DriftState *s, size_t *n, const char *name, DriftFigure f)
{
	f.name = name;
	s->figures[(*n)++] = f;
}

static void fill_figures(const Fitted *fitted, size_t family, double idle_w, DriftState *ret)
{
	static const FitResult nothing;
	const FitResult *factors = *fitted->why_not ? &nothing : &fitted->factors;
	const FitResult *energies = *fitted->why_not ? &nothing : &fitted->energies;
	const Profile *p = fitted->of->family[family];
	size_t n = 0;

	add_figure(ret, &n, "all-io", figure(factors, 1 + family, 1, 1));
	add_figure(ret, &n, "idle", figure(factors, 0, idle_w, idle_w));
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			for (int page = 0; page < 2; page++)
				add_figure(ret, &n, energy_names[d][t][page],
					   figure(energies, drift_unknown(family, d, t, page),
						  energy_of(p, d, t, page), 1));
}

/* False: no device of the family is there any more. */
static bool fill(const Fitted *fitted, size_t family, const Gauge *s, const Fleet *f,
		 DriftState *ret)
{
	const Profile *p = fitted->of->family[family];
	double idle_w = 0;

	*ret = (DriftState){ .sensor = s->config->name,
			     .observations = fitted->of->sums.observations,
			     .why_not = fitted->why_not };
	for_each_device(const Managed, md, f) if (md->device->profile == p && gauge_covers(s, md))
	{
		ret->n_devices++;
		idle_w += md->trust.fixed_w;
	}
	if (!ret->n_devices)
		return false;
	ret->profile = p->name;
	ret->profile_error = p->energy_error;
	fill_figures(fitted, family, idle_w, ret);
	return true;
}

int control_drift(const Control *c, DriftState **ret, size_t *ret_n)
{
	const Gauges *g = &c->gauges;
	_cleanup_free_ Fitted *fitted = malloc(sizeof(*fitted));
	DriftState *states = calloc(g->n * DRIFT_FAMILIES + 1, sizeof(*states));
	size_t n = 0;

	if (!fitted || !states) {
		free(states);
		return -ENOMEM;
	}
	for (size_t i = 0; i < g->n; i++) {
		fit(&g->drift[i], fitted);
		for (size_t k = 0; k < g->drift[i].n; k++)
			n += fill(fitted, k, &g->gauges[i], &c->fleet, &states[n]);
	}
	*ret = states;
	*ret_n = n;
	return 0;
}
