/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Other programs are asked, and never waited for without end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
