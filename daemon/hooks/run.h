/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Runs the hooks of a folder one after another, in the order of their names. */

#include "hooks/question.h"

/* *ret_answer: "ok\n", or "veto NAME: what it said\n" of the first that refused, behind which none
 * is run; malloc'd. A folder that is not there has no hooks. -ENOMEM. */
int hooks_run(const char *folder, const Question *q, char **ret_answer);
