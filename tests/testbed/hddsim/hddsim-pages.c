/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* INQUIRY with its vital product data, and the log page that counts cycles. */

#include "hddsim.h"

#define RPM 7200

static void put_text(uint8_t *p, size_t size, const char *text)
{
	size_t n = MIN(strlen(text), size);

	memset(p, ' ', size);
	memcpy(p, text, n);
}

static void standard(const Sim *s, Command *c)
{
	uint8_t data[96] = { 0, 0, 6, 2, sizeof(data) - 5, 0, 0, 2 };

	put_text(data + 8, 8, s->options.sas ? "SEAGATE" : "ATA");
	put_text(data + 16, 16, s->options.model);
	put_text(data + 32, 4, "SIM1");
	command_put(c, data, sizeof(data));
}

static size_t page_list(const Sim *s, uint8_t *data)
{
	static const uint8_t of_sas[] = { 0x00, 0x80, 0x83, 0x8a, 0xb0, 0xb1 };
	static const uint8_t of_ata[] = { 0x00, 0x80, 0x83, 0x89, 0xb0, 0xb1 };

	memcpy(data + 4, s->options.sas ? of_sas : of_ata, sizeof(of_sas));
	return sizeof(of_sas);
}

static size_t serial(const Sim *s, uint8_t *data)
{
	put_text(data + 4, 20, s->options.serial);
	return 20;
}

static size_t identification(const Sim *s, uint8_t *data)
{
	data[4] = 0x01; /* binary */
	data[5] = 0x03; /* NAA, of the logical unit */
	data[7] = 8;
	put_be64(data + 8, 0x5001405ULL << 36 | name_hash(&s->options));
	return 12;
}

/* SAT-3 12.4.2 */
static size_t ata_information(const Sim *s, uint8_t *data)
{
	put_text(data + 8, 8, "hddsim");
	put_text(data + 16, 16, "SAT");
	put_text(data + 32, 4, "1");
	data[36] = 0x34; /* a register FIS of the disk */
	data[56] = 0xec;
	ata_identify(s, data + 60);
	return 568;
}

/* Recovery times in ms, SPC-4 7.8.12. */
static size_t power_conditions(const Sim *s, uint8_t *data)
{
	static const Condition order[] = { CONDITION_STOPPED,   CONDITION_STANDBY_Z,
					   CONDITION_STANDBY_Y, CONDITION_IDLE_A,
					   CONDITION_IDLE_B,    CONDITION_IDLE_C };

	data[4] = 0x03;
	data[5] = 0x07;
	for (unsigned i = 0; i < ELEMENTSOF(order); i++) {
		uint64_t ms = s->options.conditions[order[i]].recovery_us / USEC_PER_MSEC;

		put_be16(data + 6 + 2 * i, (uint16_t)MIN(ms, (uint64_t)UINT16_MAX));
	}
	return 14;
}

static size_t block_limits(uint8_t *data)
{
	put_be32(data + 8, 2048); /* blocks a transfer */
	return 60;
}

static size_t characteristics(uint8_t *data)
{
	put_be16(data + 4, RPM);
	data[7] = 0x02; /* 3.5 inch */
	return 60;
}

static void vital_product_data(const Sim *s, Command *c)
{
	uint8_t data[1024] = { 0, c->cdb[2] };
	bool sas = s->options.sas;
	size_t size = 0;

	switch (c->cdb[2]) {
	case 0x00: size = page_list(s, data); break;
	case 0x80: size = serial(s, data); break;
	case 0x83: size = identification(s, data); break;
	case 0x89: size = sas ? 0 : ata_information(s, data); break;
	case 0x8a: size = sas ? power_conditions(s, data) : 0; break;
	case 0xb0: size = block_limits(data); break;
	case 0xb1: size = characteristics(data); break;
	}
	if (!size) {
		command_fail(c, 0x05, 0x24, 0x00);
		return;
	}
	put_be16(data + 2, (uint16_t)size);
	command_put(c, data, MIN(size + 4, (size_t)get_be16(c->cdb + 3)));
}

void scsi_inquiry(Sim *s, Command *c)
{
	if (c->cdb[1] & 1)
		vital_product_data(s, c);
	else
		standard(s, c);
}

static uint8_t *parameter(uint8_t *p, uint16_t code, const void *value, uint8_t size)
{
	put_be16(p, code);
	p[2] = 0x03; /* a list parameter, binary */
	p[3] = size;
	memcpy(p + 4, value, size);
	return p + 4 + size;
}

static uint8_t *counter(uint8_t *p, uint16_t code, unsigned long value)
{
	uint8_t bytes[4];

	put_be32(bytes, (uint32_t)value);
	return parameter(p, code, bytes, sizeof(bytes));
}

/* Start-stop cycle counter, SPC-4 7.3.20. The ratings are those of the profile's data sheet. */
static uint8_t *cycle_counters(const Sim *s, uint8_t *p)
{
	const Options *o = &s->options;

	p = parameter(p, 1, "202601", 6);
	p = parameter(p, 2, "      ", 6);
	p = counter(p, 3, 50000);
	p = counter(p, 4, o->start_stops + s->state.stops);
	p = counter(p, 5, 600000);
	return counter(p, 6, o->load_unloads + s->state.unloads);
}

void scsi_log_sense(Sim *s, Command *c)
{
	uint8_t data[128] = { c->cdb[2] & 0x3f };
	uint8_t *end = data + 4;

	switch (data[0]) {
	case 0x00:
		*end++ = 0x00;
		*end++ = 0x0e;
		break;
	case 0x0e: end = cycle_counters(s, end); break;
	default: command_fail(c, 0x05, 0x24, 0x00); return;
	}
	put_be16(data + 2, (uint16_t)(end - data - 4));
	command_put(c, data, MIN((size_t)(end - data), (size_t)get_be16(c->cdb + 7)));
}
