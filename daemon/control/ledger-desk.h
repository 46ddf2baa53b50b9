/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a worker does for the ledger: writes entries, adds what processors and memory have drawn,
 * and reads the file of the grid's carbon intensity when it has changed. */

#include <sys/stat.h>

#include "control/control.h"
#include "ledger/intensity.h"
#include "ledger/ledger.h"
#include "sensor/rapl-energy.h"

typedef struct LedgerDesk {
	Ledger *ledger;
	RaplEnergy *rapl; /* NULL: there is none */
	LedgerThing *node;
	const char *intensity_path; /* NULL: none */
	const char *currency;       /* of the prices; NULL: said already, or none */
	struct stat seen;           /* the file as it was read last */
	bool missing;               /* it was not there, and that has been said */
} LedgerDesk;

/* One errand of a worker. */
typedef struct LedgerJob {
	LedgerDesk *desk;
	LedgerEntries entries;
	int64_t now_s; /* by the wall clock */
	bool has_series;
	Intensity series;          /* of the file, which has changed */
	char intensity_error[160]; /* "": none */
	char error[256];           /* why nothing was written */
} LedgerJob;

/* sysfs_root: of the processors' energies. The texts must outlive it. -ENOMEM. */
int ledger_desk_open(const char *sysfs_root, const LedgerConfig *config, LedgerDesk **ret);
LedgerDesk *ledger_desk_close(LedgerDesk *d); /* returns NULL */
/* 0, or why nothing was written; the entries stay in any case. */
int ledger_desk_work(LedgerJob *j);
void ledger_job_done(LedgerJob *j);
