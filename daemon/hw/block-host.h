/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a SATA or SAS disk hangs on. */

/* SYSFS/class/scsi_host/hostN; NULL: none. */
char *block_scsi_host(const char *sysfs_root, const char *disk);
/* The host bus adapter, the same over restarts: the PCI function and its driver, "0000:00:17.0
 * ahci"; elsewhere what the host is a part of, "tcm_loop_adapter_0"; "" for none. NULL when out of
 * memory. */
char *block_hba(const char *sysfs_root, const char *disk);
