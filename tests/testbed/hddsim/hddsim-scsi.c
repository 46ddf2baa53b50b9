/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SCSI block commands. A SATA disk answers as libata does for it, a SAS disk for itself. */

#include "hddsim.h"

static void invalid_field(Command *c)
{
	command_fail(c, 0x05, 0x24, 0x00);
}

static void test_unit_ready(const Sim *s, Command *c)
{
	const State *state = &s->state;

	if (state->target == CONDITION_STOPPED)
		command_fail(c, 0x02, 0x04, 0x02); /* initializing command required */
	else if (s->options.sas && state->moving && state->target < state->condition &&
		 state_spun_down(state))
		command_fail(c, 0x02, 0x04, 0x01); /* becoming ready */
}

/* 5E/xx: by timer and by command, SPC-4 annex F. */
static const uint8_t low_power_qualifiers[CONDITIONS][2] = {
	[CONDITION_IDLE_A] = { 0x03, 0x01 },    [CONDITION_IDLE_B] = { 0x06, 0x05 },
	[CONDITION_IDLE_C] = { 0x08, 0x07 },    [CONDITION_STANDBY_Y] = { 0x0a, 0x09 },
	[CONDITION_STANDBY_Z] = { 0x04, 0x02 },
};

static void request_sense(const Sim *s, Command *c)
{
	const State *state = &s->state;
	uint8_t code = 0, qualifier = 0, key = 0;
	uint8_t data[18] = { 0x70 };

	if (!s->options.sas) {
		/* libata tells nothing of the disk's condition here */
	} else if (state->target == CONDITION_STOPPED) {
		key = 0x02;
		code = 0x04;
		qualifier = 0x02;
	} else if (state->target != CONDITION_ACTIVE) {
		code = 0x5e;
		qualifier = low_power_qualifiers[state->target][state->by_timer];
	}
	if (c->cdb[1] & 1) {
		command_put(c, (const uint8_t[8]){ 0x72, key, code, qualifier }, 8);
		return;
	}
	data[2] = key;
	data[7] = 10;
	data[12] = code;
	data[13] = qualifier;
	command_put(c, data, sizeof(data));
}

/* False: there is no such condition. */
static bool wanted_condition(const uint8_t *cdb, Condition *ret)
{
	unsigned modifier = cdb[3] & 0xf;

	switch (cdb[4] >> 4) {
	case 1: *ret = CONDITION_ACTIVE; return modifier == 0;
	case 2: *ret = CONDITION_IDLE_A + MIN(modifier, 2u); return modifier <= 2;
	case 3: *ret = modifier ? CONDITION_STANDBY_Y : CONDITION_STANDBY_Z; return modifier <= 1;
	default: return false;
	}
}

/* libata: START=0 is STANDBY IMMEDIATE, START=1 reads a block, POWER CONDITION does not exist. */
static void start_stop_ata(Sim *s, Command *c)
{
	bool start = c->cdb[4] & 1;

	if (c->cdb[4] >> 4 || c->cdb[4] & 2) {
		invalid_field(c);
	} else if (start) {
		command_media(s, c, MECHANICS_READ, 0, 0);
	} else if (!command_power(s, c, CONDITION_STANDBY_Z, true)) {
		command_fail(c, 0x0b, 0x00, 0x00); /* the disk aborted it */
	}
}

static void start_stop_sas(Sim *s, Command *c)
{
	Condition target;

	if (c->cdb[4] >> 4 == 7) { /* LU_CONTROL: the timers rule again */
		s->state.timers_held = false;
		s->state.idle_since_us = s->now_us;
		return;
	}
	if (!(c->cdb[4] >> 4) && !(c->cdb[4] & 2))
		target = c->cdb[4] & 1 ? CONDITION_ACTIVE : CONDITION_STOPPED;
	else if (!wanted_condition(c->cdb, &target)) {
		invalid_field(c);
		return;
	}
	c->immediate = c->cdb[1] & 1;
	if (!command_power(s, c, target, true))
		invalid_field(c);
}

static void read_capacity_10(const Sim *s, Command *c)
{
	uint64_t last = s->options.size_bytes / BLOCK_BYTES - 1;
	uint8_t data[8];

	put_be32(data, (uint32_t)MIN(last, (uint64_t)UINT32_MAX));
	put_be32(data + 4, BLOCK_BYTES);
	command_put(c, data, sizeof(data));
}

static void read_capacity_16(const Sim *s, Command *c)
{
	uint8_t data[32] = { 0 };

	if ((c->cdb[1] & 0x1f) != 0x10) {
		command_fail(c, 0x05, 0x20, 0x00);
		return;
	}
	put_be64(data, s->options.size_bytes / BLOCK_BYTES - 1);
	put_be32(data + 8, BLOCK_BYTES);
	command_put(c, data, sizeof(data));
}

static bool media(Sim *s, Command *c)
{
	const uint8_t *cdb = c->cdb;
	Mechanics what = MECHANICS_WRITE;

	switch (cdb[0]) {
	case 0x08: what = MECHANICS_READ; /* fall through */
	case 0x0a:
		command_media(s, c, what, get_be32(cdb) & 0x1fffff, cdb[4] ? cdb[4] : 256);
		return true;
	case 0x28: what = MECHANICS_READ; /* fall through */
	case 0x2a: command_media(s, c, what, get_be32(cdb + 2), get_be16(cdb + 7)); return true;
	case 0xa8: what = MECHANICS_READ; /* fall through */
	case 0xaa: command_media(s, c, what, get_be32(cdb + 2), get_be32(cdb + 6)); return true;
	case 0x88: what = MECHANICS_READ; /* fall through */
	case 0x8a: command_media(s, c, what, get_be64(cdb + 2), get_be32(cdb + 10)); return true;
	case 0x2f: command_media(s, c, MECHANICS_READ, get_be32(cdb + 2), 0); return true;
	case 0x8f: command_media(s, c, MECHANICS_READ, get_be64(cdb + 2), 0); return true;
	default: return false;
	}
}

static void others(Sim *s, Command *c)
{
	bool sas = s->options.sas;

	switch (c->cdb[0]) {
	case 0x00: test_unit_ready(s, c); break;
	case 0x03: request_sense(s, c); break;
	case 0x12: scsi_inquiry(s, c); break;
	case 0x15:
	case 0x55: scsi_mode_select(s, c); break;
	case 0x1a:
	case 0x5a: scsi_mode_sense(s, c); break;
	case 0x1b: sas ? start_stop_sas(s, c) : start_stop_ata(s, c); break;
	case 0x25: read_capacity_10(s, c); break;
	case 0x9e: read_capacity_16(s, c); break;
	/* every write is in the backing store before it is answered: nothing to do, and no wake */
	case 0x35:
	case 0x91: break;
	case 0x4d: sas ? scsi_log_sense(s, c) : command_fail(c, 0x05, 0x20, 0x00); break;
	case 0x85:
	case 0xa1: sas ? command_fail(c, 0x05, 0x20, 0x00) : ata_execute(s, c); break;
	default: command_fail(c, 0x05, 0x20, 0x00); /* no such command */
	}
}

void scsi_execute(Sim *s, Command *c)
{
	if (!media(s, c))
		others(s, c);
	if (c->mechanics != MECHANICS_NONE)
		mechanics_submit(s, c);
	else
		command_complete(s, c);
}
