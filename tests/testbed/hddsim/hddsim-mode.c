/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* MODE SENSE and MODE SELECT: caching (08h), control (0Ah), and of SAS disks the power conditions'
 * timers (1Ah, SPC-4 7.5.15). */

#include "hddsim.h"

#include <errno.h>

typedef enum Control { CURRENT, CHANGEABLE, DEFAULTS, SAVED } Control;

/* Where page 1Ah has a condition's enable bit and timer. */
static const struct {
	Condition condition;
	uint8_t byte, bit, timer;
} fields[] = {
	{ CONDITION_STANDBY_Y, 2, 0x01, 20 }, { CONDITION_STANDBY_Z, 3, 0x01, 8 },
	{ CONDITION_IDLE_A, 3, 0x02, 4 },     { CONDITION_IDLE_B, 3, 0x04, 12 },
	{ CONDITION_IDLE_C, 3, 0x08, 16 },
};

static const TimerSet set_of[] = {
	[CURRENT] = TIMERS_CURRENT, [DEFAULTS] = TIMERS_DEFAULT, [SAVED] = TIMERS_SAVED
};

static size_t power_page(const Sim *s, Control control, uint8_t *p)
{
	p[0] = 0x80 | 0x1a; /* can be saved */
	p[1] = 38;
	for (unsigned i = 0; i < ELEMENTSOF(fields); i++) {
		Timer all = { true, UINT32_MAX };
		const Timer *t = control == CHANGEABLE
					 ? &all
					 : &s->state.timers[set_of[control]][fields[i].condition];

		if (t->enabled)
			p[fields[i].byte] |= fields[i].bit;
		put_be32(p + fields[i].timer, t->value);
	}
	return 40;
}

static size_t caching_page(const Sim *s, Control control, uint8_t *p)
{
	p[0] = 0x08;
	p[1] = 18;
	if (control != CURRENT || s->write_cache)
		p[2] = 0x04;
	return 20;
}

static size_t control_page(uint8_t *p)
{
	p[0] = 0x0a;
	p[1] = 10;
	return 12;
}

void scsi_mode_sense(Sim *s, Command *c)
{
	bool six = c->cdb[0] == 0x1a;
	size_t head = six ? 4 : 8, size = head;
	uint8_t data[128] = { 0 };
	uint8_t page = c->cdb[2] & 0x3f;
	Control control = c->cdb[2] >> 6;

	if (page == 0x08 || page == 0x3f)
		size += caching_page(s, control, data + size);
	if (page == 0x0a || page == 0x3f)
		size += control_page(data + size);
	if (s->options.sas && (page == 0x1a || page == 0x3f))
		size += power_page(s, control, data + size);
	if (size == head || (c->cdb[3] && c->cdb[3] != 0xff)) {
		command_fail(c, 0x05, 0x24, 0x00);
		return;
	}
	if (six)
		data[0] = (uint8_t)(size - 1);
	else
		put_be16(data, (uint16_t)(size - 2));
	command_put(c, data, MIN(size, six ? (size_t)c->cdb[4] : (size_t)get_be16(c->cdb + 7)));
}

static void select_power(Sim *s, const uint8_t *p, bool save)
{
	for (unsigned i = 0; i < ELEMENTSOF(fields); i++) {
		Timer t = { p[fields[i].byte] & fields[i].bit, get_be32(p + fields[i].timer) };

		s->state.timers[TIMERS_CURRENT][fields[i].condition] = t;
		if (save)
			s->state.timers[TIMERS_SAVED][fields[i].condition] = t;
	}
	s->state.idle_since_us = s->now_us;
}

static int select_page(Sim *s, const uint8_t *p, bool save)
{
	switch (p[0] & 0x3f) {
	case 0x08: s->write_cache = p[2] & 0x04; return 0;
	case 0x0a: return 0;
	case 0x1a:
		if (!s->options.sas || p[1] != 38)
			return -EINVAL;
		select_power(s, p, save);
		return 0;
	default: return -EINVAL;
	}
}

void scsi_mode_select(Sim *s, Command *c)
{
	bool six = c->cdb[0] == 0x15, save = c->cdb[1] & 1;
	uint8_t data[128 + 40] = { 0 }; /* a page cut short reads as zeroes */
	size_t size = command_get(c, data, 128), at = six ? 4 : 8;

	at += six ? data[3] : get_be16(data + 6); /* block descriptors */
	while (at + 2 <= size) {
		size_t next = at + 2 + data[at + 1];

		if (next > size || select_page(s, data + at, save) < 0) {
			command_fail(c, 0x05, 0x26, 0x00); /* invalid field in parameter list */
			return;
		}
		at = next;
	}
}
