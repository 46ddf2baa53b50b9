/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Extended Power Conditions of a SATA disk, ACS-5 4.9.3. Current settings only, none is saved. */

#include "hw/disk-power.h"

/* Fills in which conditions there are, and p->epc: both of them, or neither. */
int ata_epc_describe(int fd, DiskPower *p);
/* Puts the disk into the condition at once, without holding it there: the next IO wakes the disk,
 * and its timers count as before. */
int ata_epc_go_to(int fd, Condition c);
