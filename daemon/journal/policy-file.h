/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The policy that was chosen while the daemon ran. It holds over restarts until another is chosen
 * or the configuration names another than it did then. */

#include <stdint.h>

#include "base/cleanup.h"

typedef struct PolicyChoice {
	char *name;       /* NULL: none was chosen */
	char *configured; /* what the configuration said when it was */
	char *by;         /* "storpowerctl (root)" */
	uint64_t realtime_us;
} PolicyChoice;

/* *ret is without a name where the file is absent or damaged, which is logged; the file as found is
 * kept as PATH.damaged then. -EPROTONOSUPPORT: another version wrote it; -EIO, -EACCES, -ENOMEM. */
int policy_choice_read(const char *path, PolicyChoice *ret);
/* Atomically. One without a name removes the file. */
int policy_choice_write(const char *path, const PolicyChoice *c);
void policy_choice_done(PolicyChoice *c);
