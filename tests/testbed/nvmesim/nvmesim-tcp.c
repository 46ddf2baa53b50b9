/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NVMe/TCP transport: PDUs in and out of connections, each of which is one queue. Offsets as in the
 * NVMe/TCP transport specification and linux/nvme-tcp.h. No digests, no TLS. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"

#include "nvmesim.h"

enum {
	PDU_IC_REQ = 0,
	PDU_IC_RESP = 1,
	PDU_H2C_TERM = 2,
	PDU_COMMAND = 4,
	PDU_RESPONSE = 5,
	PDU_H2C_DATA = 6,
	PDU_C2H_DATA = 7,
	PDU_R2T = 9,
};

#define PDU_HEADER        8
#define IC_BYTES          128
#define COMMAND_BYTES     72
#define DATA_HEADER_BYTES 24
#define PDU_MAX           (IC_BYTES + IO_MAX_BYTES)
#define FLAG_LAST         4
#define SGL_IN_CAPSULE    0x01

/* Data of a command that the host sends when asked to. */
typedef struct Transfer {
	LIST_ENTRY(Transfer) link;
	uint16_t tag;
	Command command;
	uint32_t length, got;
	uint8_t data[];
} Transfer;

struct Conn {
	Conn *next;
	int fd;
	unsigned qid;
	bool connected; /* Fabrics Connect was accepted */
	bool greeted;   /* initialized (ICReq) */
	bool dead;
	uint16_t next_tag;
	LIST_HEAD(, Transfer) transfers;
	size_t n_in;
	uint8_t *out;
	size_t n_out, out_size, out_sent;
	uint8_t in[PDU_MAX];
};

int tcp_listen(Sim *s)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)s->options.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof(address);
	int one = 1;

	if (fd < 0)
		return log_error_errno(errno, "Cannot make a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 16) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return log_error_errno(errno, "Cannot listen on 127.0.0.1:%u", s->options.port);
	s->options.port = ntohs(address.sin_port);
	s->listen_fd = TAKE_FD(fd);
	return 0;
}

void tcp_accept(Sim *s)
{
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), one = 1;
	Conn *c = fd < 0 ? NULL : calloc(1, sizeof(*c));

	if (!c) {
		if (fd >= 0)
			close(fd);
		return;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->fd = fd;
	LIST_INIT(&c->transfers);
	c->next = s->conns;
	s->conns = c;
}

int conn_fd(const Conn *c)
{
	return c->fd;
}

Conn *conn_next(const Conn *c)
{
	return c->next;
}

unsigned conn_queue(const Conn *c)
{
	return c->qid;
}

void conn_set_queue(Conn *c, unsigned qid)
{
	c->qid = qid;
	c->connected = true;
}

bool conn_wants_write(const Conn *c)
{
	return c->n_out > c->out_sent;
}

void conn_close(Sim *s, Conn *c, const char *why)
{
	if (c->dead)
		return;
	c->dead = true;
	if (c->connected)
		log_event(s, "disconnect qid=%u why=%s", c->qid, why);
	jobs_orphan(s, c);
	(void)shutdown(c->fd, SHUT_RDWR);
}

void tcp_close_all(Sim *s, const Conn *but, const char *why)
{
	for (Conn *c = s->conns; c; c = c->next)
		if (c != but)
			conn_close(s, c, why);
}

static void conn_free(Conn *c)
{
	Transfer *t;

	while ((t = LIST_FIRST(&c->transfers))) {
		LIST_REMOVE(t, link);
		free(t);
	}
	close(c->fd);
	free(c->out);
	free(c);
}

void tcp_reap(Sim *s)
{
	for (Conn **p = &s->conns, *c; (c = *p);) {
		if (!c->dead) {
			p = &c->next;
			continue;
		}
		*p = c->next;
		conn_free(c);
	}
}

static void out_flush(Sim *s, Conn *c)
{
	while (!c->dead && conn_wants_write(c)) {
		ssize_t n = send(c->fd, c->out + c->out_sent, c->n_out - c->out_sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			conn_close(s, c, "send");
			return;
		}
		c->out_sent += (size_t)n;
	}
	c->n_out = c->out_sent = 0;
}

