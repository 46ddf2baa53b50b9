/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What storpowerd asks or tells: lines STORPOWER_NAME=VALUE, which the hooks have in their
 * environment. */

#include <stdbool.h>
#include <stdint.h>

typedef struct Question {
	char *text;
	const char **environ; /* NULL-terminated; its strings are of the text, or of `own` */
	const char *event;    /* "before", "after" */
	const char *step, *device;
	bool may_veto;
	uint64_t timeout_us; /* for all hooks together */
} Question;

/* own: what the hooks' environment has besides. -EBADMSG: a line is none of these, or the event,
 * the step or the device is missing. -ENOMEM. */
int question_parse(const char *text, char *const *own, Question *ret);
void question_done(Question *q);
