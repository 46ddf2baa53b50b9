/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/scsi-command.h"

#include <errno.h>

#include <scsi/sg_pt.h>

#include "base/cleanup.h"

/* SAM-5 status codes */
#define STATUS_GOOD            0x00
#define STATUS_CHECK_CONDITION 0x02

/* Host bytes of include/scsi/scsi_status.h: the command never got there, or no answer came. */
#define DID_NO_CONNECT 0x01
#define DID_TIME_OUT   0x03
#define DID_BAD_TARGET 0x04

typedef struct sg_pt_base PassThrough;
DEFINE_CLEANUP(PassThrough *, destruct_scsi_pt_obj);

static int transport_error(const PassThrough *p)
{
	switch (get_scsi_pt_transport_err(p) & 0xff) {
	case DID_NO_CONNECT:
	case DID_BAD_TARGET: return -ENODEV;
	case DID_TIME_OUT: return -ETIMEDOUT;
	default: return -EIO;
	}
}

static int system_error(int error)
{
	return error == ENXIO || error == ENOENT ? -ENODEV : -error;
}

int scsi_command_send(int fd, ScsiCommand *c)
{
	_cleanup_(destruct_scsi_pt_objp) PassThrough *p = construct_scsi_pt_obj_with_fd(fd, 0);
	int r;

	if (!p)
		return -ENOMEM;
	set_scsi_pt_cdb(p, c->cdb, (int)c->cdb_size);
	set_scsi_pt_sense(p, c->sense, sizeof(c->sense));
	if (c->in)
		set_scsi_pt_data_in(p, c->in, (int)c->in_size);
	r = do_scsi_pt(p, fd, (int)c->timeout_s, 0);
	if (r)
		return r < 0 ? system_error(-r) : r == SCSI_PT_DO_TIMEOUT ? -ETIMEDOUT : -EIO;
	switch (get_scsi_pt_result_category(p)) {
	case SCSI_PT_RESULT_OS_ERR: return system_error(get_scsi_pt_os_err(p));
	case SCSI_PT_RESULT_TRANSPORT_ERR: return transport_error(p);
	}
	c->in_got = c->in ? c->in_size - (unsigned)get_scsi_pt_resid(p) : 0;
	c->status = (uint8_t)get_scsi_pt_status_response(p);
	c->sense_size = (unsigned)get_scsi_pt_sense_len(p);
	return 0;
}

bool scsi_command_sense(const ScsiCommand *c, struct sg_scsi_sense_hdr *ret)
{
	return c->status == STATUS_CHECK_CONDITION &&
	       sg_scsi_normalize_sense(c->sense, (int)c->sense_size, ret);
}

/* 04h: why a unit is not ready, SPC-6 annex F. */
static int not_ready(const struct sg_scsi_sense_hdr *s)
{
	if (s->asc != 0x04)
		return -EIO;
	switch (s->ascq) {
	case 0x02: return -EHOSTDOWN; /* initializing command required: it was stopped */
	case 0x01:                    /* becoming ready */
	case 0x1b:                    /* START STOP UNIT in progress */
	case 0x1c: /* additional power use not yet granted */ return -EBUSY;
	default: return -EIO;
	}
}

int scsi_sense_result(const struct sg_scsi_sense_hdr *s)
{
	switch (s->sense_key) {
	case SPC_SK_NO_SENSE:
	case SPC_SK_RECOVERED_ERROR: return 0;
	case SPC_SK_NOT_READY: return not_ready(s);
	case SPC_SK_ILLEGAL_REQUEST: return -EOPNOTSUPP;
	case SPC_SK_UNIT_ATTENTION:
	case SPC_SK_ABORTED_COMMAND: return -EAGAIN;
	default: return -EIO;
	}
}

int scsi_command_result(const ScsiCommand *c)
{
	struct sg_scsi_sense_hdr s;

	if (c->status == STATUS_GOOD)
		return 0;
	if (c->status != STATUS_CHECK_CONDITION)
		return -EBUSY; /* busy, task set full, reserved by another */
	return scsi_command_sense(c, &s) ? scsi_sense_result(&s) : -EIO;
}

int scsi_command_run(int fd, ScsiCommand *c)
{
	int r = -EAGAIN;

	for (unsigned i = 0; i < SCSI_TRIES && r == -EAGAIN; i++) {
		r = scsi_command_send(fd, c);
		r = r < 0 ? r : scsi_command_result(c);
	}
	return r;
}
