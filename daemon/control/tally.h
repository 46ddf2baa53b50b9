/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is counted for the ledger: at each look, what every device and cgroup, each limit in force,
 * and the node have drawn and moved since the look before. Sums of the devices, and of the cgroups,
 * are the node's, to the microjoule. */

#include "control/control.h"
#include "control/gauges.h"
#include "control/tally-cgroups.h"
#include "control/tariff.h"

typedef struct Tally {
	uint64_t counted_us; /* the last look; 0: none yet */
	TallyDevices devices;
	TallyCgroups cgroups;
	LedgerThing *node;
	LedgerThing **claims; /* limits that entries not written yet are of: one thing for each */
	size_t n_claims;
	Tariff tariff;
	Amounts sum;           /* of the node since the daemon's start */
	uint64_t requests;     /* of applications, since the last look */
	LedgerEntries entries; /* counted, and not written yet */
} Tally;

/* What holds of the node now. */
typedef struct TallyNode {
	double budget_w; /* held; INFINITY: none */
	double shortfall_w;
	const Limits *limits;
	const Gauges *gauges;
} TallyNode;

int tally_init(Tally *t);
void tally_done(Tally *t);
/* At a look, after everything has been measured. time_s: the wall clock. */
void tally_look(Tally *t, const TallyNode *node, Tools *tools, int64_t time_s);
/* An application has served so many requests. */
void tally_note_requests(Tally *t, uint64_t n);
