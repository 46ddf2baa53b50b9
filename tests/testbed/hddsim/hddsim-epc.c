/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The Extended Power Conditions feature set: SET FEATURES 4Ah (ACS-3 7.45.20) and its log (9.9). */

#include "hddsim.h"

enum { EPC_RESTORE, EPC_GO_TO, EPC_SET_TIMER, EPC_SET_STATE, EPC_ENABLE, EPC_DISABLE };

#define EPC_SAVE    0x10
#define EPC_ON      0x20 /* of SET TIMER and SET STATE */
#define EPC_DEFAULT 0x40 /* of RESTORE */
#define EPC_MINUTES 0x80 /* of SET TIMER */
#define EPC_ALL     0xff

static const struct {
	Condition condition;
	uint8_t id;
	uint16_t log; /* where its descriptor is */
} conditions[] = {
	{ CONDITION_IDLE_A, 0x81, 0 },
	{ CONDITION_IDLE_B, 0x82, 64 },
	{ CONDITION_IDLE_C, 0x83, 128 },
	{ CONDITION_STANDBY_Y, 0x01, BLOCK_BYTES + 384 },
	{ CONDITION_STANDBY_Z, 0x00, BLOCK_BYTES + 448 },
};

void ata_epc_enable(Sim *s, bool enable)
{
	Timer(*timers)[CONDITIONS] = s->state.timers;

	if (enable && s->epc_enabled)
		return;
	s->epc_enabled = enable;
	if (enable)
		s->apm = 0;
	s->state.idle_since_us = s->now_us;
	for (Condition c = CONDITION_IDLE_A; c < CONDITION_TIMED_END; c++)
		if (enable)
			timers[TIMERS_CURRENT][c] = timers[TIMERS_SAVED][c];
		else
			timers[TIMERS_CURRENT][c].enabled = false;
}

static void change(Sim *s, Condition c, const AtaTask *t)
{
	uint8_t bits = t->lba & 0xff;
	Timer *current = &s->state.timers[TIMERS_CURRENT][c];
	uint32_t value = t->lba >> 8 & 0xffff;

	switch (bits & 0xf) {
	case EPC_RESTORE:
		*current = s->state.timers[bits & EPC_DEFAULT ? TIMERS_DEFAULT : TIMERS_SAVED][c];
		break;
	case EPC_SET_TIMER:
		current->value = bits & EPC_MINUTES ? value * 600 : value;
		current->enabled = bits & EPC_ON;
		break;
	case EPC_SET_STATE: current->enabled = bits & EPC_ON; break;
	}
	if (bits & EPC_SAVE)
		s->state.timers[TIMERS_SAVED][c] = *current;
}

/* False: no condition has that number. */
static bool change_all(Sim *s, const AtaTask *t)
{
	bool found = false;

	for (unsigned i = 0; i < ELEMENTSOF(conditions); i++)
		if (t->count == EPC_ALL || t->count == conditions[i].id) {
			change(s, conditions[i].condition, t);
			found = true;
		}
	s->state.idle_since_us = s->now_us;
	return found;
}

static bool go_to(Sim *s, Command *c, const AtaTask *t)
{
	for (unsigned i = 0; i < ELEMENTSOF(conditions); i++)
		if (t->count == conditions[i].id)
			return command_power(s, c, conditions[i].condition, true);
	return false;
}

static bool do_epc(Sim *s, Command *c, const AtaTask *t)
{
	unsigned what = t->lba & 0xf;

	if (!s->options.epc || (what < EPC_ENABLE && !s->epc_enabled))
		return false;
	switch (what) {
	case EPC_ENABLE:
	case EPC_DISABLE: ata_epc_enable(s, what == EPC_ENABLE); return true;
	case EPC_GO_TO: return go_to(s, c, t);
	case EPC_RESTORE:
	case EPC_SET_TIMER:
	case EPC_SET_STATE: return change_all(s, t);
	default: return false;
	}
}

void ata_epc(Sim *s, Command *c, const AtaTask *t)
{
	if (!do_epc(s, c, t))
		ata_abort(c);
}

/* Bits of a descriptor's second byte, ACS-3 table 224. */
static uint8_t descriptor_bits(const State *s, Condition c)
{
	uint8_t bits = 0x80 | 0x40 | 0x20; /* supported, savable, changeable */

	if (s->timers[TIMERS_DEFAULT][c].enabled)
		bits |= 0x10;
	if (s->timers[TIMERS_SAVED][c].enabled)
		bits |= 0x08;
	if (s->timers[TIMERS_CURRENT][c].enabled)
		bits |= 0x04;
	return bits;
}

void ata_power_conditions_log(const Sim *s, uint8_t pages[2 * BLOCK_BYTES])
{
	const State *state = &s->state;

	memset(pages, 0, 2 * BLOCK_BYTES);
	for (unsigned i = 0; i < ELEMENTSOF(conditions); i++) {
		Condition c = conditions[i].condition;
		uint8_t *p = pages + conditions[i].log;

		p[1] = descriptor_bits(state, c);
		put_le32(p + 4, state->timers[TIMERS_DEFAULT][c].value);
		put_le32(p + 8, state->timers[TIMERS_SAVED][c].value);
		put_le32(p + 12, state->timers[TIMERS_CURRENT][c].value);
		put_le32(p + 16, (uint32_t)(s->options.conditions[c].recovery_us / 100000));
		put_le32(p + 20, 1);
		put_le32(p + 24, 65535 * 600);
	}
}
