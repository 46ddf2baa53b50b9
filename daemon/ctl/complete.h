/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What storpowerctl complete offers. */

#include "ctl/ctl.h"

/* What is on the command line. */
typedef struct Typed {
	Ctl *ctl;
	json_object *verbs;        /* as "help --json" has them */
	const char *verb, *first;  /* and its first argument; NULL: none yet */
	int n_args;                /* of the verb, before the last word */
	bool is_command;           /* of hold, behind "--" */
	const char *option;        /* whose value is typed, "--group"; NULL */
	const char *before, *last; /* what stays of the last word, and what of it is completed */
	size_t n_before;
} Typed;

/* Prints it if it begins with what is typed. */
void complete_offer(const Typed *t, const char *word, const char *about);
void complete_words(const Typed *t, const char *words); /* blanks between them */

/* complete-names.c. What the running daemon knows; nothing where none runs, which is not started.
 */
void complete_devices(const Typed *t);
void complete_groups(const Typed *t);
void complete_claims(const Typed *t);
/* Of files, and the one in force. */
void complete_policies(const Typed *t);
void complete_profiles(const Typed *t);
void complete_models(const Typed *t);
void complete_verbs(const Typed *t);
void complete_limits(const Typed *t);
void complete_mechanisms(const Typed *t);
void complete_output(const Typed *t);
json_object *complete_verb(const Typed *t); /* the verb that is typed, of t->verbs; NULL */
