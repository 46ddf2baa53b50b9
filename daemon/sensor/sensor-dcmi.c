/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Data Center Manageability Interface 1.5, 6.6.1 Get Power Reading, through the kernel's IPMI
 * device (Documentation/driver-api/ipmi.rst): NetFn 2Ch, command 02h, group extension DCh. */

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>

#include "sensor/sensor-private.h"

#define NETFN_DCGRP     0x2c
#define CMD_GET_READING 0x02
#define GROUP_DCMI      0xdc
#define MODE_SYSTEM     0x01
#define REPLY_MS        2000
#define REPLY_LENGTH    19   /* completion code to power reading state */
#define STATE_ACTIVE    0x40 /* the measurement is going on */

static int send_request(Sensor *s)
{
	struct ipmi_system_interface_addr bmc = { .addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE,
						  .channel = IPMI_BMC_CHANNEL };
	unsigned char data[] = { GROUP_DCMI, MODE_SYSTEM, 0, 0 };
	struct ipmi_req request = {
		.addr = (unsigned char *)&bmc,
		.addr_len = sizeof(bmc),
		.msgid = (long)++s->seq,
		.msg = { .netfn = NETFN_DCGRP,
			 .cmd = CMD_GET_READING,
			 .data = data,
			 .data_len = sizeof(data) },
	};

	return ioctl(s->fd, IPMICTL_SEND_COMMAND, &request) < 0 ? -errno : 0;
}

/* The answer to an earlier request that was given up may still come, and is ignored. */
static int receive_answer(Sensor *s, unsigned char *data, size_t size)
{
	struct pollfd readable = { .fd = s->fd, .events = POLLIN };
	struct ipmi_addr address;
	struct ipmi_recv reply;
	int r;

	do {
		r = poll(&readable, 1, REPLY_MS);
		if (r < 0)
			return -errno;
		if (r == 0)
			return -ETIMEDOUT;
		reply = (struct ipmi_recv){ .addr = (unsigned char *)&address,
					    .addr_len = sizeof(address),
					    .msg = { .data = data, .data_len = (short)size } };
		if (ioctl(s->fd, IPMICTL_RECEIVE_MSG_TRUNC, &reply) < 0)
			return -errno;
	} while (reply.msgid != (long)s->seq);
	return reply.msg.data_len;
}

/* data: completion code, DCh, then watts now, least, most, mean (16 bits each, low byte first),
 * time stamp, period, state. */
static int decode_answer(const unsigned char *data, int length, double *ret_w)
{
	if (length < 1)
		return -EBADMSG;
	if (data[0])
		return -EOPNOTSUPP; /* this BMC does not measure power by DCMI */
	if (length < REPLY_LENGTH || data[1] != GROUP_DCMI)
		return -EBADMSG;
	if (!(data[18] & STATE_ACTIVE))
		return -ENODATA;
	*ret_w = data[2] | data[3] << 8;
	return 0;
}

static int ask_bmc(Sensor *s, double *ret_w)
{
	unsigned char data[IPMI_MAX_MSG_LENGTH] = {};
	int r = send_request(s);

	if (r >= 0)
		r = receive_answer(s, data, sizeof(data));
	return r < 0 ? r : decode_answer(data, r, ret_w);
}

int sensor_dcmi_read(Sensor *s, double *ret_w)
{
	int r;

	if (s->fd < 0) {
		s->fd = open(s->config.input ?: "/dev/ipmi0", O_RDWR | O_CLOEXEC);
		if (s->fd < 0)
			return -errno;
	}
	r = ask_bmc(s, ret_w);
	if (r < 0 && r != -ENODATA) {
		closep(&s->fd);
		s->fd = -EBADF;
	}
	return r;
}
