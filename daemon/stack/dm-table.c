/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/dm-table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"

#define CONTROL "/dev/mapper/control"

/* The header, one target and its text. */
typedef struct Request {
	struct dm_ioctl header;
	struct dm_target_spec spec;
	char text[2048];
} Request;

/* 4.16 is the first that can tell of the table that waits. */
static void prepare_request(Request *q, dev_t devnum, uint32_t flags)
{
	*q = (Request){
		.header = {
			.version = { 4, 16, 0 },
			.data_size = sizeof(*q),
			.data_start = offsetof(Request, spec),
			.dev = devnum,
			.flags = flags,
		},
	};
}

static int send_request(unsigned long command, Request *q)
{
	_cleanup_close_ int fd = open(CONTROL, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno == ENODEV || errno == ENXIO ? -ENOENT : -errno;
	if (ioctl(fd, command, q) < 0)
		return errno == ENXIO ? -ENOENT : -errno;
	return q->header.flags & DM_BUFFER_FULL_FLAG ? -ENOBUFS : 0;
}

static uint32_t flags_of(DmPart part)
{
	switch (part) {
	case DM_WAITING: return DM_STATUS_TABLE_FLAG | DM_QUERY_INACTIVE_TABLE_FLAG;
	case DM_STATUS: return DM_NOFLUSH_FLAG;
	case DM_ACTIVE: break;
	}
	return DM_STATUS_TABLE_FLAG;
}

int dm_table_read(dev_t devnum, DmPart part, DmTable *ret)
{
	DmTable t = {};
	Request q;
	size_t n;
	int r;

	prepare_request(&q, devnum, flags_of(part));
	r = send_request(DM_TABLE_STATUS, &q);
	if (r < 0)
		return r;
	if (!q.header.target_count)
		return -ENOENT;
	if (q.header.target_count > 1)
		return -EMLINK;
	n = strnlen(q.text, sizeof(q.text));
	if (n >= sizeof(t.parameters))
		return -ENOBUFS;
	t.start = q.spec.sector_start;
	t.length = q.spec.length;
	memcpy(t.target, q.spec.target_type, sizeof(t.target) - 1);
	memcpy(t.parameters, q.text, n);
	t.read_only = q.header.flags & DM_READONLY_FLAG;
	t.suspended = q.header.flags & DM_SUSPEND_FLAG;
	t.waiting = q.header.flags & DM_INACTIVE_PRESENT_FLAG;
	*ret = t;
	return 0;
}

static int load_table(dev_t devnum, const DmTable *t)
{
	Request q;

	prepare_request(&q, devnum, t->read_only ? DM_READONLY_FLAG : 0);
	q.header.target_count = 1;
	q.spec.sector_start = t->start;
	q.spec.length = t->length;
	memcpy(q.spec.target_type, t->target, sizeof(t->target));
	memcpy(q.text, t->parameters, sizeof(t->parameters));
	return send_request(DM_TABLE_LOAD, &q);
}

/* The kernel's do_resume() (drivers/md/dm-ioctl.c) suspends first where a table waits. */
static int resume_device(dev_t devnum)
{
	Request q;

	prepare_request(&q, devnum, DM_SKIP_LOCKFS_FLAG);
	return send_request(DM_DEV_SUSPEND, &q);
}

int dm_table_replace(dev_t devnum, const DmTable *t)
{
	int r = load_table(devnum, t);

	if (r < 0)
		return r;
	r = resume_device(devnum);
	if (r < 0)
		dm_table_clear(devnum);
	return r;
}

int dm_table_clear(dev_t devnum)
{
	Request q;

	prepare_request(&q, devnum, 0);
	return send_request(DM_TABLE_CLEAR, &q);
}
