/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define KILLED_US USEC_PER_SEC /* for a killed program to be gone */
#define LOOK_US   (5 * USEC_PER_MSEC)

/* Workers block all signals, and ctl some: the program must not inherit that. */
static int start_with_files(const Program *p, posix_spawn_file_actions_t *files, bool own_group,
			    pid_t *ret)
{
	short flags = (short)(POSIX_SPAWN_SETSIGMASK | (own_group ? POSIX_SPAWN_SETPGROUP : 0));
	char *const *env = p->environ ? (char *const *)p->environ : environ;
	posix_spawnattr_t attr;
	sigset_t none;
	int r = posix_spawnattr_init(&attr);

	if (r != 0)
		return -r;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, flags);
	r = posix_spawnp(ret, p->argv[0], files, &attr, (char *const *)p->argv, env);
	posix_spawnattr_destroy(&attr);
	return -r;
}

static int start_program(const Program *p, int out, bool own_group, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	int r = posix_spawn_file_actions_init(&files);

	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (r == 0 && p->with_errors)
		r = posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
	else if (r == 0)
		r = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY,
						     0);
	r = r == 0 ? start_with_files(p, &files, own_group, ret) : -r;
	posix_spawn_file_actions_destroy(&files);
	return r;
}

static bool is_gone(pid_t pid, uint64_t until_us, int *ret_status)
{
	pid_t r;

	while ((r = waitpid(pid, ret_status, WNOHANG)) == 0 &&
	       clock_now_us(&clock_boottime) < until_us)
		clock_sleep_us(&clock_boottime, LOOK_US);
	return r != 0;
}

/* A program that hangs in the kernel cannot even be killed: it is left behind. */
static void kill_program(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	is_gone(pid, clock_now_us(&clock_boottime) + KILLED_US, &status);
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ssize_t spawn_listen(const Running *r, char *buf, size_t size, uint64_t within_us)
{
	struct pollfd p = { .fd = r->out, .events = POLLIN };
	int ready = poll(&p, 1, (int)(within_us / USEC_PER_MSEC) + 1);
	ssize_t n;

	if (ready <= 0)
		return ready < 0 ? -errno : -ETIMEDOUT;
	n = read(r->out, buf, size);
	return n < 0 ? -errno : n;
}

/* Until the program has ended and all is read that it has said: what it leaves running may hold the
 * pipe for as long as it likes. */
static int read_until_gone(const Running *program, size_t max, uint64_t until_us, char **ret,
			   int *ret_status)
{
	_cleanup_free_ char *text = malloc(max + 1);
	size_t size = 0;
	bool gone = false;
	ssize_t n = 1;

	if (!text)
		return -ENOMEM;
	while (n > 0 || n == -EINTR || (n == -ETIMEDOUT && !gone)) {
		gone = gone || is_gone(program->pid, 0, ret_status);
		n = spawn_listen(program, text + size, max + 1 - size, gone ? 0 : LOOK_US);
		size += n > 0 ? (size_t)n : 0;
		if (size > max)
			return -EFBIG;
		if (clock_now_us(&clock_boottime) >= until_us && !gone)
			return -ETIMEDOUT;
	}
	if (n < 0 && n != -ETIMEDOUT)
		return (int)n;
	if (!gone && !is_gone(program->pid, until_us, ret_status))
		return -ETIMEDOUT;
	text[size] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

int spawn_and_read(const Program *p, char **ret_answer)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + p->within_us;
	_cleanup_close_ int in = -EBADF;
	_cleanup_free_ char *answer = NULL;
	int fds[2], status = -1, r;
	pid_t pid = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	in = fds[0];
	r = start_program(p, fds[1], false, &pid);
	close(fds[1]);
	if (r < 0 || pid <= 0)
		return r < 0 ? r : -ECHILD;
	r = read_until_gone(&(Running){ pid, in }, p->answer_max, until_us, &answer, &status);
	if (r < 0) {
		kill_program(pid);
		return r;
	}
	*ret_answer = TAKE_PTR(answer);
	return exit_status(status);
}

int spawn_start(const Program *p, Running *ret)
{
	int fds[2], r;
	pid_t pid = 0;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = start_program(p, fds[1], true, &pid);
	close(fds[1]);
	if (r < 0 || pid <= 0) {
		close(fds[0]);
		return r < 0 ? r : -ECHILD;
	}
	*ret = (Running){ pid, fds[0] };
	return 0;
}

/* It may not end before somebody has read all that it says. */
static void drain(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[4096];

	while (poll(&p, 1, 0) > 0 && read(fd, text, sizeof(text)) > 0)
		;
}

int spawn_end(Running *r, uint64_t within_us)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + within_us;
	int status = 0;
	bool gone;

	if (r->pid <= 0)
		return 0;
	kill(r->pid, SIGINT);
	do {
		drain(r->out);
		gone = is_gone(r->pid, clock_now_us(&clock_boottime) + LOOK_US, &status);
	} while (!gone && clock_now_us(&clock_boottime) < until_us);
	if (!gone) {
		kill(-r->pid, SIGKILL); /* and what it has started */
		kill_program(r->pid);
	}
	close(r->out);
	*r = RUNNING_NONE;
	return gone ? exit_status(status) : -ETIMEDOUT;
}
