/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a watt more would bring, and what would be next best: dry runs beside the limit in force. */

#include "ctl/ctl.h"

typedef struct Alternatives Alternatives;

/* NULL: no limit is in force, or the daemon does not plan. */
Alternatives *alternatives_ask(Ctl *c);
void alternatives_print(const Ctl *c, const Alternatives *a); /* a may be NULL */
Alternatives *alternatives_free(Alternatives *a);             /* returns NULL */
