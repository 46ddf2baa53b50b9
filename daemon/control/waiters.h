/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who waits for something without holding the loop up: that a limit is enforced by the fast knobs,
 * or that the figures are fresh. */

#include "control/control.h"

typedef enum WaiterKind { WAITS_ENFORCED, WAITS_FRESH } WaiterKind;

typedef struct Waiter {
	WaiterKind kind;
	uint64_t since_us, until_us;
	bool begun; /* the command that it waits for has returned */
	bool warns; /* an emergency that is not enforced in time is worth a word */
	ControlWait wait;
} Waiter;

typedef struct Verification Verification; /* verify.c */

typedef struct Waiters {
	Waiter *list;
	size_t n;
	Verification *verifications;
} Waiters;

int waiters_add(Waiters *w, const Waiter *waiter);
void waiters_begin(Waiters *w); /* those that have been added may be called back from now on */
/* Calls back those whose wait is over. enforced: no fast knob is out; fresh_us: when the node was
 * last looked at, with nothing of that outstanding. */
void waiters_tell(Waiters *w, uint64_t now_us, bool enforced, uint64_t fresh_us);
/* All, for the daemon ends. */
void waiters_done(Waiters *w);
uint64_t waiters_due_us(const Waiters *w);
