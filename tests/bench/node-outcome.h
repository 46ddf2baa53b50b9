/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What became of a simulated node in an hour, by the hidden truth. */

#include "clairvoyant.h"
#include "sim-fixture.h"

#define DEVICES_MAX 256

typedef struct Limit {
	double percent, budget_w;
} Limit;

/* Of all pools, each with planned throughput, sums of MB/s. */
typedef struct PoolUse {
	double planned; /* as far as it is asked for */
	double usable;  /* members times the slowest one, as far as it was planned */
} PoolUse;

typedef struct Outcome {
	double mb_s, watts;     /* means */
	SimOverload over;       /* above_s NAN: the draw changed too often to tell */
	double of[DEVICES_MAX]; /* MB/s of each device */
	Satisfaction satisfaction;
	double binds_s,
		unspent_w; /* where the clairvoyant cannot serve all; a mean of those seconds */
	PoolUse pools;
} Outcome;

typedef struct Evenness {
	double least, jain;
} Evenness;

/* After the settings have settled. */
Outcome measure(Fixture *f, double budget_w, double hours);

/* Of the shares of what each device does without a budget. */
Evenness evenness(const Outcome *o, const Outcome *full);
double unspent(const Outcome *o, double budget_w); /* share of the budget, in the mean */
bool within(const Outcome *o, double budget_w);    /* in the mean */
double of_clairvoyant(const Outcome *o);
double of_fair(const Outcome *o); /* of the clairvoyant who is as fair; NAN: there is none */
/* Of the same with no more watts than were drawn, and with the same disks asleep. */
double of_fair_drawn(const Outcome *o);
/* Has nobody served more than the clairvoyant could with the watts that were drawn? */
bool below_clairvoyant(const Outcome *o);

void print_heads(void);
void print_row(const char *way, const Outcome *o, const Outcome *full, const Limit *l);
/* The clairvoyant as fair as the policy `balanced`. */
void print_fair_row(const Outcome *o);
void write_number(FILE *json, const char *name, double v);
void write_outcome(FILE *json, const char *name, const Outcome *o, const Outcome *full,
		   double budget_w);
