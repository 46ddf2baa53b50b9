/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* NVMe subsystems, their controllers and namespaces, by what sysfs says: SYSFS/class/nvme and
 * SYSFS/class/nvme-subsystem. A subsystem is one drive, however many controllers lead to it. */

#include "base/sysfs.h"

typedef struct NvmePath {
	char *head;  /* what is opened and mounted: "nvme0n1" */
	char *queue; /* what has one controller's queue: the same, or below the kernel's own
		      * multipath the hidden "nvme0c1n1" */
} NvmePath;

typedef struct NvmeSubsystem {
	char **controllers; /* by name; the first one names the drive */
	NvmePath *paths;    /* from all of them to its namespaces, by the names of heads */
	size_t n_paths;
	size_t n_heads;
} NvmeSubsystem;

bool is_nvme_controller(const char *name); /* "nvme0" */
/* "nvme0n1" or "nvme0c1n1" */
bool is_nvme_namespace(const char *name);
/* The subsystem of a controller. */
int nvme_subsystem_read(const char *sysfs_root, const char *controller, NvmeSubsystem *ret);
void nvme_subsystem_done(NvmeSubsystem *n);
/* Is the name one of its controllers' or namespaces'? */
bool nvme_subsystem_has(const NvmeSubsystem *n, const char *name);
/* The next path that leads to another namespace than path i; n_paths behind the last. */
size_t nvme_subsystem_next_head(const NvmeSubsystem *n, size_t i);

/* Stable over restarts: serial number, or the subsystem's name (NQN) across a network. NULL: not
 * there, or not to be spoken to yet. */
char *nvme_controller_id(const char *sysfs_root, const char *controller);
bool nvme_controller_live(const char *sysfs_root, const char *controller);
/* Is it reached across a network (NVMe over fabrics), where its drives are another host's? */
bool nvme_controller_is_remote(const char *sysfs_root, const char *controller);
