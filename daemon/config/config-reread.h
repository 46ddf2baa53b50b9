/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What of the configuration counts at the start of the daemon alone. */

#include "config/config.h"

/* Puts the values in force into the configuration that was read again, and logs which keys of it
 * wait for the next start. */
void config_keep_started(Config *now, Config *was);
