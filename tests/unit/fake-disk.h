/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A SATA or SAS disk in the place of the kernel: libsgutils2's ioctl() ends here, so that every
 * byte of a command is seen as the kernel would. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>
#include <scsi/sg.h>

#include "base/text.h"

#define GOOD            0
#define CHECK_CONDITION 2

typedef struct FakeDisk {
	/* what it is */
	bool ata;
	uint8_t identify[512], log[1024], vpd[18], mode[64];
	bool no_vpd, no_mode, no_log, knows_lu_control;
	/* where it is */
	uint8_t power_mode;     /* of CHECK POWER MODE */
	uint8_t key, asc, ascq; /* of REQUEST SENSE */
	unsigned attentions;    /* pending */
	unsigned busy;          /* REQUEST SENSE says so, so many times */
	/* what it does wrong */
	int error;                /* errno of ioctl() */
	uint8_t host_status;      /* the command did not get there */
	uint8_t status;           /* SCSI status of every command */
	bool aborts, faults;      /* every ATA command but CHECK POWER MODE */
	bool fixed, no_registers; /* how the HBA tells them */
	bool refuses;             /* every START STOP UNIT */
	uint8_t short_by;         /* bytes of data that do not come */
	/* what was seen */
	char seen[4096]; /* the commands, in hex, one a line: "CDB DIRECTION LENGTH SECONDS" */
	char folder[64], node[80];
} FakeDisk;

static FakeDisk disk;

static inline void fake_sense(sg_io_hdr_t *h, const uint8_t *sense, size_t n)
{
	h->status = CHECK_CONDITION;
	h->sb_len_wr = (unsigned char)MIN(n, (size_t)h->mx_sb_len);
	h->driver_status = 0x08;
	memcpy(h->sbp, sense, h->sb_len_wr);
}

static inline void fake_fail(sg_io_hdr_t *h, uint8_t key, uint8_t asc, uint8_t ascq)
{
	const uint8_t sense[18] = { 0x70, 0, key, [7] = 10, [12] = asc, [13] = ascq };

	fake_sense(h, sense, sizeof(sense));
}

static inline void fake_give(sg_io_hdr_t *h, const void *data, size_t n)
{
	n = MIN(n, (size_t)h->dxfer_len);
	n -= MIN(n, (size_t)disk.short_by);
	memcpy(h->dxferp, data, n);
	h->resid = (int)(h->dxfer_len - n);
}

static inline void fake_registers(sg_io_hdr_t *h, uint8_t error, uint8_t count, uint8_t status)
{
	const uint8_t fixed[18] = { 0x70,  0,  error ? 0xb : 1, error,      status, 0x40,
				    count, 10, [12] = 0,        [13] = 0x1d };
	const uint8_t descriptor[22] = { 0x72, error ? 0xb : 1, 0, 0x1d,  [7] = 14,    [8] = 9, 12,
					 0,    error,           0, count, [20] = 0x40, status };

	if (disk.no_registers)
		return;
	if (disk.fixed)
		fake_sense(h, fixed, sizeof(fixed));
	else
		fake_sense(h, descriptor, sizeof(descriptor));
}

static inline uint8_t fake_mode_after(const uint8_t *cdb)
{
	switch (cdb[14]) {
	case 0xe0: return 0x00;
	case 0xe1: return 0x80;
	case 0xef: return cdb[6];
	default: return 0xff;
	}
}

static inline void fake_ata(const uint8_t *cdb, sg_io_hdr_t *h)
{
	uint8_t command = cdb[14];

	if (command == 0xe5) {
		fake_registers(h, 0, disk.power_mode, 0x50);
	} else if (disk.aborts || disk.faults || (command == 0x2f && disk.no_log)) {
		fake_registers(h, disk.faults ? 0x10 : 0x04, 0, disk.faults ? 0x70 : 0x51);
	} else if (command == 0xec) {
		fake_give(h, disk.identify, sizeof(disk.identify));
	} else if (command == 0x2f) {
		fake_give(h, disk.log, sizeof(disk.log));
	} else {
		if (command != 0xe7 && command != 0xea)
			disk.power_mode = fake_mode_after(cdb);
		fake_registers(h, 0, 0, 0x50);
	}
}

/* 5E/xx by command */
static inline uint8_t fake_qualifier(const uint8_t *cdb)
{
	static const uint8_t idle[] = { 0x03, 0x06, 0x08 }, standby[] = { 0x04, 0x0a };

	return cdb[4] >> 4 == 2 ? idle[cdb[3]] : standby[cdb[3]];
}

static inline void fake_start_stop(const uint8_t *cdb, sg_io_hdr_t *h)
{
	uint8_t what = cdb[4] >> 4;

	assert_true(cdb[4] & 1); /* never a stop, whatever the disk knows */
	if (disk.refuses || (what == 7 && !disk.knows_lu_control)) {
		fake_fail(h, 5, 0x24, 0);
	} else if (what != 7) {
		disk.key = 0;
		disk.asc = what == 1 ? 0 : 0x5e;
		disk.ascq = what == 1 ? 0 : fake_qualifier(cdb);
	}
}

