/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the log is told of a VTN: each thing once, however often it is asked. */

#include "signal/openadr-config.h"
#include "signal/openadr-http.h"

typedef struct OpenadrSaid {
	const OpenadrConfig *config;
	char **before, **now; /* what was left out of the events, of the round before and of this */
	uint64_t answered_us; /* boot time; 0: never */
	bool silent;          /* that was said */
	/* of the last answer that was of no use; NULL: nothing */
	char *refusal, *report_refusal;
} OpenadrSaid;

void openadr_said_done(OpenadrSaid *s);

/* Silence is nothing unusual before it lasts. */
void openadr_say_silence(OpenadrSaid *s, const char *problem);
void openadr_say_answer(OpenadrSaid *s);
/* That an answer of no use has come. body: "" where it may hold a secret. */
void openadr_say_refusal(OpenadrSaid *s, const char *what, long status, const char *body);
void openadr_say_report_refusal(OpenadrSaid *s, const char *what, long status, const char *body);
/* That the client's secret cannot be used; `error` is of openadr_config_secret(). */
void openadr_say_secret(OpenadrSaid *s, int error);
/* That something is left out of the events; an OpenadrComplain. */
void openadr_say_left_out(void *said, const char *words);

/* All events have come, a report was taken, or a round was given up: what was said before it is
 * said again if it comes again, or not. */
void openadr_said_events(OpenadrSaid *s);
void openadr_said_report(OpenadrSaid *s);
void openadr_said_given_up(OpenadrSaid *s);
