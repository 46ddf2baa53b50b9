/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fabrics commands (Connect, properties) and the admin commands' switchboard. Offsets as in the
 * NVMe base specification 2.x, "Fabrics Command Set". */

#include "nvmesim.h"

#define CONTROLLER_ID 1

enum { PROPERTY_CAP = 0x00, PROPERTY_VS = 0x08, PROPERTY_CC = 0x14, PROPERTY_CSTS = 0x1c };

#define CAP  (127ULL | 1ULL << 16 | 40ULL << 24 | 1ULL << 37) /* 128 entries, CQR, 20 s, NVM */
#define VS   0x10400u
#define EN   1u
#define RDY  1u
#define SHN  (3u << 14)
#define SHST (2u << 2)

static bool admin_queue_exists(const Sim *s, const Conn *but)
{
	for (const Conn *c = s->conns; c; c = conn_next(c))
		if (c != but && !conn_queue(c))
			return true;
	return false;
}

/* A new association takes over from an older one, whose host is gone. */
static uint16_t connect_queue(Sim *s, Conn *c, unsigned qid, const uint8_t *data)
{
	if (strncmp((const char *)data + 256, s->options.nqn, 256) != 0)
		return CONNECT_INVALID_PARAMETERS;
	if (qid > s->options.queues)
		return CONNECT_INVALID_PARAMETERS;
	if (qid && (get16(data + 16) != CONTROLLER_ID || !admin_queue_exists(s, c)))
		return CONNECT_INVALID_PARAMETERS;
	if (!qid) {
		tcp_close_all(s, c, "new-association");
		s->cc = s->csts = 0;
		s->counters.connects++;
	}
	conn_set_queue(c, qid);
	return OK;
}

static void fabrics_connect(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	unsigned qid = get16(c->sqe + 42);
	uint16_t status =
		n < 1024 ? CONNECT_INVALID_PARAMETERS : connect_queue(s, c->conn, qid, data);

	log_event(s, "connect qid=%u status=0x%x", qid, status);
	command_reply(s, c, status, CONTROLLER_ID, NULL, 0);
}

static void configure(Sim *s, uint32_t cc)
{
	if (cc & EN && !(s->cc & EN)) {
		features_reset(s);
		log_event(s, "enable");
	} else if (!(cc & EN) && s->cc & EN) {
		s->counters.resets++;
		log_event(s, "disable");
	}
	if (cc & SHN && !(s->cc & SHN))
		log_event(s, "shutdown");
	s->cc = cc;
	s->csts = (cc & EN ? RDY : 0) | (cc & SHN ? SHST : 0);
}

static void property_get(Sim *s, const Command *c)
{
	uint64_t value;

	switch (get32(c->sqe + 44)) {
	case PROPERTY_CAP: value = CAP; break;
	case PROPERTY_VS: value = VS; break;
	case PROPERTY_CC: value = s->cc; break;
	case PROPERTY_CSTS: value = s->csts; break;
	default: command_reply(s, c, INVALID_FIELD, 0, NULL, 0); return;
	}
	command_reply(s, c, OK, value, NULL, 0);
}

void fabrics_command(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	switch (c->sqe[4]) {
	case 0x00:
		if (get32(c->sqe + 44) == PROPERTY_CC)
			configure(s, get32(c->sqe + 48));
		command_reply(s, c, OK, 0, NULL, 0);
		return;
	case 0x01: fabrics_connect(s, c, data, n); return;
	case 0x04: property_get(s, c); return;
	default: command_reply(s, c, INVALID_OPCODE, 0, NULL, 0);
	}
}

void admin_command(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	s->counters.commands++;
	switch (c->sqe[0]) {
	case 0x02: log_page(s, c); return;
	case 0x06: identify(s, c); return;
	case 0x08: command_reply(s, c, OK, 1, NULL, 0); return; /* abort: not aborted */
	case 0x09: features_set(s, c, data, n); return;
	case 0x0a: features_get(s, c); return;
	case 0x0c: return; /* asynchronous event request: none ever happens */
	case 0x18: command_reply(s, c, OK, 0, NULL, 0); return; /* keep alive */
	default: command_reply(s, c, INVALID_OPCODE, 0, NULL, 0);
	}
}
