/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-said.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

#define BODY_MAX 200u
#define GOES_ON  "; what was announced before goes on as announced"

static void forget(char **said)
{
	free(*said);
	*said = NULL;
}

void openadr_said_done(OpenadrSaid *s)
{
	s->before = strv_free(s->before);
	s->now = strv_free(s->now);
	forget(&s->refusal);
	forget(&s->report_refusal);
}

void openadr_say_silence(OpenadrSaid *s, const char *problem)
{
	bool lost = !s->answered_us ||
		    clock_now_us(&clock_boottime) - s->answered_us >= s->config->lost_us;

	if (lost && !s->silent)
		log_warning("%s does not answer: %s; what it has announced goes on and ends as "
			    "announced, and it is asked again and again",
			    s->config->url, problem);
	s->silent |= lost;
}

void openadr_say_answer(OpenadrSaid *s)
{
	if (s->silent)
		log_info("%s answers again", s->config->url);
	s->silent = false;
	s->answered_us = clock_now_us(&clock_boottime);
}

/* Said again when it is something else. */
static void say_once(const OpenadrSaid *s, char **said, const char *words, const char *details)
{
	if (*said && streq(words, *said))
		return;
	log_warning("%s: %s%s", s->config->url, words, details);
	free(*said);
	*said = strdup(words);
}

static void say_of_answer(const OpenadrSaid *s, char **said, const char *what, long status,
			  const char *body, const char *then)
{
	_cleanup_free_ char *words = text_printf("%s (HTTP status %ld)", what, status);
	_cleanup_free_ char *details =
		text_printf("%s%.*s%s", *body ? ": " : "",
			    (int)MIN(strcspn(body, "\r\n"), BODY_MAX), body, then);

	if (words && details)
		say_once(s, said, words, details);
}

void openadr_say_refusal(OpenadrSaid *s, const char *what, long status, const char *body)
{
	say_of_answer(s, &s->refusal, what, status, body, GOES_ON);
}

void openadr_say_report_refusal(OpenadrSaid *s, const char *what, long status, const char *body)
{
	say_of_answer(s, &s->report_refusal, what, status, body, "");
}

void openadr_say_secret(OpenadrSaid *s, int error)
{
	_cleanup_free_ char *words =
		text_printf("the secret in %s cannot be used: %s", s->config->secret_file,
			    error == -EPERM     ? "others can read it: chmod 600 it"
			    : error == -ENODATA ? "there is none"
						: strerror(-error));

	if (words)
		say_once(s, &s->refusal, words, GOES_ON);
}

void openadr_say_left_out(void *said, const char *words)
{
	OpenadrSaid *s = said;
	bool again = false;

	for (char *const *before = s->before; before && *before; before++)
		again |= streq(*before, words);
	if (!again)
		log_warning("%s: %s: it is left out", s->config->url, words);
	(void)strv_add(&s->now, words);
}

void openadr_said_events(OpenadrSaid *s)
{
	strv_free(s->before);
	s->before = TAKE_PTR(s->now);
	forget(&s->refusal);
}

void openadr_said_report(OpenadrSaid *s)
{
	forget(&s->report_refusal);
}

void openadr_said_given_up(OpenadrSaid *s)
{
	s->now = strv_free(s->now);
}
