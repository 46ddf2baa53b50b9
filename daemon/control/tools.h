/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the concerns of a device need of the node. The hour is the turn's: it stands still while a
 * turn is under way. */

#include "control/diary.h"
#include "control/need.h"
#include "control/queue.h"
#include "journal/journal.h"
#include "journal/operating-file.h"

typedef struct Tools {
	uint64_t now_us;
	const ControlConfig *config;
	Fleet *fleet;
	struct Outbox *outbox;
	EventQueue *queue;
	Diary *diary;
	Journal *journal;
	Meter *meter;
	char *meter_why_not; /* NULL when eBPF runs */
	WearBook *wear;
	OperatingBook *operating;
	struct Bookkeeping *books;   /* bookkeeping.c: NULL: nothing is counted */
	uint64_t realtime_offset_us; /* of the wall clock from the loop's, at start */
	bool wear_unsaved; /* the wear accounts could not be saved, and that has been said */
	bool stopping;     /* the daemon ends */
} Tools;
