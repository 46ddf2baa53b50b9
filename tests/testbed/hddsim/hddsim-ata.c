/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ATA commands as they come through ATA PASS-THROUGH (SAT-3 12.2, ACS-3 7). */

#include "hddsim.h"

#define ATA_ERROR_ABORT 0x04

void ata_abort(Command *c)
{
	ata_return(c, ATA_ERROR_ABORT, 0x51);
}

static AtaTask task_of(const uint8_t *cdb)
{
	AtaTask t;
	bool extended = cdb[0] == 0x85 && cdb[1] & 1;

	if (cdb[0] == 0xa1)
		return (AtaTask){ .feature = cdb[3],
				  .count = cdb[4],
				  .lba = cdb[5] | cdb[6] << 8 | cdb[7] << 16 |
					 (uint64_t)(cdb[8] & 0xf) << 24,
				  .command = cdb[9] };
	t = (AtaTask){ .feature = cdb[4],
		       .count = cdb[6],
		       .lba = cdb[8] | cdb[10] << 8 | cdb[12] << 16,
		       .command = cdb[14] };
	if (extended) {
		t.count |= cdb[5] << 8;
		t.lba |= (uint64_t)cdb[7] << 24 | (uint64_t)cdb[9] << 32 | (uint64_t)cdb[11] << 40;
	} else {
		t.lba |= (uint64_t)(cdb[13] & 0xf) << 24;
	}
	return t;
}

static void power(Sim *s, Command *c, Condition target, bool holds_timers)
{
	if (!command_power(s, c, target, holds_timers))
		ata_abort(c);
}

/* ACS-3 table 57: without EPC an idle disk is just idle. */
static uint8_t power_mode(const Sim *s)
{
	static const uint8_t modes[CONDITIONS] = {
		[CONDITION_ACTIVE] = 0xff,    [CONDITION_IDLE_A] = 0x81,
		[CONDITION_IDLE_B] = 0x82,    [CONDITION_IDLE_C] = 0x83,
		[CONDITION_STANDBY_Y] = 0x01, [CONDITION_STANDBY_Z] = 0x00,
	};
	Condition now = s->state.target;

	if (s->epc_enabled || now == CONDITION_ACTIVE || now == CONDITION_STANDBY_Z)
		return modes[now];
	return now < CONDITION_STANDBY_Y ? 0x80 : 0x00;
}

/* Standby timer values, ACS-3 table 52, in 100 ms. */
static uint32_t standby_timer(uint8_t count)
{
	switch (count) {
	case 0 ... 240: return count * 50U;
	case 241 ... 251: return (count - 240U) * 18000;
	case 252: return 12600;
	case 253: return 288000; /* between 8 and 12 hours */
	case 255: return 12750;
	default: return 0;
	}
}

static void set_standby_timer(Sim *s, uint8_t count)
{
	uint32_t value = standby_timer(count);

	s->state.timers[TIMERS_CURRENT][CONDITION_STANDBY_Z] = (Timer){ value > 0, value };
}

/* Enabling APM disables EPC and the other way round (ACS-3 4.9.4). The level is kept and told; how
 * soon it spins down is a drive's own, and this one leaves that to the timers. */
static void set_apm(Sim *s, Command *c, uint8_t level)
{
	if (!s->options.apm || level == 0 || level == 0xff) {
		ata_abort(c);
		return;
	}
	ata_epc_enable(s, false);
	s->apm = level;
}

static void set_features(Sim *s, Command *c, const AtaTask *t)
{
	switch (t->feature) {
	case 0x02: s->write_cache = true; break;
	case 0x82: s->write_cache = false; break;
	case 0x03: /* transfer mode */
	case 0x55:
	case 0xaa: break; /* look-ahead */
	case 0x05: set_apm(s, c, t->count & 0xff); break;
	case 0x85:
		if (!s->options.apm)
			ata_abort(c);
		s->apm = 0;
		break;
	case 0x4a: ata_epc(s, c, t); break;
	default: ata_abort(c);
	}
}

/* General purpose logs: the directory, and with EPC the power conditions. */
static void read_log(const Sim *s, Command *c, const AtaTask *t)
{
	uint8_t pages[2 * BLOCK_BYTES] = { 0 };
	unsigned log = t->lba & 0xff, page = t->lba >> 8 & 0xff;
	unsigned has = log == 0x00 ? 1 : log == 0x08 && s->options.epc ? 2 : 0;

	if (!t->count || page + t->count > has) {
		ata_abort(c);
		return;
	}
	if (log == 0x08) {
		ata_power_conditions_log(s, pages);
	} else {
		pages[0] = 1; /* version */
		pages[2 * 0x08] = s->options.epc ? 2 : 0;
	}
	command_put(c, pages + page * BLOCK_BYTES, t->count * BLOCK_BYTES);
}

static void media(Sim *s, Command *c, const AtaTask *t, bool verify)
{
	uint32_t blocks = t->count ? t->count : 256;

	if (command_media(s, c, MECHANICS_READ, t->lba, verify ? 0 : blocks))
		return;
	ata_return(c, 0x10, 0x51); /* ID not found */
}

static void execute(Sim *s, Command *c, const AtaTask *t)
{
	uint8_t page[BLOCK_BYTES];

	switch (t->command) {
	case 0xec:
		ata_identify(s, page);
		command_put(c, page, sizeof(page));
		break;
	case 0xe5:
	case 0x98: c->ata_count = power_mode(s); break;
	case 0xe0:
	case 0x94: power(s, c, CONDITION_STANDBY_Z, false); break;
	case 0xe1:
	case 0x95: power(s, c, CONDITION_IDLE_A, false); break;
	case 0xe2:
	case 0x96:
		set_standby_timer(s, t->count & 0xff);
		power(s, c, CONDITION_STANDBY_Z, false);
		break;
	case 0xe3:
	case 0x97:
		set_standby_timer(s, t->count & 0xff);
		power(s, c, CONDITION_IDLE_A, false);
		break;
	case 0xe6:
	case 0x99: power(s, c, CONDITION_SLEEP, true); break;
	case 0xe7: /* flush: see SYNCHRONIZE CACHE */
	case 0xea: break;
	case 0xef: set_features(s, c, t); break;
	case 0x2f:
	case 0x47: read_log(s, c, t); break;
	case 0x20:
	case 0x24:
	case 0x25:
	case 0xc8: media(s, c, t, false); break;
	case 0x40:
	case 0x42: media(s, c, t, true); break;
	default: ata_abort(c);
	}
}

void ata_execute(Sim *s, Command *c)
{
	AtaTask t = task_of(c->cdb);

	c->ata = true;
	c->check_condition = c->cdb[2] & 0x20;
	if (s->state.target == CONDITION_SLEEP) { /* nothing but a reset is heard (ACS-3 4.15.4) */
		state_reset(&s->state);
		command_log(s, "reset");
	}
	execute(s, c, &t);
}
