/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Power conditions of a SATA disk: by the Extended Power Conditions feature set where it is
 * enabled, else IDLE IMMEDIATE and STANDBY IMMEDIATE. None of these touches a timer or the APM
 * level (those are IDLE, STANDBY and SET FEATURES 05h), so these stay as found. EPC is not enabled
 * where it is not: that would disable APM (ACS-5 4.9.4). */

#include <errno.h>

#include "base/cleanup.h"
#include "hw/ata-command.h"
#include "hw/ata-epc.h"
#include "hw/disk-power.h"
#include "hw/scsi-command.h"

/* Words of IDENTIFY DEVICE (ACS-5 7.13), and their bits */
#define WORD_COMMANDS_2        83
#define COMMANDS_2_FLUSH       (1u << 12)
#define COMMANDS_2_FLUSH_EXT   (1u << 13)
#define COMMANDS_2_48_BIT      (1u << 10)
#define WORD_COMMANDS_5        119
#define WORD_COMMANDS_5_ACTIVE 120
#define COMMANDS_5_EPC         (1u << 7)

static unsigned identify_word(const uint8_t *identify, unsigned n)
{
	return identify[2 * n] | identify[2 * n + 1] << 8;
}

/* A word is valid where its bits 15:14 are 01b. */
static bool has_bits(const uint8_t *identify, unsigned n, unsigned bits)
{
	unsigned w = identify_word(identify, n);

	return (w & 0xc000) == 0x4000 && w & bits;
}

static int identify_disk(int fd, uint8_t *ret)
{
	AtaCommand c = {
		.command = ATA_IDENTIFY_DEVICE, .count = 1, .in = ret, .timeout_s = COMMAND_SECONDS
	};

	return ata_command_run(fd, &c);
}

/* ACS-5 7.2, Check Power Mode */
static const struct {
	uint8_t count;
	Condition condition;
} modes[] = {
	{ 0x00, CONDITION_STANDBY_Z }, { 0x01, CONDITION_STANDBY_Y },
	{ 0x40, CONDITION_STANDBY_Z }, /* with NV cache (ACS-2): spun down */
	{ 0x41, CONDITION_ACTIVE },    /* ... spun up */
	{ 0x80, CONDITION_IDLE_A },    /* without EPC: just idle */
	{ 0x81, CONDITION_IDLE_A },    { 0x82, CONDITION_IDLE_B },
	{ 0x83, CONDITION_IDLE_C },    { 0xff, CONDITION_ACTIVE },
};

static int ata_get(int fd, Condition *ret)
{
	AtaCommand c = { .command = ATA_CHECK_POWER_MODE, .timeout_s = COMMAND_SECONDS };
	int r = ata_command_run(fd, &c);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < ELEMENTSOF(modes); i++)
		if (modes[i].count == c.ret_count) {
			*ret = modes[i].condition;
			return 0;
		}
	return -EBADMSG;
}

/* The log may lie on the medium, so it is not read from a disk in standby. Such a disk offers what
 * every disk has until it is asked again. */
static int ata_describe(int fd, DiskPower *ret)
{
	uint8_t id[ATA_SECTOR_BYTES];
	DiskPower p = { 0 };
	Condition now;
	int r = ata_get(fd, &now);

	if (r >= 0)
		r = identify_disk(fd, id);
	if (r < 0)
		return r;
	p.flush = has_bits(id, WORD_COMMANDS_2, COMMANDS_2_FLUSH);
	p.flush_48 = has_bits(id, WORD_COMMANDS_2, COMMANDS_2_FLUSH_EXT);
	p.verify_48 = has_bits(id, WORD_COMMANDS_2, COMMANDS_2_48_BIT);
	p.conditions = 1u << CONDITION_ACTIVE | 1u << CONDITION_IDLE_A | 1u << CONDITION_STANDBY_Z;
	if (now < CONDITION_STANDBY_Y && has_bits(id, WORD_COMMANDS_5, COMMANDS_5_EPC) &&
	    has_bits(id, WORD_COMMANDS_5_ACTIVE, COMMANDS_5_EPC)) {
		r = ata_epc_describe(fd, &p);
		if (r < 0 && r != -EOPNOTSUPP && r != -EBADMSG)
			return r;
	}
	*ret = p;
	return 0;
}

/* READ VERIFY is what libata itself wakes a disk by, ata_dev_power_set_active(): IDLE IMMEDIATE
 * brings it to idle only, and a read may be served from its cache. */
static int wake_by_verify(int fd, const DiskPower *p)
{
	AtaCommand c = { .command = p->verify_48 ? ATA_READ_VERIFY_EXT : ATA_READ_VERIFY,
			 .extended = p->verify_48,
			 .count = 1,
			 .device = ATA_USING_LBA,
			 .timeout_s = MOVE_SECONDS };

	return ata_command_run(fd, &c);
}

static int ata_set(int fd, const DiskPower *p, Condition to)
{
	AtaCommand c = { .command = to < CONDITION_STANDBY_Y ? ATA_IDLE_IMMEDIATE
							     : ATA_STANDBY_IMMEDIATE,
			 .timeout_s = MOVE_SECONDS };

	if (to == CONDITION_ACTIVE)
		return wake_by_verify(fd, p);
	return p->epc ? ata_epc_go_to(fd, to) : ata_command_run(fd, &c);
}

static int ata_flush(int fd, const DiskPower *p)
{
	AtaCommand c = { .command = p->flush_48 ? ATA_FLUSH_CACHE_EXT : ATA_FLUSH_CACHE,
			 .extended = p->flush_48,
			 .timeout_s = FLUSH_SECONDS };

	return p->flush || p->flush_48 ? ata_command_run(fd, &c) : 0;
}

const DiskCommands ata_commands = { ata_describe, ata_get, ata_set, ata_flush };
