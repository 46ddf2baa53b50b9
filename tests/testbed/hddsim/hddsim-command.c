/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a command is answered with, and the log of it. */

#include "hddsim.h"

#include <stdarg.h>
#include <stdlib.h>

#define STATUS_CHECK_CONDITION 2

/* What the answer does not fill is zeroed: the buffers still hold other commands' data. */
void command_put(Command *c, const void *data, size_t size)
{
	const uint8_t *p = data;

	c->data_bytes = 0;
	for (unsigned i = 0; i < c->n_iov; i++) {
		size_t n = MIN(c->iov[i].iov_len, size);

		memcpy(c->iov[i].iov_base, p, n);
		memset((uint8_t *)c->iov[i].iov_base + n, 0, c->iov[i].iov_len - n);
		p += n;
		size -= n;
		c->data_bytes += n;
	}
}

size_t command_get(const Command *c, void *data, size_t size)
{
	uint8_t *p = data;

	for (unsigned i = 0; i < c->n_iov && size; i++) {
		size_t n = MIN(c->iov[i].iov_len, size);

		memcpy(p, c->iov[i].iov_base, n);
		p += n;
		size -= n;
	}
	return (size_t)(p - (uint8_t *)data);
}

/* Fixed format, SPC-4 4.5.3. */
void command_fail(Command *c, uint8_t key, uint8_t code, uint8_t qualifier)
{
	memset(c->sense, 0, sizeof(c->sense));
	c->status = STATUS_CHECK_CONDITION;
	c->sense[0] = 0x70;
	c->sense[2] = key;
	c->sense[7] = 10;
	c->sense[12] = code;
	c->sense[13] = qualifier;
}

/* ATA status return descriptor, SAT-3 12.2.7, as libata gives it. */
void ata_return(Command *c, uint8_t error, uint8_t status)
{
	memset(c->sense, 0, sizeof(c->sense));
	c->status = STATUS_CHECK_CONDITION;
	c->sense[0] = 0x72;
	c->sense[1] = error ? 0x0b : 0x01; /* aborted command, or recovered error */
	c->sense[3] = error ? 0x00 : 0x1d; /* ATA pass-through information available */
	c->sense[7] = 14;
	c->sense[8] = 0x09;
	c->sense[9] = 12;
	c->sense[11] = error;
	c->sense[13] = c->ata_count;
	c->sense[20] = 0x40;
	c->sense[21] = status;
}

void command_log(Sim *s, const char *format, ...)
{
	va_list ap;

	if (!s->log)
		return;
	fprintf(s->log, "%.6f ", (double)s->now_us / USEC_PER_SEC);
	va_start(ap, format);
	vfprintf(s->log, format, ap);
	va_end(ap);
	fputc('\n', s->log);
	fflush(s->log);
}

static unsigned cdb_length(uint8_t code)
{
	static const uint8_t lengths[8] = { 6, 10, 10, 16, 16, 12, 16, 16 };

	return lengths[code >> 5];
}

static void log_result(Sim *s, const Command *c)
{
	char hex[2 * CDB_BYTES + 1], result[40] = "good";
	bool fixed = c->sense[0] == 0x70;

	for (unsigned i = 0; i < cdb_length(c->cdb[0]); i++)
		snprintf(hex + 2 * i, 3, "%02x", c->cdb[i]);
	if (c->status && fixed)
		snprintf(result, sizeof(result), "check:%x/%02x/%02x", c->sense[2], c->sense[12],
			 c->sense[13]);
	else if (c->status)
		snprintf(result, sizeof(result), "ata:status=%02x,error=%02x,count=%02x",
			 c->sense[21], c->sense[11], c->sense[13]);
	command_log(s, "%s %s %s", hex, result, condition_name(s->state.target));
}

void command_complete(Sim *s, Command *c)
{
	bool io = c->mechanics == MECHANICS_READ || c->mechanics == MECHANICS_WRITE;

	if (c->ata && c->check_condition && !c->status)
		ata_return(c, 0, 0x50);
	if (!io || c->status)
		log_result(s, c);
	ring_complete(&s->ring, c);
	free(c);
}

static size_t buffer_bytes(const Command *c)
{
	size_t total = 0;

	for (unsigned i = 0; i < c->n_iov; i++)
		total += c->iov[i].iov_len;
	return total;
}

bool command_media(Sim *s, Command *c, Mechanics what, uint64_t block, uint32_t blocks)
{
	uint64_t end = s->options.size_bytes / BLOCK_BYTES;

	if (block >= end || blocks > end - block) {
		command_fail(c, 0x05, 0x21, 0x00); /* beyond the last block */
		return false;
	}
	if (blocks && buffer_bytes(c) != (size_t)blocks * BLOCK_BYTES) {
		command_fail(c, 0x05, 0x24, 0x00); /* the length is not the buffers' */
		return false;
	}
	c->mechanics = what;
	c->block = block;
	c->blocks = blocks;
	return true;
}

bool command_power(Sim *s, Command *c, Condition target, bool holds_timers)
{
	if (s->state.faults.refuse[target])
		return false;
	if (s->state.faults.ignore)
		return true;
	c->mechanics = MECHANICS_POWER;
	c->target = target;
	c->holds_timers = holds_timers;
	return true;
}
