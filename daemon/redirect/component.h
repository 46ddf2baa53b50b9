/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What all components above a disk are asked for in the same way. They are found or declared, never
 * created, and looked for anew at each operation: arrays are assembled, caches attached and file
 * systems mounted while a disk is known. */

#include "device/device.h"
#include "stack/topology-walk.h"

/* For Knob.probe: does the operator let the component be used ([device NAME] redirect=)?
 * -EOPNOTSUPP and why not. It is asked before anything is set, and never before it is put back. */
int redirect_allowed(const Device *d, const char *component, char **ret_why_not);

/* The disk, its partitions, and whatever lies on nothing else than those (a volume, an encrypted
 * device), from below upwards. What lies on other disks, too, is not among them: it is not this
 * disk's to steer. */
typedef struct OwnNodes {
	const char *sysfs_root; /* the device's; only below "/sys" are other interfaces asked */
	Names paths; /* below SYSFS/class/block: "sda", "sda/sda1", "sda/sda1/holders/dm-0" */
} OwnNodes;

/* -ENOENT: nothing above this device can be steered; -ENODEV; -ENOMEM. Never wakes it. */
int own_nodes_find(Device *d, OwnNodes *ret);
void own_nodes_done(OwnNodes *own);
/* By its kernel name. */
bool own_nodes_have(const OwnNodes *own, const char *name);
/* A node's folder, malloc'd; NULL when out of memory. */
char *own_node_folder(const OwnNodes *own, const char *path);
/* What lies in that, named as an attribute of the device: "sda1/bcache"; -ENAMETOOLONG. */
int own_node_attribute(const char *path, const char *what, char *buf, size_t size);
