/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The control socket: a connection brings one line and gets the answer, "error: ..." when refused.
 */

#include "hddsim.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/log.h"
#include "base/text.h"

static int address_of(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(ret->sun_path))
		return log_full(LOG_ERR, ENAMETOOLONG, "Control socket %s", path);
	memcpy(ret->sun_path, path, strlen(path));
	return 0;
}

int control_listen(const char *path, int *ret_fd)
{
	struct sockaddr_un address;
	_cleanup_close_ int fd = -1;
	int r;

	r = address_of(path, &address);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return log_error_errno(errno, "Cannot make a socket");
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
		return log_error_errno(errno, "Cannot listen on %s", path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static void print_state(Sim *s, FILE *f)
{
	State *t = &s->state;

	state_account(t, s->now_us);
	fprintf(f, "disk=%s\n", s->disk);
	fprintf(f, "condition=%s\n", condition_name(t->target));
	fprintf(f, "phase=%s\n",
		!t->moving                 ? "settled"
		: t->target < t->condition ? "waking"
					   : "entering");
	fprintf(f, "by=%s\n", t->by_timer ? "timer" : "command");
	fprintf(f, "apm=%u\nepc=%s\n", s->apm,
		!s->options.epc || s->options.sas ? "none"
		: s->epc_enabled                  ? "on"
						  : "off");
	fprintf(f, "ios=%lu\nreads=%lu\nwrites=%lu\n", s->reads + s->writes, s->reads, s->writes);
	fprintf(f, "queued=%u\n", s->queued);
	fprintf(f, "wakes=%lu\nspin_ups=%lu\nstops=%lu\n", t->wakes, t->spin_ups, t->stops);
	fprintf(f, "spin_up_ms=%.3f\nspun_up_ms=%.3f\n", (double)t->spin_up_us / USEC_PER_MSEC,
		(double)t->spun_up_us / USEC_PER_MSEC);
	fprintf(f, "load_unloads=%lu\nresets=%lu\n", t->unloads, t->resets);
	fprintf(f, "watts=%.3f\njoules=%.6f\n", state_watts(t), t->joules);
	fprintf(f, "up_ms=%.3f\n", (double)(s->now_us - t->started_us) / USEC_PER_MSEC);
	fprintf(f, "asleep_ms=%.3f\n", (double)t->asleep_us / USEC_PER_MSEC);
}

static int refuse(Faults *faults, const char *which)
{
	Condition c;

	if (which && streq(which, "all")) {
		memset(faults->refuse, 1, sizeof(faults->refuse));
		return 0;
	}
	if (!which || condition_parse(which, &c) < 0)
		return -EINVAL;
	faults->refuse[c] = true;
	return 0;
}

static int parse_time(const char *text, uint64_t unit_us, uint64_t *ret_us)
{
	unsigned long value;

	if (!text || parse_unsigned(text, 1000000, &value) < 0)
		return -EINVAL;
	*ret_us = value * unit_us;
	return 0;
}

static int execute(Sim *s, const char *command, const char *argument, FILE *f)
{
	Faults *faults = &s->state.faults;

	if (streq(command, "refuse"))
		return refuse(faults, argument);
	if (streq(command, "no-wake"))
		return parse_time(argument, USEC_PER_SEC, &faults->no_wake_us);
	if (streq(command, "slow-wake"))
		return parse_time(argument, USEC_PER_MSEC, &faults->slow_wake_us);
	if (argument)
		return -EINVAL;
	if (streq(command, "state"))
		print_state(s, f);
	else if (streq(command, "ignore"))
		faults->ignore = true;
	else if (streq(command, "clear-faults"))
		*faults = (Faults){ 0 };
	else if (streq(command, "quit"))
		s->quit = true;
	else
		return -EINVAL;
	return 0;
}

static void answer(Sim *s, char *line, FILE *f)
{
	char *rest = NULL, *command = strtok_r(line, " \n", &rest);
	char *argument = strtok_r(NULL, " \n", &rest);

	if (!command || strtok_r(NULL, " \n", &rest) || execute(s, command, argument, f) < 0) {
		fprintf(f, "error: not understood; see hddsim --help\n");
		return;
	}
	if (!streq(command, "state"))
		command_log(s, "control %s%s%s", command, argument ? " " : "", argument ?: "");
}

/* A client has one second to say its line: the disk is not to wait for it. */
void control_serve(Sim *s)
{
	const struct timeval second = { .tv_sec = 1 };
	_cleanup_close_ int fd = accept4(s->control_fd, NULL, NULL, SOCK_CLOEXEC);
	_cleanup_fclose_ FILE *f = NULL;
	char line[200];

	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	f = fdopen(fd, "r+");
	if (!f)
		return;
	(void)TAKE_FD(fd);
	if (fgets(line, sizeof(line), f)) {
		/* the stream turns round from reading to writing */
		fseek(f, 0, SEEK_CUR);
		answer(s, line, f);
	}
}

int control_send(const char *path, const char *line)
{
	struct sockaddr_un address;
	_cleanup_close_ int fd = -1;
	_cleanup_fclose_ FILE *f = NULL;
	char text[200];
	int status = 0;

	if (address_of(path, &address) < 0)
		return 1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		log_error_errno(errno, "Cannot reach a simulator at %s", path);
		return 1;
	}
	dprintf(fd, "%s\n", line);
	f = fdopen(fd, "r");
	if (!f)
		return 1;
	(void)TAKE_FD(fd);
	while (fgets(text, sizeof(text), f)) {
		bool error = strncmp(text, "error", 5) == 0;

		fputs(text, error ? stderr : stdout);
		status |= error;
	}
	return status;
}
