/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Get Log Page: SMART (02h) with the power that NVMe 2.3 adds, power measurement (25h), OCP device
 * capabilities (C4h). Offsets of the NVMe base and OCP Datacenter NVMe SSD specifications. */

#include <math.h>

#include "nvmesim.h"

#define PAGE_MAX 4096

enum { PAGE_ERRORS = 0x01, PAGE_SMART = 0x02, PAGE_FIRMWARE = 0x03, PAGE_POWER = 0x25 };

static void smart(Sim *s, uint8_t *p)
{
	double watts = energy_watts(s);

	put16(p + 1, (uint16_t)(303 + lround(watts)));
	p[3] = 100;
	p[4] = 10;
	/* thousands of 512 bytes */
	put64(p + 32, s->counters.bytes[READS] / 512000);
	put64(p + 48, s->counters.bytes[WRITES] / 512000);
	put64(p + 64, s->counters.ios[READS]);
	put64(p + 80, s->counters.ios[WRITES]);
	if (s->options.no_self_report)
		return;
	put64(p + 232, (uint64_t)(s->energy.joules / 3600)); /* lifetime energy, Wh */
	put32(p + 240, watts_field(watts));                  /* mean of a second */
}

/* DSSD power states are watts in descending order, bit 7 says that the entry is valid. */
static void ocp_capabilities(const Sim *s, uint8_t *p)
{
	static const uint8_t guid[16] = { 0x97, 0x42, 0x05, 0x0d, 0xd1, 0xe1, 0xc9, 0x98,
					  0x5d, 0x49, 0x58, 0x4b, 0x91, 0x3c, 0x05, 0xb7 };
	unsigned lowest = (unsigned)ceil(s->drive.limit_min_w);
	unsigned highest = MIN((unsigned)drive_rated_w(&s->drive), 127u);

	put16(p + 14, (uint16_t)lowest);
	for (unsigned w = highest, i = 0; w >= lowest && i < 128; w--, i++)
		p[16 + i] = (uint8_t)(0x80 | w);
	put16(p + 4078, 1);
	memcpy(p + 4080, guid, sizeof(guid));
}

static uint16_t fill(Sim *s, const Command *c, uint8_t *p)
{
	switch (cdw(c, 10) & 0xff) {
	case PAGE_ERRORS:
	case PAGE_FIRMWARE: return OK;
	case PAGE_SMART: smart(s, p); return OK;
	case PAGE_POWER:
		if (!s->options.measurement)
			return INVALID_LOG_PAGE;
		measurement_page(s, p);
		return OK;
	case 0xc4:
		if (!s->options.ocp || (cdw(c, 14) & 0x7f) != 1)
			return INVALID_LOG_PAGE;
		ocp_capabilities(s, p);
		return OK;
	default: return INVALID_LOG_PAGE;
	}
}

void log_page(Sim *s, const Command *c)
{
	uint64_t offset = cdw(c, 12) | (uint64_t)cdw(c, 13) << 32;
	size_t n = MIN((size_t)command_length(c), (size_t)PAGE_MAX);
	uint8_t page[2 * PAGE_MAX] = { 0 };
	uint16_t status = offset > PAGE_MAX ? INVALID_FIELD : fill(s, c, page);

	command_reply(s, c, status, 0, page + (status ? 0 : offset), n);
}
