/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Identify. Offsets of the NVMe base specification's data structures. */

#include <math.h>

#include "nvmesim.h"

#define PAGE 4096

enum { CNS_NAMESPACE = 0, CNS_CONTROLLER, CNS_LIST, CNS_DESCRIPTORS, CNS_UUIDS = 0x17 };

#define CTRATT_UUIDS       (1u << 9)
#define CTRATT_LIMIT       (1u << 20)
#define CTRATT_MEASUREMENT (1u << 21)

static void put_text(uint8_t *p, size_t size, const char *text)
{
	memset(p, ' ', size);
	memcpy(p, text, MIN(strlen(text), size));
}

/* In units of 0.1 mW where that fits, else of 10 mW. */
static void put_state(uint8_t *p, const Drive *d, unsigned i)
{
	const DriveState *state = &d->states[i];
	bool fine = state->max_w < 1;
	unsigned rank = state->non_operational ? 0 : i;

	put16(p, (uint16_t)lround(state->max_w * (fine ? 10000 : 100)));
	p[3] = (uint8_t)(fine | (state->non_operational ? 2 : 0));
	put32(p + 4, state->entry_us);
	put32(p + 8, state->exit_us);
	memset(p + 12, (int)rank, 4); /* relative read and write throughput and latency */
	put16(p + 16, (uint16_t)lround(MIN(d->idle_w, state->max_w) * (fine ? 10000 : 100)));
	p[18] = fine ? 1 << 6 : 2 << 6;
}

static bool has_non_operational(const Drive *d)
{
	for (unsigned i = 0; i < d->n_states; i++)
		if (d->states[i].non_operational)
			return true;
	return false;
}

static void identify_controller(const Sim *s, uint8_t *p)
{
	const Options *o = &s->options;

	put_text(p + 4, 20, o->serial);
	put_text(p + 24, 40, s->drive.model);
	put_text(p + 64, 8, STORPOWER_VERSION);
	p[77] = 8; /* MDTS: IO_MAX_BYTES */
	put16(p + 78, 1);
	put32(p + 80, 0x10400);
	put32(p + 84, 1000000);
	put32(p + 88, 1000000);
	put32(p + 96, (o->ocp ? CTRATT_UUIDS : 0) | (o->limit ? CTRATT_LIMIT : 0) |
			      (o->measurement ? CTRATT_MEASUREMENT : 0));
	p[111] = 1; /* IO controller */
	p[258] = 3;
	p[259] = 3;
	p[261] = 4; /* log pages take offsets */
	p[263] = (uint8_t)(s->drive.n_states - 1);
	p[265] = has_non_operational(&s->drive);
	put16(p + 266, 343);
	put16(p + 268, 353);
	put16(p + 320, 10); /* keep alive granularity: 1 s */
	p[512] = 0x66;
	p[513] = 0x44;
	put16(p + 514, 128);
	put32(p + 516, 1);
	put32(p + 536, 1 | 1 << 20); /* SGLs, offsets in capsules */
	memcpy(p + 768, o->nqn, strlen(o->nqn));
	put32(p + 1792, (64 + o->in_capsule_bytes) / 16);
	put32(p + 1796, 1);
	p[1803] = 1;
	for (unsigned i = 0; i < s->drive.n_states; i++)
		put_state(p + 2048 + 32 * i, &s->drive, i);
}

/* Unique by the name: the kernel refuses two namespaces of one NGUID (FNV-1a, twice). */
static void put_nguid(uint8_t *p, const char *nqn)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (unsigned half = 0; half < 2; half++) {
		for (const char *c = nqn; *c; c++)
			hash = (hash ^ (uint8_t)*c) * 0x100000001b3ULL;
		put64(p + 8 * half, hash);
	}
}

static void identify_namespace(const Sim *s, uint8_t *p)
{
	uint64_t sectors = s->options.size_bytes / SECTOR_BYTES;

	put64(p, sectors);
	put64(p + 8, sectors);
	put64(p + 16, sectors);
	put_nguid(p + 104, s->options.nqn);
	p[130] = 9; /* sectors of 2^9 bytes */
}

static void put_uuids(uint8_t *p)
{
	/* OCP Datacenter NVMe SSD Specification 2.0; its index is 1 */
	static const uint8_t ocp[16] = { 0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94,
					 0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe, 0x6f };

	memcpy(p + 32 + 16, ocp, sizeof(ocp));
}

void identify(Sim *s, const Command *c)
{
	uint32_t nsid = get32(c->sqe + 4);
	uint8_t page[PAGE] = { 0 };
	uint16_t status = OK;

	switch (cdw(c, 10) & 0xff) {
	case CNS_NAMESPACE:
		if (nsid == 1 || nsid == UINT32_MAX)
			identify_namespace(s, page);
		else
			status = INVALID_NAMESPACE;
		break;
	case CNS_CONTROLLER: identify_controller(s, page); break;
	case CNS_LIST: put32(page, nsid < 1); break;
	case CNS_DESCRIPTORS:
		page[0] = 2; /* NGUID */
		page[1] = 16;
		put_nguid(page + 4, s->options.nqn);
		break;
	case CNS_UUIDS:
		if (s->options.ocp)
			put_uuids(page);
		else
			status = INVALID_FIELD;
		break;
	default: status = INVALID_FIELD;
	}
	command_reply(s, c, status, 0, page, MIN((size_t)command_length(c), sizeof(page)));
}
