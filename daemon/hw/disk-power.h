/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What ATA and SCSI have in common here. */

#include <stdbool.h>

#include "model/setting.h"

/* What a disk says of itself. */
typedef struct DiskPower {
	unsigned conditions; /* bits of Condition that can be set, CONDITION_ACTIVE among them */
	/* ATA alone */
	bool epc;             /* supported and enabled */
	bool flush, flush_48; /* FLUSH CACHE, FLUSH CACHE EXT */
	bool verify_48;       /* READ VERIFY SECTOR(S) EXT */
} DiskPower;

/* Errors are those of scsi-command.h. */
typedef struct DiskCommands {
	/* -EOPNOTSUPP: it has no power conditions, or nothing can be asked of it */
	int (*describe)(int fd, DiskPower *ret);
	int (*get)(int fd, Condition *ret);
	int (*set)(int fd, const DiskPower *p, Condition c);
	int (*flush)(int fd, const DiskPower *p);
} DiskCommands;

extern const DiskCommands ata_commands, scsi_commands;
