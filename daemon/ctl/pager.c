/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "ctl/ctl.h"

static pid_t pager_pid;

/* Where no pager can be run the text goes out as it is. */
static void copy(void)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		if (write(STDOUT_FILENO, buf, (size_t)n) < 0)
			break;
	_exit(0);
}

static void run_pager(const char *pager)
{
	/* one screen needs no pager; colours pass; no shell from within, for this may be root's */
	setenv("LESS", "FRSXMK", 0);
	setenv("LESSSECURE", "1", 1);
	if (pager)
		execl("/bin/sh", "sh", "-c", pager, NULL);
	execlp("less", "less", NULL);
	copy();
}

void pager_open(const Ctl *c)
{
	const char *pager = getenv("STORPOWER_PAGER") ?: getenv("PAGER");
	int fds[2];

	if (!c->pager || !c->terminal || (pager && (streq(pager, "") || streq(pager, "cat"))))
		return;
	if (pipe2(fds, 0) < 0)
		return;
	fflush(stdout);
	pager_pid = fork();
	if (pager_pid == 0) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		run_pager(pager);
	}
	if (pager_pid > 0) {
		dup2(fds[1], STDOUT_FILENO);
		signal(SIGPIPE, SIG_IGN); /* the reader may have seen enough */
	}
	close(fds[0]);
	close(fds[1]);
}

void pager_close(void)
{
	fflush(stdout);
	if (pager_pid <= 0)
		return;
	close(STDOUT_FILENO);
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}
