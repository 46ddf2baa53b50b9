/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hooks/question.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define PREFIX        "STORPOWER_"
#define USUAL_TIME_US (10 * USEC_PER_SEC)

static bool is_ours(const char *s)
{
	return strncmp(s, PREFIX, strlen(PREFIX)) == 0;
}

/* NULL: there is none. */
static const char *value_of(const Question *q, const char *name)
{
	size_t n = strlen(name);

	for (const char **e = q->environ; *e; e++)
		if (is_ours(*e) && strncmp(*e + strlen(PREFIX), name, n) == 0 &&
		    (*e)[strlen(PREFIX) + n] == '=')
			return *e + strlen(PREFIX) + n + 1;
	return NULL;
}

static int add(Question *q, size_t *n, const char *entry)
{
	const char **slot = ARRAY_GROW(q->environ, *n);

	if (!slot)
		return -ENOMEM;
	*slot = entry;
	return 0;
}

static int read_lines(Question *q, char *const *own)
{
	char *rest = q->text, *line;
	size_t n = 0;
	int r = 0;

	for (; r >= 0 && own && *own; own++)
		r = is_ours(*own) ? 0 : add(q, &n, *own);
	while (r >= 0 && (line = strsep(&rest, "\n"))) {
		if (*line && (!is_ours(line) || !strchr(line, '=')))
			return -EBADMSG;
		r = *line ? add(q, &n, line) : 0;
	}
	return r < 0 ? r : add(q, &n, NULL);
}

static int take_known(Question *q)
{
	const char *may_veto = value_of(q, "MAY_VETO"), *timeout = value_of(q, "TIMEOUT_SECONDS");
	double seconds;

	q->event = value_of(q, "EVENT");
	q->step = value_of(q, "STEP");
	q->device = value_of(q, "DEVICE");
	q->may_veto = may_veto && streq(may_veto, "yes");
	q->timeout_us = USUAL_TIME_US;
	if (timeout && parse_double(timeout, &seconds) >= 0 && seconds >= 0 && seconds < 3600)
		q->timeout_us = (uint64_t)(seconds * USEC_PER_SEC);
	return q->event && q->step && q->device ? 0 : -EBADMSG;
}

int question_parse(const char *text, char *const *own, Question *ret)
{
	_cleanup_(question_done) Question q = { .text = strdup(text) };
	int r = q.text ? read_lines(&q, own) : -ENOMEM;

	if (r >= 0)
		r = take_known(&q);
	if (r < 0)
		return r;
	*ret = q;
	q = (Question){};
	return 0;
}

void question_done(Question *q)
{
	free(q->text);
	free(q->environ);
	*q = (Question){};
}
