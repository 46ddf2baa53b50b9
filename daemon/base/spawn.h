/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Other programs are asked, and never waited for without end. */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct Program {
	const char *const *argv; /* NULL-terminated; argv[0] without a "/" is looked for in PATH */
	const char *const *environ; /* NULL-terminated; NULL: this process's own */
	bool with_errors;           /* standard error is part of the answer, else it is dropped */
	size_t answer_max;          /* bytes */
	uint64_t within_us;         /* from now until its end */
} Program;

/* Runs the program with an empty standard input and waits for its end. Returns its exit status (128
 * and the signal's number if one killed it) and all that it wrote (malloc'd, with a NUL behind it).
 * -ENOENT: it is not installed. -ETIMEDOUT, -EFBIG: it took longer or wrote more than it may, and
 * was killed. Blocks; any thread may call it. */
int spawn_and_read(const Program *p, char **ret_answer);

/* A program that is listened to while it runs. It is out of the terminal's foreground: whoever has
 * started it passes a Ctrl-C on, by spawn_end(). */
typedef struct Running {
	pid_t pid; /* 0: none */
	int out;   /* what it writes; -EBADF: none */
} Running;

#define RUNNING_NONE ((Running){ .out = -EBADF })

/* answer_max and within_us do not count. The other end's spawn_end() is due. */
int spawn_start(const Program *p, Running *ret);
/* What it has written by now, or writes within that time. Returns its bytes, 0: it has ended;
 * -ETIMEDOUT, or -EINTR: a signal came. */
ssize_t spawn_listen(const Running *r, char *buf, size_t size, uint64_t within_us);
/* Asks it to end, by SIGINT, and kills it if it has not within that time. Its exit status as of
 * spawn_and_read(), or -ETIMEDOUT. Does nothing of what does not run: 0. */
int spawn_end(Running *r, uint64_t within_us);
