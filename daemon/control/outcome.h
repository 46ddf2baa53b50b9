/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What has come of a job: each concern takes its part. */

#include "control/control-state.h"

/* Takes the job over. */
Need outcome_take(Control *c, Job *j);
