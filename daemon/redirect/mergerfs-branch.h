/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One of mergerfs's branches, as user.mergerfs.branches lists them: "/hdd0=NC,10G:/ssd=RW"
 * (mergerfs(1), "branches"). The parts are not NUL-terminated: print them with "%.*s". */

#include <stdbool.h>

typedef struct MergerfsBranch {
	const char *path, *mode, *options; /* "/hdd0", "NC", ",10G" or "" */
	int path_length, mode_length, options_length;
} MergerfsBranch;

/* Takes the next branch from *list and moves that behind it; false at its end. */
bool mergerfs_branch_next(const char **list, MergerfsBranch *ret);
/* In this mode: "RW", "RO" or "NC"? */
bool mergerfs_branch_is(const MergerfsBranch *b, const char *mode);
/* The branch of that path in a list; false where it has none. */
bool mergerfs_branch_find(const char *list, const char *path, int path_length, MergerfsBranch *ret);
