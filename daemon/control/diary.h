/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What was decided lately and why, and which disks woke. */

#include "base/ring.h"
#include "control/control.h"
#include "control/managed.h"

#define DIARY_KEPT 512

typedef struct Diary {
	Ring decisions, wakeups;
	char why[192]; /* of the plan in force: who asked for the budget */
} Diary;

int diary_init(Diary *d);
void diary_done(Diary *d);
void diary_because(Diary *d, const char *format, ...) _printf_(2, 3);
/* device "": the node. What a device is set to has the plan's reason added. */
void diary_decide(Diary *d, const char *device, const char *why, const char *format, ...)
	_printf_(4, 5);
/* The disk wakes now, for that reason and by whom eBPF saw. Logs it. */
void diary_wakeup(Diary *d, const Managed *md, const char *why);
