/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/ata-command.h"

#include <errno.h>

#include "hw/scsi-command.h"

#define ATA_PASS_THROUGH_16 0x85
#define PROTOCOL_NON_DATA   (3 << 1)
#define PROTOCOL_PIO_IN     (4 << 1)
#define EXTEND              0x01
#define CK_COND             0x20 /* the answer always has the registers */
#define SECTORS_IN          0x0e /* data comes from the device, in blocks, as many as the count says */

#define DESCRIPTOR_ATA_STATUS 0x09

#define STATUS_ERR 0x01
#define STATUS_DF  0x20
#define ERROR_ABRT 0x04

typedef struct Registers {
	uint8_t error, count, status;
} Registers;

static ScsiCommand pass_through(const AtaCommand *c)
{
	return (ScsiCommand){
		.cdb = {
			[0] = ATA_PASS_THROUGH_16,
			[1] = (c->in ? PROTOCOL_PIO_IN : PROTOCOL_NON_DATA) |
			      (c->extended ? EXTEND : 0),
			[2] = c->in ? SECTORS_IN : CK_COND,
			[4] = c->feature,
			[6] = c->count,
			[8] = c->lba & 0xff,
			[10] = c->lba >> 8 & 0xff,
			[12] = c->lba >> 16 & 0xff,
			[13] = c->device,
			[14] = c->command,
		},
		.cdb_size = 16,
		.in = c->in,
		.in_size = c->in ? c->count * ATA_SECTOR_BYTES : 0,
		.timeout_s = c->timeout_s,
	};
}

/* The registers come in a descriptor, or in the fields of the fixed format (SAT-5 12.2.2.6), as the
 * HBA chooses. */
static bool read_registers(const ScsiCommand *s, Registers *ret)
{
	const uint8_t *d =
		sg_scsi_sense_desc_find(s->sense, (int)s->sense_size, DESCRIPTOR_ATA_STATUS);
	struct sg_scsi_sense_hdr h;

	if (!scsi_command_sense(s, &h))
		return false;
	if (d && d[1] >= 12) {
		*ret = (Registers){ .error = d[3], .count = d[5], .status = d[13] };
		return true;
	}
	/* ATA PASS-THROUGH INFORMATION AVAILABLE */
	if (h.response_code >= 0x72 || h.asc != 0x00 || h.ascq != 0x1d)
		return false;
	*ret = (Registers){ .error = s->sense[3], .count = s->sense[6], .status = s->sense[4] };
	return true;
}

static int registers_result(const Registers *g)
{
	if (!(g->status & (STATUS_ERR | STATUS_DF)))
		return 0;
	return g->status & STATUS_ERR && g->error & ERROR_ABRT ? -EOPNOTSUPP : -EIO;
}

/* libata answers so, without registers, when the disk aborted the command. It answers the same when
 * a reset cut the command off, so the command is tried again. */
static bool is_plain_abort(const ScsiCommand *s)
{
	struct sg_scsi_sense_hdr h;

	return scsi_command_sense(s, &h) && h.sense_key == SPC_SK_ABORTED_COMMAND && !h.asc &&
	       !h.ascq;
}

static int run_ata_once(int fd, AtaCommand *c, bool *ret_aborted)
{
	ScsiCommand s = pass_through(c);
	Registers g;
	int r = scsi_command_send(fd, &s);

	if (r < 0)
		return r;
	if (read_registers(&s, &g)) {
		c->ret_count = g.count;
		return registers_result(&g);
	}
	r = scsi_command_result(&s);
	*ret_aborted = r < 0 && is_plain_abort(&s);
	if (r < 0)
		return r;
	return c->in && s.in_got == s.in_size ? 0 : -EBADMSG;
}

int ata_command_run(int fd, AtaCommand *c)
{
	bool aborted = false;
	int r = -EAGAIN;

	for (unsigned i = 0; i < SCSI_TRIES && r == -EAGAIN; i++)
		r = run_ata_once(fd, c, &aborted);
	return r == -EAGAIN && aborted ? -EOPNOTSUPP : r;
}
