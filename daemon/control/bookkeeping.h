/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What has been counted goes to the ledger, off the loop, a write at a time. What cannot be written
 * is kept in memory, said once, and written with what follows. */

#include "control/job.h"
#include "control/tally.h"
#include "ledger/backlog.h"

typedef struct Bookkeeping {
	Tally tally;
	LedgerDesk *desk;    /* the workers' alone, one at a time */
	Backlog backlog;     /* counted, and not written yet */
	bool out;            /* a job is */
	char problem[320];   /* "": the last write succeeded */
	uint64_t written_us; /* wall clock of it; 0: none yet */
} Bookkeeping;

/* *ret NULL: nothing is to be counted. -ENOMEM. */
int bookkeeping_open(const ControlConfig *config, Bookkeeping **ret);
/* Writes what is left. No job may be out. Returns NULL. */
Bookkeeping *bookkeeping_close(Bookkeeping *b, const ControlConfig *config);
/* After a look, with everything measured: counts, and sets out to write. */
void bookkeeping_look(const TallyNode *node, Tools *tools);
/* The job has come back. */
void bookkeeping_take(Job *j, Tools *tools);
uint64_t bookkeeping_wall_us(const ControlConfig *config);
