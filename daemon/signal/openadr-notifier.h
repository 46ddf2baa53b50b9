/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a VTN says of how it tells of changes (OpenADR 3.1, /notifiers). Pure. */

#include "signal/openadr-config.h"

/* An MQTT broker. */
typedef struct OpenadrBroker {
	char *host;
	int port;
	bool tls;
	char *user; /* whose password is the token; NULL: nobody is asked who he is */
} OpenadrBroker;

void openadr_broker_done(OpenadrBroker *b);

/* The first broker of the answer that can be used. -ENOENT: MQTT is not offered; -EPERM: the token
 * would be told without encryption; -EPROTONOSUPPORT: it wants what is not known here; -EBADMSG. */
int openadr_notifier_broker(const char *answer, const OpenadrConfig *c, OpenadrBroker *ret);

/* The id of the VEN that the configuration names, in a page of VENs. -ENOENT, -EBADMSG. */
int openadr_notifier_ven(const char *page, const OpenadrConfig *c, char **ret_id);

/* Adds the topics of all changes. -EBADMSG. */
int openadr_notifier_topics(const char *answer, char ***topics);
