/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What --check-config looks at besides storpower.conf itself: the files that it leads to. */

#include "config/config.h"
#include "model/profile.h"

/* Complains of what a daemon with this configuration would refuse or do without: the policy of this
 * name and whatever other could be chosen, profiles, and what sensors are taken off. Returns how
 * many things it has found; -ENOMEM. */
int config_check(const Config *c, const ProfileStore *profiles,
		 const char *const *policy_directories, const char *policy);
