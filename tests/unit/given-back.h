/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When a budget lifts or the daemon ends, everything is given back, but a disk that sleeps sleeps
 * on: registers that are compared are to be as found, and sleep counts as active. */

#include <string.h>

/* In a node's dump, in place. */
static inline void overlook_sleep(char *dump)
{
	static const char *const conditions[] = { "standby_z", "standby_y", "idle_c" };
	static const char key[] = " condition ", active[] = "active";

	for (char *at = dump; (at = strstr(at, key));) {
		at += strlen(key);
		for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
			size_t n = strlen(conditions[i]);

			if (strncmp(at, conditions[i], n) != 0)
				continue;
			memmove(at + strlen(active), at + n, strlen(at + n) + 1);
			memcpy(at, active, strlen(active));
			break;
		}
	}
}
