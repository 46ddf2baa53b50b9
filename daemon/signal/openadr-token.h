/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An access token of OAuth 2, by a client's own credentials. Pure. */

#include <stdint.h>

#include "base/cleanup.h"

typedef struct OpenadrToken {
	char *text;        /* NULL: there is none */
	uint64_t until_us; /* boot time: a new one is asked for from then on */
} OpenadrToken;

/* What a token endpoint has answered at this time. -EBADMSG: there is no token in it. */
int openadr_token_parse(const char *answer, uint64_t now_us, OpenadrToken *ret);
/* The form with which a token is asked for; `scope` may be NULL. NULL: -ENOMEM. */
char *openadr_token_form(const char *client, const char *secret, const char *scope);
