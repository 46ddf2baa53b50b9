/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* NVMe controllers and their namespaces, by what sysfs says: SYSFS/class/nvme. */

#include "base/sysfs.h"

typedef struct NvmeNamespace {
	char *head;  /* what is opened and mounted: "nvme0n1" */
	char *queue; /* what has this controller's queue: the same, or below the kernel's own
		      * multipath the hidden "nvme0c1n1" */
	bool shared; /* other controllers lead to it as well */
} NvmeNamespace;

typedef struct NvmeNamespaces {
	NvmeNamespace *list; /* by name */
	size_t n;
} NvmeNamespaces;

bool is_nvme_controller(const char *name); /* "nvme0" */
/* "nvme0n1" or "nvme0c1n1" */
bool is_nvme_namespace(const char *name);
int nvme_namespaces_read(const char *sysfs_root, const char *controller, NvmeNamespaces *ret);
void nvme_namespaces_done(NvmeNamespaces *n);
/* Is the name one of theirs? */
bool nvme_namespaces_have(const NvmeNamespaces *n, const char *name);

/* Stable over restarts: serial number, or the subsystem's name (NQN) across a network. NULL: not
 * there, or not to be spoken to yet. */
char *nvme_controller_id(const char *sysfs_root, const char *controller);
bool nvme_controller_live(const char *sysfs_root, const char *controller);