static void out_add(Sim *s, Conn *c, const void *data, size_t n)
{
	uint8_t *grown = c->out;
	size_t size = MAX(c->out_size, (size_t)4096);

	while (size < c->n_out + n)
		size *= 2;
	if (size > c->out_size)
		grown = realloc(c->out, size);
	if (!grown) {
		conn_close(s, c, "memory");
		return;
	}
	c->out = grown;
	c->out_size = size;
	if (n)
		memcpy(c->out + c->n_out, data, n);
	c->n_out += n;
}

void command_reply(Sim *s, const Command *c, uint16_t status, uint64_t result, const void *data,
		   size_t n)
{
	uint8_t pdu[DATA_HEADER_BYTES] = { PDU_C2H_DATA, FLAG_LAST, DATA_HEADER_BYTES,
					   DATA_HEADER_BYTES };
	Conn *conn = c->conn;

	if (!conn || conn->dead)
		return;
	if (!conn->qid && c->sqe[0] != 0x7f)
		log_command(s, c, status);
	if (data && n && !status) {
		put32(pdu + 4, DATA_HEADER_BYTES + (uint32_t)n);
		put16(pdu + 8, get16(c->sqe + 2));
		put32(pdu + 16, (uint32_t)n);
		out_add(s, conn, pdu, sizeof(pdu));
		out_add(s, conn, data, n);
	}
	memset(pdu, 0, sizeof(pdu));
	pdu[0] = PDU_RESPONSE;
	pdu[2] = DATA_HEADER_BYTES;
	put32(pdu + 4, DATA_HEADER_BYTES);
	put64(pdu + 8, result);
	put16(pdu + 18, (uint16_t)conn->qid);
	put16(pdu + 20, get16(c->sqe + 2));
	/* a retry would meet the same answer: DNR */
	put16(pdu + 22, (uint16_t)((status ? status | 0x4000 : 0) << 1));
	out_add(s, conn, pdu, sizeof(pdu));
	out_flush(s, conn);
}

static void dispatch(Sim *s, const Command *c, const uint8_t *data, size_t n)
{
	if (c->sqe[0] == 0x7f)
		fabrics_command(s, c, data, n);
	else if (!c->conn->connected)
		conn_close(s, c->conn, "command-before-connect");
	else if (c->conn->qid)
		io_command(s, c, data, n);
	else
		admin_command(s, c, data, n);
}

static void ask_for_data(Sim *s, const Command *command, uint32_t length)
{
	uint8_t pdu[DATA_HEADER_BYTES] = { PDU_R2T, 0, DATA_HEADER_BYTES };
	Conn *c = command->conn;
	Transfer *t = calloc(1, sizeof(*t) + length);

	if (!t) {
		conn_close(s, c, "memory");
		return;
	}
	t->tag = c->next_tag++;
	t->command = *command;
	t->length = length;
	LIST_INSERT_HEAD(&c->transfers, t, link);
	put32(pdu + 4, sizeof(pdu));
	put16(pdu + 8, get16(command->sqe + 2));
	put16(pdu + 10, t->tag);
	put32(pdu + 16, length);
	out_add(s, c, pdu, sizeof(pdu));
	out_flush(s, c);
}

/* Bits 1:0 of the opcode tell the direction, for fabrics commands those of their type. */
static bool host_sends(const uint8_t *sqe)
{
	return ((sqe[0] == 0x7f ? sqe[4] : sqe[0]) & 3) == 1;
}

static void on_command(Sim *s, Conn *c, const uint8_t *pdu, const uint8_t *data, size_t n)
{
	Command command = { .conn = c, .arrived_ns = now_ns() };
	uint32_t length;

	memcpy(command.sqe, pdu + PDU_HEADER, sizeof(command.sqe));
	length = host_sends(command.sqe) ? command_length(&command) : 0;
	if (length > IO_MAX_BYTES)
		command_reply(s, &command, INVALID_FIELD, 0, NULL, 0);
	else if (length && command.sqe[39] != SGL_IN_CAPSULE)
		ask_for_data(s, &command, length);
	else if (n < length)
		command_reply(s, &command, SGL_LENGTH_INVALID, 0, NULL, 0);
	else
		dispatch(s, &command, data, length);
}

