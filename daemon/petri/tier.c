/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/tier.h"

#include <errno.h>
#include <math.h>

#define NOWHERE UINT_MAX

/* One way through a station. */
typedef struct Way {
	unsigned waiting, idle;
	unsigned after; /* nobody starts while this place holds anybody; or NOWHERE */
	unsigned answered;
	unsigned until; /* all stands still as soon as this place holds anybody; or NOWHERE */
} Way;

void tier_net_done(TierNet *n)
{
	petri_net_done(&n->net);
}

static void output(PetriNet *n, unsigned place)
{
	if (place != NOWHERE)
		petri_output(n, place, 1);
}

static void add_timed(PetriNet *n, const Way *w, double rate, unsigned from)
{
	petri_timed(n, rate, PETRI_INFINITE);
	petri_input(n, from, 1);
	if (w->until != NOWHERE)
		petri_inhibitor(n, w->until, 1);
}

/* The device is free and the request answered, or first in its transfer. */
static void leave(PetriNet *n, const Way *w, unsigned transfer)
{
	if (transfer != NOWHERE) {
		petri_output(n, transfer, 1);
		return;
	}
	output(n, w->answered);
	output(n, w->idle);
}

static void add_start(PetriNet *n, const Way *w, double weight, unsigned phase)
{
	if (!(weight > 0))
		return;
	petri_immediate(n, weight, 1);
	petri_input(n, w->waiting, 1);
	petri_input(n, w->idle, 1);
	if (w->after != NOWHERE)
		petri_inhibitor(n, w->after, 1);
	petri_output(n, phase, 1);
}

static void add_class(PetriNet *n, const Way *w, const ServiceClass *c, unsigned transfer)
{
	unsigned phases[PHASES_MAX + 1] = { 0 };

	for (unsigned i = 0; i < c->service.n; i++)
		phases[i] = petri_place(n, 0);
	for (unsigned i = 0; i < c->service.n; i++) {
		double rate = c->service.rate[i], next = c->service.next[i];

		add_start(n, w, c->share * c->service.enter[i], phases[i]);
		if (next > 0) {
			add_timed(n, w, rate * next, phases[i]);
			petri_output(n, phases[i + 1], 1);
		}
		if (next < 1) {
			add_timed(n, w, rate * (1 - next), phases[i]);
			leave(n, w, transfer);
		}
	}
}

/* Returns the place of the transfer, NOWHERE without one. */
static unsigned add_way(PetriNet *n, const Tier *t, const Station *s, const Way *w)
{
	unsigned transfer = t->transfer_s > 0 ? petri_place(n, 0) : NOWHERE;

	for (unsigned i = 0; i < s->n_classes; i++)
		if (s->classes[i].share > 0)
			add_class(n, w, &s->classes[i], transfer);
	if (transfer == NOWHERE)
		return transfer;
	add_timed(n, w, 1 / t->transfer_s, transfer);
	leave(n, w, NOWHERE);
	return transfer;
}

static StationPlaces add_station(PetriNet *n, const Tier *t, const Station *s, unsigned answered,
				 unsigned until)
{
	unsigned waiting = petri_place(n, 0), idle = petri_place(n, s->devices);
	Way way = { waiting, idle, NOWHERE, answered, until };
	unsigned transfer = add_way(n, t, s, &way);

	return (StationPlaces){ waiting, (unsigned)n->n_places - waiting, idle, transfer };
}

static bool is_one(double sum)
{
	return fabs(sum - 1) < 1e-9;
}

static bool station_is_valid(const Station *s)
{
	double sum = 0;

	if (s->devices == 0 || s->devices > UINT16_MAX || !(s->share >= 0) ||
	    s->n_classes > STATION_CLASSES_MAX)
		return false;
	for (unsigned i = 0; i < s->n_classes; i++) {
		const ServiceClass *c = &s->classes[i];

		if (!(c->share >= 0) || c->service.n == 0 || c->service.n > PHASES_MAX ||
		    c->service.next[c->service.n - 1] > 0)
			return false;
		sum += c->share;
	}
	return is_one(sum);
}

static bool tier_is_valid(const Tier *t)
{
	double sum = 0;

	if (t->requests == 0 || t->requests > UINT16_MAX || !(t->think_s > 0) ||
	    !(t->transfer_s >= 0) || t->n_stations > TIER_STATIONS_MAX)
		return false;
	for (unsigned i = 0; i < t->n_stations; i++) {
		if (!station_is_valid(&t->stations[i]))
			return false;
		sum += t->stations[i].share;
	}
	return is_one(sum);
}

int tier_net_build(const Tier *t, TierNet *ret)
{
	TierNet n = { 0 };
	unsigned sent;
	int r;

	if (!tier_is_valid(t))
		return -EINVAL;
	n.thinking = petri_place(&n.net, t->requests);
	sent = petri_place(&n.net, 0);
	n.requesting = petri_timed(&n.net, 1 / t->think_s, PETRI_INFINITE);
	petri_input(&n.net, n.thinking, 1);
	petri_output(&n.net, sent, 1);
	for (unsigned i = 0; i < t->n_stations; i++) {
		n.stations[i] = add_station(&n.net, t, &t->stations[i], n.thinking, NOWHERE);
		if (!(t->stations[i].share > 0))
			continue;
		petri_immediate(&n.net, t->stations[i].share, 1);
		petri_input(&n.net, sent, 1);
		petri_output(&n.net, n.stations[i].first, 1);
	}
	r = n.net.error;
	if (r < 0)
		tier_net_done(&n);
	else
		*ret = n;
	return r;
}

int station_passage_build(const Tier *t, const Station *s, PetriNet *ret)
{
	PetriNet n = { 0 };
	unsigned answered = petri_place(&n, 0), waiting = petri_place(&n, 1);
	StationPlaces ahead = add_station(&n, t, s, NOWHERE, answered);
	Way own = { waiting, ahead.idle, ahead.first, answered, answered };
	int r;

	add_way(&n, t, s, &own);
	r = n.error;
	if (r < 0)
		petri_net_done(&n);
	else
		*ret = n;
	return r;
}
