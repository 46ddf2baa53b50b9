/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/ata-epc.h"

#include <errno.h>

#include "base/cleanup.h"
#include "hw/ata-command.h"
#include "hw/scsi-command.h"

#define PAGES 2

/* In a descriptor of the log */
#define FLAGS          1
#define FLAG_SUPPORTED 0x80

/* ACS-5 table 10, and where log 08h has its descriptor (ACS-5 9.9) */
static const struct {
	Condition condition;
	uint8_t id;
	unsigned descriptor;
} table[] = {
	{ CONDITION_IDLE_A, 0x81, 0 },
	{ CONDITION_IDLE_B, 0x82, 64 },
	{ CONDITION_IDLE_C, 0x83, 128 },
	{ CONDITION_STANDBY_Y, 0x01, ATA_SECTOR_BYTES + 384 },
	{ CONDITION_STANDBY_Z, 0x00, ATA_SECTOR_BYTES + 448 },
};

static int read_log(int fd, uint8_t pages[PAGES * ATA_SECTOR_BYTES])
{
	AtaCommand c = { .command = ATA_READ_LOG_EXT,
			 .extended = true,
			 .lba = ATA_LOG_POWER_CONDITIONS,
			 .count = PAGES,
			 .in = pages,
			 .timeout_s = COMMAND_SECONDS };

	return ata_command_run(fd, &c);
}

int ata_epc_describe(int fd, DiskPower *p)
{
	uint8_t pages[PAGES * ATA_SECTOR_BYTES];
	DiskPower found = *p;
	int r = read_log(fd, pages);

	if (r < 0)
		return r;
	found.conditions = 1u << CONDITION_ACTIVE;
	for (size_t i = 0; i < ELEMENTSOF(table); i++) {
		const uint8_t *d = pages + table[i].descriptor;

		if (d[FLAGS] & FLAG_SUPPORTED)
			found.conditions |= 1u << table[i].condition;
	}
	if (found.conditions == 1u << CONDITION_ACTIVE)
		return -EBADMSG;
	found.epc = true;
	*p = found;
	return 0;
}

int ata_epc_go_to(int fd, Condition to)
{
	for (size_t i = 0; i < ELEMENTSOF(table); i++) {
		AtaCommand c = { .command = ATA_SET_FEATURES,
				 .feature = ATA_SET_FEATURES_EPC,
				 .lba = ATA_EPC_GO_TO_CONDITION,
				 .count = table[i].id,
				 .timeout_s = MOVE_SECONDS };

		if (table[i].condition == to)
			return ata_command_run(fd, &c);
	}
	return -EINVAL;
}
