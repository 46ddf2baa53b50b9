/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-token.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "signal/openadr-json.h"

#define USUAL_S 3600 /* where it is not said how long it is good */
#define MOST_S  86400

int openadr_token_parse(const char *answer, uint64_t now_us, OpenadrToken *ret)
{
	_cleanup_json_ json_object *o = json_tokener_parse(answer);
	const char *text = json_text(o, "access_token");
	int64_t s = json_object_get_int64(json_member(o, "expires_in")) ?: USUAL_S;

	if (!text || !*text || strpbrk(text, "\r\n"))
		return -EBADMSG;
	s = CLAMP(s, 1, MOST_S);
	ret->text = strdup(text);
	/* before it expires on the way */
	ret->until_us = now_us + (uint64_t)s * USEC_PER_SEC * 9 / 10;
	return ret->text ? 0 : -ENOMEM;
}

/* As forms want it: everything but letters and digits in hexadecimal. */
static char *escape(const char *text)
{
	char *escaped = malloc(strlen(text) * 3 + 1), *at = escaped;

	for (; escaped && *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			*at++ = *text;
		else
			at += sprintf(at, "%%%02X", (unsigned char)*text);
	}
	if (at)
		*at = '\0';
	return escaped;
}

char *openadr_token_form(const char *client, const char *secret, const char *scope)
{
	_cleanup_free_ char *id = escape(client), *pass = escape(secret);
	_cleanup_free_ char *of = escape(scope ?: "");

	if (!id || !pass || !of)
		return NULL;
	return text_printf("grant_type=client_credentials&client_id=%s&client_secret=%s%s%s", id,
			   pass, scope ? "&scope=" : "", of);
}
