/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One ATA command, in an ATA PASS-THROUGH(16): SAT-5 12.2. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATA_SECTOR_BYTES 512

/* ACS-5 7 */
#define ATA_READ_LOG_EXT         0x2f
#define ATA_READ_VERIFY          0x40
#define ATA_READ_VERIFY_EXT      0x42
#define ATA_STANDBY_IMMEDIATE    0xe0
#define ATA_IDLE_IMMEDIATE       0xe1
#define ATA_CHECK_POWER_MODE     0xe5
#define ATA_FLUSH_CACHE          0xe7
#define ATA_FLUSH_CACHE_EXT      0xea
#define ATA_IDENTIFY_DEVICE      0xec
#define ATA_SET_FEATURES         0xef
#define ATA_SET_FEATURES_EPC     0x4a
#define ATA_EPC_GO_TO_CONDITION  0x01
#define ATA_LOG_POWER_CONDITIONS 0x08

#define ATA_USING_LBA 0x40 /* device register: lba is a place on the medium */

typedef struct AtaCommand {
	uint8_t command, feature, count, device;
	uint32_t lba;  /* 24 bits are enough for the commands of this daemon */
	bool extended; /* of the 48-bit commands */
	uint8_t *in;   /* count sectors; NULL: no data */
	unsigned timeout_s;
	uint8_t ret_count; /* the count register of the answer; of a command without data */
} AtaCommand;

/* -EOPNOTSUPP: the disk aborted it, or nothing takes ATA commands here; -EBADMSG: the answer lacks
 * the registers; else the errors of scsi_command_send(). */
int ata_command_run(int fd, AtaCommand *c);
