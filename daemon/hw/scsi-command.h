/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One SCSI command to a disk, through the pass-through of libsgutils2. */

#include <stdbool.h>
#include <stdint.h>

#include <scsi/sg_lib.h>

/* A command that exceeds its time is taken for an error of the link, which the kernel then resets:
 * no disk that is only slow may come to that. */
#define COMMAND_SECONDS 15 /* what needs no medium */
#define FLUSH_SECONDS   60
#define MOVE_SECONDS    60 /* from one power condition to another; a spin-up takes 10 to 15 s */

#define SCSI_TRIES 4 /* after a reset there are several unit attentions, told one at a time */

typedef struct ScsiCommand {
	uint8_t cdb[16];
	unsigned cdb_size;
	void *in; /* NULL: no data */
	unsigned in_size;
	unsigned timeout_s;
	/* the answer */
	unsigned in_got;
	uint8_t status;
	uint8_t sense[64];
	unsigned sense_size;
} ScsiCommand;

/* 0 when the disk has answered, whatever it said; else -errno: -ENODEV, -ETIMEDOUT, -EIO, ... */
int scsi_command_send(int fd, ScsiCommand *c);
/* False when the answer has no sense data. */
bool scsi_command_sense(const ScsiCommand *c, struct sg_scsi_sense_hdr *ret);
/* What the answer means: 0; -EOPNOTSUPP: no such command or field; -EAGAIN: say it again; -EBUSY;
 * -EHOSTDOWN: the disk is stopped; -EIO. */
int scsi_command_result(const ScsiCommand *c);
/* Sends the command and judges the answer, again while the disk only tells news of its own (UNIT
 * ATTENTION). */
int scsi_command_run(int fd, ScsiCommand *c);
/* The meaning of sense data as above. */
int scsi_sense_result(const struct sg_scsi_sense_hdr *s);
