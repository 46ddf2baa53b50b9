/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* One [device NAME] section of the configuration. */
typedef struct BlockConfig {
	char *name; /* kernel name (nvme0, sdb, loop0), namespace (nvme0n1), or id ("wwid:...") */
	char *profile;    /* profile name; NULL: by model string, else generic */
	char *profile_at; /* "FILE:LINE" that names it; NULL: none */
	char *group;      /* NULL: none */
	char *pool;       /* planned as one with the others of it; NULL: what is found */
	bool unmanaged;   /* leave it alone */
	bool wake_tested; /* a SAS disk may be put to standby: its IO wakes it on this HBA */
	bool keep_awake;  /* never put it to sleep */
	char *redirect;   /* the component that may keep IO off it: "bcache", ...; "none": whatever
			   * is found is left alone; NULL: what is found, but nvmet */
} BlockConfig;

/* One [pool NAME] section. */
typedef struct PoolConfig {
	char *name;   /* as the pool is called: "osds", "md0" */
	bool spreads; /* any member may serve what is asked: their sum counts */
} PoolConfig;
