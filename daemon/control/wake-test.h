/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A wake test: does an IO alone bring a disk of this HBA back from standby? One at a time; what
 * comes of it is recorded for the HBA. */

#include "control/control-state.h"

int wake_test_begin(Control *c, const char *name, WakeTestDone done, void *userdata,
		    char **ret_error);
Need wake_test_take(Control *c, Job *j);
/* A test on its HBA has passed: standby is no longer withheld, and it is asked anew. */
Need wake_test_apply(Control *c, Managed *md);
void wake_test_abandon(Job *j); /* the disk has gone meanwhile */