static inline void fake_request_sense(sg_io_hdr_t *h)
{
	uint8_t data[18] = { 0x70, 0, disk.key, [7] = 10, [12] = disk.asc, [13] = disk.ascq };

	if (disk.attentions) {
		disk.attentions--;
		data[2] = 6;
		data[12] = 0x29;
		data[13] = 0;
	} else if (disk.busy) {
		disk.busy--;
		data[2] = 2;
		data[12] = 0x04;
		data[13] = 0x1b;
	}
	fake_give(h, data, sizeof(data));
}

static inline void fake_scsi(const uint8_t *cdb, sg_io_hdr_t *h)
{
	switch (cdb[0]) {
	case 0x03: fake_request_sense(h); return;
	case 0x12:
		if (disk.no_vpd)
			fake_fail(h, 5, 0x24, 0);
		else
			fake_give(h, disk.vpd, sizeof(disk.vpd));
		return;
	case 0x5a:
		if (disk.no_mode)
			fake_fail(h, 5, 0x24, 0);
		else
			fake_give(h, disk.mode, sizeof(disk.mode));
		return;
	case 0x1b: fake_start_stop(cdb, h); return;
	case 0x35: return;
	default: fake_fail(h, 5, 0x20, 0);
	}
}

static inline void fake_note(const sg_io_hdr_t *h)
{
	char *at = disk.seen + strlen(disk.seen);

	assert_true(sizeof(disk.seen) - strlen(disk.seen) > 80);
	for (unsigned i = 0; i < h->cmd_len; i++)
		at += sprintf(at, "%02x", h->cmdp[i]);
	sprintf(at, " %s %u %u\n",
		h->dxfer_direction == SG_DXFER_FROM_DEV ? "in"
		: h->dxfer_direction == SG_DXFER_NONE   ? "none"
							: "out",
		h->dxfer_len, h->timeout / 1000);
}

static inline int fake_sg_io(sg_io_hdr_t *h)
{
	assert_int_equal(h->interface_id, 'S');
	fake_note(h);
	if (disk.error) {
		errno = disk.error;
		return -1;
	}
	h->status = disk.status;
	h->host_status = disk.host_status;
	h->driver_status = 0;
	h->sb_len_wr = 0;
	h->resid = (int)h->dxfer_len;
	if (disk.status || disk.host_status)
		return 0;
	if (disk.attentions && h->cmdp[0] != 0x03 && h->cmdp[0] != 0x12) {
		disk.attentions--;
		fake_fail(h, 6, 0x29, 0);
	} else if (disk.ata) {
		if (h->cmdp[0] == 0x85)
			fake_ata(h->cmdp, h);
		else
			fake_fail(h, 5, 0x20, 0);
	} else {
		fake_scsi(h->cmdp, h);
	}
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *argument;

	va_start(ap, request);
	argument = va_arg(ap, void *);
	va_end(ap);
	if (request == SG_IO)
		return fake_sg_io(argument);
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

static inline void fake_word(unsigned n, unsigned value)
{
	disk.identify[2 * n] = value & 0xff;
	disk.identify[2 * n + 1] = value >> 8 & 0xff;
}

/* An attribute below its folder of sysfs; folders in between are made. */
static inline void fake_attribute(const char *name, const char *text)
{
	_cleanup_free_ char *path = text_printf("%s/%s", disk.folder, name);
	_cleanup_fclose_ FILE *f = NULL;

	assert_non_null(path);
	for (char *c = path + strlen(disk.folder) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(path, 0755);
		*c = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
}

static inline void fake_begin(bool ata)
{
	disk = (FakeDisk){ .ata = ata, .power_mode = 0xff, .knows_lu_control = true };
	strcpy(disk.folder, "/tmp/fake-disk-XXXXXX");
	assert_non_null(mkdtemp(disk.folder));
	snprintf(disk.node, sizeof(disk.node), "%s/node", disk.folder);
	fake_attribute("node", "");
	fake_attribute("vendor", ata ? "ATA     \n" : "SEAGATE \n");
	fake_attribute("power/runtime_status", "active\n");
}

static inline void fake_end(void)
{
	_cleanup_free_ char *command = text_printf("rm -r '%s'", disk.folder);

	assert_int_equal(system(command), 0);
}

/* A disk with EPC, but without standby_y. */
static inline void fake_begin_epc(void)
{
	fake_begin(true);
	fake_word(83, 0x7400);
	fake_word(119, 0x4080);
	fake_word(120, 0x4080);
	disk.log[1] = disk.log[64 + 1] = disk.log[128 + 1] = 0xf0;
	disk.log[512 + 448 + 1] = 0x80;
}

static inline void fake_begin_sas(void)
{
	static const uint8_t vpd[18] = { 0,    0x8a, 0,    14, 0x03, 0x07, 0,    100,  0x3a,
					 0x98, 0x13, 0x88, 0,  10,   0x02, 0x8a, 0x13, 0x88 };

	fake_begin(false);
	memcpy(disk.vpd, vpd, sizeof(vpd));
}
