/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The folder of the operator's hooks, and which of its files are run. */

#include <stdbool.h>
#include <stddef.h>

#define HOOK_FOLDER "/etc/storpower/hooks.d"

typedef struct HookFile {
	char *name;
	const char *why_not; /* it is not run; NULL: it is */
	bool unsafe;         /* because others could have written it */
} HookFile;

typedef struct HookFolder {
	HookFile *files; /* by name */
	size_t n;
} HookFolder;

/* Hidden files are left out. -ENOENT: there is no such folder; -ENOTDIR, -ENOMEM. */
int hook_folder_read(const char *path, HookFolder *ret);
void hook_folder_done(HookFolder *f);
