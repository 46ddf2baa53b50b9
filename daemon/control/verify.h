/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Somebody asks whether every setting still holds: each device is read back, and answers when it
 * can. */

#include "control/control-state.h"

int verify_begin(Control *c, VerifyDone done, void *userdata);
/* What a device's knobs said. */
void verify_take(Control *c, const Job *j);
void verify_forget(Control *c, const char *device); /* it has gone */
/* Those that have waited long enough are answered with what is known. */
void verify_tell(Control *c);
uint64_t verify_due_us(const Control *c);
void verify_done(Control *c);
