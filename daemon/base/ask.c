/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/ask.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/clock.h"

static bool is_readable(int fd, uint64_t until_us)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now_us;

	while ((now_us = clock_now_us(&clock_boottime)) < until_us)
		if (poll(&p, 1, (int)((until_us - now_us) / USEC_PER_MSEC) + 1) > 0)
			return true;
	return false;
}

int read_to_end(int fd, size_t max, uint64_t until_us, char **ret_text)
{
	_cleanup_free_ char *text = malloc(max + 1);
	size_t size = 0;

	if (!text)
		return -ENOMEM;
	while (is_readable(fd, until_us)) {
		ssize_t n = read(fd, text + size, max + 1 - size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0) {
			text[size] = '\0';
			*ret_text = TAKE_PTR(text);
			return 0;
		}
		size += n > 0 ? (size_t)n : 0;
		if (size > max)
			return -EFBIG;
	}
	return -ETIMEDOUT;
}

/* A listener that takes nothing lets connect() and send() wait for it, and that has an end, too. */
static int connect_to(const char *path, uint64_t within_us)
{
	const struct timeval patience = { .tv_sec = (time_t)(within_us / USEC_PER_SEC),
					  .tv_usec = (suseconds_t)(within_us % USEC_PER_SEC) };
	_cleanup_close_ int fd = -EBADF;
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path, path, strlen(path)); /* its NUL is there already */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return TAKE_FD(fd);
}

static int send_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = send(fd, text, left, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

int ask_service(const char *path, const char *question, uint64_t within_us, char **ret_answer)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + within_us;
	_cleanup_close_ int fd = connect_to(path, within_us);
	int r = fd < 0 ? fd : send_all(fd, question);

	return r < 0 ? r : read_to_end(fd, ANSWER_MAX, until_us, ret_answer);
}
