/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a SATA disk says of itself, as the kernel keeps it: reading it asks the disk nothing. */

#include <stdbool.h>

#define ATA_MODEL_CHARS 40

typedef struct AtaIdentity {
	char model[ATA_MODEL_CHARS + 1];
	bool link_sleeps; /* it puts its link to sleep by itself (DIPM) */
} AtaIdentity;

/* From the ATA Information page that libata and HBAs give with INQUIRY (SAT-5 12.4.2, VPD 89h).
 * -ENOENT: it is no SATA disk; -EBADMSG: the page is too short. */
int ata_identity_read(const char *sysfs_root, const char *disk, AtaIdentity *ret);
