/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The disks' wear accounts: charged before a disk is stopped, and on disk by then. */

#include "control/tools.h"

int wear_accounts_open(Tools *t);
int wear_accounts_save(Tools *t); /* says once that it cannot */
void wear_account_open(Managed *md, const Tools *t);
WearTerms wear_account_terms(const Managed *md, const ControlConfig *c);
void wear_account_refill(Managed *md, const Tools *t);

/* For a step into the condition. Returns whether the cycle before was charged: of use to
 * wear_account_undo(), when the step has not been made. */
bool wear_account_charge(Managed *md, Condition c);
void wear_account_undo(Managed *md, Condition c, bool was_charged);
/* It wakes: a cycle that nobody has charged, because the disk stopped by itself or by somebody
 * else, is charged now. */
void wear_account_end_cycle(Managed *md, Condition c);
void wear_account_stay_charged(Managed *md);
void wear_account_forget_cycle(Managed *md); /* it went there by itself: that is one more */
