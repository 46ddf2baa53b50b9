/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* HTTP in an event loop, over libcurl: one request at a time, which blocks nothing. Certificates
 * are verified, redirections are not followed. */

#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct OpenadrHttp OpenadrHttp;

typedef struct HttpRequest {
	const char *url;
	const char *type, *body;     /* of a POST; NULL: it is a GET */
	const char *bearer;          /* NULL: it has none */
	const char *user, *password; /* likewise */
} HttpRequest;

typedef struct HttpAnswer {
	long status;         /* 0: none came */
	const char *body;    /* "" */
	const char *problem; /* why none came, in words */
} HttpAnswer;

/* It may start the next request. */
typedef void (*HttpDone)(void *userdata, const HttpAnswer *a);

/* ca_file: trusted instead of what the system trusts; NULL. */
int openadr_http_new(sd_event *event, const char *ca_file, HttpDone done, void *userdata,
		     OpenadrHttp **ret);
OpenadrHttp *openadr_http_free(OpenadrHttp *h); /* done() is not called any more; returns NULL */
DEFINE_CLEANUP(OpenadrHttp *, openadr_http_free);

/* -EBUSY: another one is under way. What the request points to is copied. */
int openadr_http_start(OpenadrHttp *h, const HttpRequest *request);
