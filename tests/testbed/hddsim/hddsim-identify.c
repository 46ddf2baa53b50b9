/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* IDENTIFY DEVICE, ACS-3 table 45. */

#include "hddsim.h"

#include <endian.h>

/* Text in words, first character in the high byte. */
static void put_text(uint16_t *words, unsigned n, const char *text)
{
	size_t length = strlen(text);

	for (unsigned i = 0; i < n; i++) {
		uint8_t high = 2 * i < length ? text[2 * i] : ' ';
		uint8_t low = 2 * i + 1 < length ? text[2 * i + 1] : ' ';

		words[i] = high << 8 | low;
	}
}

static void put_size(const Sim *s, uint16_t *w)
{
	uint64_t blocks = s->options.size_bytes / BLOCK_BYTES;
	uint32_t small = (uint32_t)MIN(blocks, (uint64_t)0x0fffffff);

	w[60] = small & 0xffff;
	w[61] = small >> 16;
	for (unsigned i = 0; i < 4; i++)
		w[100 + i] = blocks >> 16 * i & 0xffff;
}

static void put_name(const Sim *s, uint16_t *w)
{
	uint64_t name = 0x5001405ULL << 36 | name_hash(&s->options);

	put_text(w + 10, 10, s->options.serial);
	put_text(w + 23, 4, "SIM1");
	put_text(w + 27, 20, s->options.model);
	for (unsigned i = 0; i < 4; i++)
		w[108 + i] = name >> (48 - 16 * i) & 0xffff;
}

static void put_features(const Sim *s, uint16_t *w)
{
	bool epc = s->options.epc, apm = s->options.apm;

	w[80] = 0x03f0;                      /* ATA/ATAPI-4 to ACS-2 */
	w[82] = 0x0068;                      /* power management, write cache, look-ahead */
	w[83] = 0x7400 | (apm ? 0x0008 : 0); /* 48 bits, FLUSH CACHE (EXT) */
	w[84] = 0x4000 | 0x0120;             /* world wide name, general purpose logs */
	w[85] = s->write_cache ? 0x0068 : 0x0048;
	w[86] = 0x8000 | 0x3400 | (s->apm ? 0x0008 : 0); /* words 119 and 120 are valid */
	w[87] = w[84];
	w[91] = s->apm;
	w[119] = 0x4000 | (epc ? 0x0080 : 0);
	w[120] = 0x4000 | (s->epc_enabled ? 0x0080 : 0);
}

static void put_transport(uint16_t *w)
{
	w[0] = 0x0040;
	w[47] = 0x8010;
	w[49] = 0x2f00; /* standby timers as in the standard, IORDY, LBA, DMA */
	w[50] = 0x4000;
	w[53] = 0x0006; /* words 64 to 70 and 88 are valid */
	w[63] = 0x0007;
	w[64] = 0x0003;
	for (unsigned i = 65; i <= 68; i++)
		w[i] = 120;
	w[75] = 31;     /* queue depth - 1 */
	w[76] = 0x010e; /* SATA to 6 Gb/s, NCQ */
	w[88] = 0x407f;
	w[106] = 0x4000; /* physical blocks as the logical */
	w[217] = 7200;
	w[222] = 0x107f; /* SATA */
}

void ata_identify(const Sim *s, uint8_t page[BLOCK_BYTES])
{
	uint16_t words[BLOCK_BYTES / 2] = { 0 };
	uint8_t sum = 0;

	put_transport(words);
	put_name(s, words);
	put_size(s, words);
	put_features(s, words);
	for (unsigned i = 0; i < ELEMENTSOF(words); i++)
		words[i] = htole16(words[i]);
	memcpy(page, words, BLOCK_BYTES);
	page[510] = 0xa5;
	for (unsigned i = 0; i < BLOCK_BYTES - 1; i++)
		sum += page[i];
	page[511] = (uint8_t)-sum;
}
