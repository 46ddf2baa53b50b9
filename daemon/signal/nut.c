/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/nut.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

struct Nut {
	sd_event *event;
	sd_event_source *io;
	NutAddress address;
	NutSeen seen;
	void *userdata;
	int fd;       /* -1: there is no connection */
	bool waiting; /* for a connection or an answer */
	size_t n;     /* of the line so far */
	char line[512];
};

static void hang_up(Nut *n)
{
	n->io = sd_event_source_disable_unref(n->io);
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
	n->n = 0;
	n->waiting = false;
}

static void lose(Nut *n, const char *why)
{
	char words[128];

	hang_up(n);
	snprintf(words, sizeof(words), "upsd cannot be asked: %s", why);
	n->seen(n->userdata, FEED_UNKNOWN, words);
}

static void take_line(Nut *n)
{
	FeedSeen seen;
	char words[96];

	if (nut_parse_answer(n->line, n->address.ups, &seen, words, sizeof(words)) < 0)
		return;
	n->waiting = false;
	n->seen(n->userdata, seen, words);
}

/* What is longer than a line can be is no upsd. */
static void take_bytes(Nut *n, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (n->n == sizeof(n->line) - 1) {
			lose(n, "it speaks another protocol");
			return;
		}
		if (bytes[i] != '\n') {
			n->line[n->n++] = bytes[i];
			continue;
		}
		n->line[n->n] = '\0';
		n->n = 0;
		take_line(n);
	}
}

static void send_question(Nut *n)
{
	char question[128];
	int length =
		snprintf(question, sizeof(question), "GET VAR %s ups.status\n", n->address.ups);

	if (send(n->fd, question, (size_t)length, MSG_NOSIGNAL) != length)
		lose(n, strerror(errno));
	else
		(void)sd_event_source_set_io_events(n->io, EPOLLIN);
}

static void finish_connecting(Nut *n)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (getsockopt(n->fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0)
		error = errno;
	if (error)
		lose(n, strerror(error));
	else
		send_question(n);
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	char bytes[512];
	Nut *n = userdata;
	ssize_t length;

	(void)s;
	if (!(revents & EPOLLIN)) {
		finish_connecting(n);
		return 0;
	}
	length = recv(fd, bytes, sizeof(bytes), 0);
	if (length > 0)
		take_bytes(n, bytes, (size_t)length);
	else if (length == 0)
		lose(n, "it has hung up");
	else if (errno != EAGAIN)
		lose(n, strerror(errno));
	return 0;
}

static void call_up(Nut *n)
{
	const struct sockaddr *address = (const struct sockaddr *)&n->address.socket;
	int r;

	n->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (n->fd < 0 ||
	    (connect(n->fd, address, n->address.socket_length) < 0 && errno != EINPROGRESS)) {
		lose(n, strerror(errno));
		return;
	}
	r = sd_event_add_io(n->event, &n->io, n->fd, EPOLLOUT, on_io, n);
	if (r < 0)
		lose(n, strerror(-r));
	else
		n->waiting = true;
}

void nut_ask(Nut *n)
{
	if (n->waiting)
		lose(n, "it does not answer");
	if (n->fd < 0) {
		call_up(n);
		return;
	}
	n->waiting = true;
	send_question(n);
}

int nut_new(sd_event *event, const NutAddress *address, NutSeen seen, void *userdata, Nut **ret)
{
	Nut *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->event = sd_event_ref(event);
	n->address = *address;
	n->seen = seen;
	n->userdata = userdata;
	n->fd = -1;
	*ret = n;
	return 0;
}

Nut *nut_free(Nut *n)
{
	if (!n)
		return NULL;
	hang_up(n);
	sd_event_unref(n->event);
	free(n);
	return NULL;
}
