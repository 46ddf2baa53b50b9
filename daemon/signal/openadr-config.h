/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The configuration of the OpenADR signal. */

#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "signal/openadr-event.h"

/* What a level of SIMPLE means here. */
typedef struct OpenadrLevel {
	bool given;
	double limit;
	LimitUnit unit;
	const char *class;
} OpenadrLevel;

#define OPENADR_LEVELS 4 /* the first is not used: level 0 limits nothing */

typedef struct OpenadrConfig {
	/* [vtn] */
	char *url, *token_url, *client, *secret_file, *scope, *ca_file;
	char *ven;
	char **programs, **targets; /* NULL: all */
	uint64_t poll_us, lost_us;
	bool plain_http;
	bool notify; /* what the VTN tells of changes is listened to, if it offers that */
	/* [simple] */
	OpenadrLevel levels[OPENADR_LEVELS];
	/* [power] */
	double share, subscribed_w;
	/* [reports] */
	bool reports;
	/* nothing is missing without which the VTN cannot, or must not, be asked */
	bool usable;
} OpenadrConfig;

/* As the other configurations of signals. */
int openadr_config_read(const char *path, OpenadrConfig **ret, size_t *ret_warnings);
int openadr_config_read_text(const char *path, const char *text, OpenadrConfig **ret,
			     size_t *ret_warnings);
OpenadrConfig *openadr_config_free(OpenadrConfig *c); /* returns NULL */
DEFINE_CLEANUP(OpenadrConfig *, openadr_config_free);

/* The client's secret. -EPERM: others than its owner can read the file; -ENODATA: it is empty; ...
 */
int openadr_config_secret(const OpenadrConfig *c, char **ret);
