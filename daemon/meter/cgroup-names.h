/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter: the names of the cgroups that do IO. The kernel's number of a cgroup is the
 * inode number of its folder (fs/kernfs/inode.c) and is never used again. So one walk finds all of
 * them, and a name that is known stays right. */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

typedef struct CgroupNames CgroupNames;

/* root: the folder of the hierarchy that has the IO controller; NULL: found among the mounts. */
int cgroup_names_new(const char *root, CgroupNames **ret);
CgroupNames *cgroup_names_free(CgroupNames *n); /* returns NULL */
DEFINE_CLEANUP(CgroupNames *, cgroup_names_free);
const char *cgroup_names_root(const CgroupNames *n);

/* Call it when the numbers that will be asked for are known: the hierarchy is then walked at most
 * once for all of them. */
void cgroup_names_begin(CgroupNames *n);
/* "system.slice/db.service"; NULL: there is no such cgroup any more, and there was none when last
 * looked. Lives as long as the names. *ret_gone: it has gone, its name may be known yet. */
const char *cgroup_name(CgroupNames *n, uint64_t id, bool *ret_gone);