static const char *on_data(Sim *s, Conn *c, const uint8_t *pdu, const uint8_t *data, size_t n)
{
	uint32_t offset = get32(pdu + 12), length = get32(pdu + 16);
	Transfer *t;

	LIST_FOREACH(t, &c->transfers, link)
	if (t->tag == get16(pdu + 10))
		break;
	if (!t || get16(pdu + 8) != get16(t->command.sqe + 2))
		return "unasked-data";
	if (length > n || offset != t->got || length > t->length - t->got)
		return "data-out-of-range";
	memcpy(t->data + offset, data, length);
	t->got += length;
	if (t->got == t->length) {
		LIST_REMOVE(t, link);
		dispatch(s, &t->command, t->data, t->length);
		free(t);
	}
	return NULL;
}

static const char *on_greeting(Sim *s, Conn *c)
{
	uint8_t pdu[IC_BYTES] = { PDU_IC_RESP, 0, IC_BYTES };

	if (c->greeted)
		return "second-icreq";
	c->greeted = true;
	put32(pdu + 4, IC_BYTES);
	put32(pdu + 12, IO_MAX_BYTES); /* MAXH2CDATA */
	out_add(s, c, pdu, sizeof(pdu));
	out_flush(s, c);
	return NULL;
}

/* Returns what is wrong, NULL when nothing. */
static const char *on_pdu(Sim *s, Conn *c, const uint8_t *pdu, size_t size)
{
	static const uint8_t header_sizes[] = { [PDU_IC_REQ] = IC_BYTES,
						[PDU_COMMAND] = COMMAND_BYTES,
						[PDU_H2C_DATA] = DATA_HEADER_BYTES };
	size_t header = pdu[2], data_at = MAX(pdu[3], pdu[2]);

	if (pdu[0] == PDU_H2C_TERM)
		return "host-terminates";
	if (pdu[0] >= ELEMENTSOF(header_sizes) || !header_sizes[pdu[0]])
		return "unknown-pdu";
	if (header != header_sizes[pdu[0]] || data_at > size)
		return "bad-header";
	if (pdu[0] == PDU_IC_REQ)
		return on_greeting(s, c);
	if (!c->greeted)
		return "no-icreq";
	if (pdu[0] == PDU_H2C_DATA)
		return on_data(s, c, pdu, pdu + data_at, size - data_at);
	on_command(s, c, pdu, pdu + data_at, size - data_at);
	return NULL;
}

static void on_input(Sim *s, Conn *c)
{
	const char *wrong = NULL;
	size_t at = 0;

	while (!wrong && !c->dead && c->n_in - at >= PDU_HEADER) {
		uint32_t size = get32(c->in + at + 4);

		if (size < PDU_HEADER || size > PDU_MAX || size < c->in[at + 2])
			wrong = "bad-length";
		else if (c->n_in - at < size)
			break;
		else
			wrong = on_pdu(s, c, c->in + at, size);
		at += wrong ? 0 : size;
	}
	if (wrong)
		conn_close(s, c, wrong);
	memmove(c->in, c->in + at, c->n_in - at);
	c->n_in -= at;
}

void conn_service(Sim *s, Conn *c, short revents)
{
	ssize_t n;

	if (!c->dead && revents & POLLOUT)
		out_flush(s, c);
	if (c->dead || !(revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	n = recv(c->fd, c->in + c->n_in, sizeof(c->in) - c->n_in, 0);
	if (n > 0) {
		c->n_in += (size_t)n;
		on_input(s, c);
	} else if (!n || (errno != EAGAIN && errno != EINTR)) {
		conn_close(s, c, n ? "error" : "host");
	}
}
