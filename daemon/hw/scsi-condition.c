/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Power conditions of a SAS disk, by START STOP UNIT with a POWER CONDITION (SBC-4 5.31). A disk is
 * never stopped: it would need a START before its next IO, which many HBAs do not send, and the IO
 * fails. START is 1 in every command: a disk that knows power conditions ignores it, and one that
 * does not is started, not stopped. */

#include <errno.h>

#include "base/cleanup.h"
#include "hw/disk-power.h"
#include "hw/scsi-command.h"

#define INQUIRY              0x12
#define MODE_SENSE_10        0x5a
#define REQUEST_SENSE        0x03
#define START_STOP_UNIT      0x1b
#define SYNCHRONIZE_CACHE_10 0x35

#define VPD_POWER_CONDITION  0x8a
#define PAGE_POWER_CONDITION 0x1a
#define CHANGEABLE_VALUES    0x40
#define NO_BLOCK_DESCRIPTORS 0x08
#define START                0x01
#define LU_CONTROL           7 /* the disk's own timers rule again */

/* Of one condition: POWER CONDITION and its MODIFIER; its bit in the VPD page
 * (SPC-6 7.7.8) and in the mode page (SPC-6 7.5.15). */
static const struct {
	Condition condition;
	uint8_t power_condition, modifier;
	uint8_t vpd_byte, vpd_bit;
	uint8_t mode_byte, mode_bit;
} table[] = {
	{ CONDITION_IDLE_A, 2, 0, 5, 0x01, 3, 0x02 },
	{ CONDITION_IDLE_B, 2, 1, 5, 0x02, 3, 0x04 },
	{ CONDITION_IDLE_C, 2, 2, 5, 0x04, 3, 0x08 },
	{ CONDITION_STANDBY_Y, 3, 1, 4, 0x02, 2, 0x01 },
	{ CONDITION_STANDBY_Z, 3, 0, 4, 0x01, 3, 0x01 },
};

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static int describe_by_vpd(int fd, DiskPower *p)
{
	uint8_t page[18] = { 0 };
	ScsiCommand c = { .cdb = { INQUIRY, 1, VPD_POWER_CONDITION, 0, sizeof(page) },
			  .cdb_size = 6,
			  .in = page,
			  .in_size = sizeof(page),
			  .timeout_s = COMMAND_SECONDS };
	int r = scsi_command_run(fd, &c);

	if (r < 0)
		return r;
	if (c.in_got < sizeof(page) || page[1] != VPD_POWER_CONDITION || be16(page + 2) < 14)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < ELEMENTSOF(table); i++)
		if (page[table[i].vpd_byte] & table[i].vpd_bit)
			p->conditions |= 1u << table[i].condition;
	return 0;
}

/* A disk older than the VPD page: it has the conditions whose timers could be changed. */
static int describe_by_mode_page(int fd, DiskPower *p)
{
	uint8_t data[64] = { 0 };
	ScsiCommand c = { .cdb = { MODE_SENSE_10, NO_BLOCK_DESCRIPTORS,
				   CHANGEABLE_VALUES | PAGE_POWER_CONDITION, [8] = sizeof(data) },
			  .cdb_size = 10,
			  .in = data,
			  .in_size = sizeof(data),
			  .timeout_s = COMMAND_SECONDS };
	int r = scsi_command_run(fd, &c);
	unsigned at = 8 + be16(data + 6);

	if (r < 0)
		return r;
	if (at + 4 > c.in_got || (data[at] & 0x3f) != PAGE_POWER_CONDITION)
		return -EOPNOTSUPP;
	for (size_t i = 0; i < ELEMENTSOF(table); i++)
		if (data[at + table[i].mode_byte] & table[i].mode_bit)
			p->conditions |= 1u << table[i].condition;
	return 0;
}

static int scsi_describe(int fd, DiskPower *ret)
{
	DiskPower p = { 0 };
	int r = describe_by_vpd(fd, &p);

	if (r == -EOPNOTSUPP)
		r = describe_by_mode_page(fd, &p);
	if (r < 0)
		return r;
	if (!p.conditions)
		return -EOPNOTSUPP;
	p.conditions |= 1u << CONDITION_ACTIVE;
	*ret = p;
	return 0;
}

#define LOW_POWER_CONDITION_ON 0x5e

/* SPC-6 annex F: by timer, by command. */
static Condition condition_of(uint8_t qualifier)
{
	switch (qualifier) {
	case 0x00: /* on, and no more is said */
	case 0x01:
	case 0x03:
	case 0x42: return CONDITION_IDLE_A;
	case 0x05:
	case 0x06: return CONDITION_IDLE_B;
	case 0x07:
	case 0x08: return CONDITION_IDLE_C;
	case 0x09:
	case 0x0a: return CONDITION_STANDBY_Y;
	case 0x02:
	case 0x04:
	case 0x43:
	case 0x45: return CONDITION_STANDBY_Z;
	default: return CONDITION_ACTIVE;
	}
}

/* The answer is in the data: the disk's state as sense data. */
static int request_sense(int fd, struct sg_scsi_sense_hdr *ret)
{
	uint8_t data[252] = { 0 };
	ScsiCommand c = { .cdb = { REQUEST_SENSE, [4] = sizeof(data) },
			  .cdb_size = 6,
			  .in = data,
			  .in_size = sizeof(data),
			  .timeout_s = COMMAND_SECONDS };
	int r = scsi_command_run(fd, &c);

	if (r < 0)
		return r;
	return sg_scsi_normalize_sense(data, (int)c.in_got, ret) ? scsi_sense_result(ret)
								 : -EBADMSG;
}

static int scsi_get(int fd, Condition *ret)
{
	struct sg_scsi_sense_hdr s;
	int r = -EAGAIN;

	/* each pending unit attention is told, and so cleared, first */
	for (unsigned i = 0; i < SCSI_TRIES && r == -EAGAIN; i++)
		r = request_sense(fd, &s);
	if (r < 0)
		return r;
	*ret = s.asc == LOW_POWER_CONDITION_ON ? condition_of(s.ascq) : CONDITION_ACTIVE;
	return 0;
}

static int start_stop(int fd, unsigned power_condition, unsigned modifier)
{
	ScsiCommand c = { .cdb = { START_STOP_UNIT, 0, 0, modifier, power_condition << 4 | START },
			  .cdb_size = 6,
			  .timeout_s = MOVE_SECONDS };

	return scsi_command_run(fd, &c);
}

/* A condition that was commanded stops the disk's own timers, until they are given back. */
static int wake_by_start(int fd)
{
	int r = start_stop(fd, 1, 0);

	if (r >= 0)
		r = start_stop(fd, LU_CONTROL, 0);
	return r == -EOPNOTSUPP ? 0 : r;
}

static int scsi_set(int fd, const DiskPower *p, Condition to)
{
	(void)p;
	if (to == CONDITION_ACTIVE)
		return wake_by_start(fd);
	for (size_t i = 0; i < ELEMENTSOF(table); i++)
		if (table[i].condition == to)
			return start_stop(fd, table[i].power_condition, table[i].modifier);
	return -EINVAL;
}

static int scsi_flush(int fd, const DiskPower *p)
{
	ScsiCommand c = { .cdb = { SYNCHRONIZE_CACHE_10 },
			  .cdb_size = 10,
			  .timeout_s = FLUSH_SECONDS };
	int r = scsi_command_run(fd, &c);

	(void)p;
	return r == -EOPNOTSUPP ? 0 : r; /* no cache to flush */
}

const DiskCommands scsi_commands = { scsi_describe, scsi_get, scsi_set, scsi_flush };
