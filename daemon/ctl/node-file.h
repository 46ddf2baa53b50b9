/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which devices a node file has, of its [devices NAME] alone; sim/sim-file.h reads the whole. */

#include <stddef.h>

#include "base/cleanup.h"

typedef struct NodeDevices {
	char *name;    /* of the section */
	char *profile; /* NULL: it names none */
	unsigned line; /* of its heading */
	unsigned count;
} NodeDevices;

typedef struct NodeFile {
	NodeDevices *devices;
	size_t n;
} NodeFile;

/* Complaints are logged with file:line; -EINVAL when there is any. */
int node_file_read(const char *path, NodeFile **ret);
NodeFile *node_file_free(NodeFile *f);
DEFINE_CLEANUP(NodeFile *, node_file_free);
