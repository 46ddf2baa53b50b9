/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The control socket: a line is a command; answered by "key=value" lines and then "ok", or by
 * "error: ...". */

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/log.h"

#include "nvmesim.h"

static int control_address(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return log_full(LOG_ERR, ENAMETOOLONG, "Control socket %s", path);
	memcpy(ret->sun_path, path, strlen(path));
	return 0;
}

int control_listen(Sim *s)
{
	const char *path = s->options.control_path;
	struct sockaddr_un address;
	_cleanup_close_ int fd = -1;
	int r;

	if (!path)
		return 0;
	r = control_address(path, &address);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return log_error_errno(errno, "Cannot make a socket");
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		return log_error_errno(errno, "Cannot listen on %s", path);
	s->control_fd = TAKE_FD(fd);
	return 0;
}

void control_accept(Sim *s)
{
	int fd = accept4(s->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++)
		if (s->clients[i].fd < 0) {
			s->clients[i] = (ControlClient){ .fd = fd };
			return;
		}
	close(fd); /* too many */
}

static void client_close(ControlClient *client)
{
	close(client->fd);
	client->fd = -1;
}

static void answer(Sim *s, ControlClient *client, char *line)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f) {
		client_close(client);
		return;
	}
	if (control_command(s, line, f) >= 0)
		fputs("ok\n", f);
	/* an answer fits into the socket's buffer; who does not read it is dropped */
	if (fclose(f) != 0 || send(client->fd, text, size, MSG_NOSIGNAL) != (ssize_t)size)
		client_close(client);
}

void control_service(Sim *s, ControlClient *client)
{
	ssize_t n = recv(client->fd, client->line + client->n, sizeof(client->line) - client->n, 0);
	char *end;

	if (n <= 0) {
		if (!n || (errno != EAGAIN && errno != EINTR))
			client_close(client);
		return;
	}
	client->n += (size_t)n;
	while (client->fd >= 0 && (end = memchr(client->line, '\n', client->n))) {
		size_t used = (size_t)(end - client->line) + 1;

		*end = 0;
		answer(s, client, client->line);
		client->n -= used;
		memmove(client->line, client->line + used, client->n);
	}
	if (client->fd >= 0 && client->n == sizeof(client->line))
		client_close(client); /* no command is that long */
}

void control_close(Sim *s)
{
	for (unsigned i = 0; i < CONTROL_CLIENTS; i++)
		if (s->clients[i].fd >= 0)
			client_close(&s->clients[i]);
	if (s->control_fd < 0)
		return;
	close(s->control_fd);
	(void)unlink(s->options.control_path);
}

/* Prints the answer's lines; 0 at "ok", 1 at an error or when the simulator goes away. */
static int print_answer(FILE *f)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, f) > 0) {
		if (strcmp(line, "ok\n") == 0)
			return 0;
		if (strncmp(line, "error", 5) == 0) {
			fputs(line, stderr);
			return 1;
		}
		fputs(line, stdout);
	}
	return 1;
}

int control_send(const char *path, const char *line)
{
	struct sockaddr_un address;
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_close_ int fd = -1;

	if (control_address(path, &address) < 0)
		return 1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		log_error_errno(errno, "Cannot reach a simulator at %s", path);
		return 1;
	}
	f = fdopen(fd, "r+");
	if (!f)
		return 1;
	(void)TAKE_FD(fd);
	fprintf(f, "%s\n", line);
	fflush(f);
	return print_answer(f);
}
