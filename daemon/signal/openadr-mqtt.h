/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Listens to topics of an MQTT broker, over libmosquitto. Names are looked up and connections made
 * in a thread of its own: it blocks nothing. What a message says is of no interest, only that it
 * came. */

#include <systemd/sd-event.h>

#include "signal/openadr-notifier.h"

typedef struct OpenadrMqtt OpenadrMqtt;

typedef struct MqttNews {
	bool joined;         /* from now on messages are heard */
	bool heard;          /* a message, or several */
	const char *problem; /* the connection is lost, or there was none; NULL: it lasts */
} MqttNews;

/* After a problem nothing more comes: the callee may free it. */
typedef void (*OnMqttNews)(void *userdata, const MqttNews *news);

/* Certificates are verified, by ca_file or, if it is NULL, by what the system trusts. What the
 * arguments point to is copied. -ENOMEM, -EMFILE, or as sd_event_add_io(). */
int openadr_mqtt_new(sd_event *event, const OpenadrBroker *b, const char *password,
		     const char *ca_file, char *const *topics, OnMqttNews on_news, void *userdata,
		     OpenadrMqtt **ret);
OpenadrMqtt *openadr_mqtt_free(OpenadrMqtt *q); /* returns NULL */
DEFINE_CLEANUP(OpenadrMqtt *, openadr_mqtt_free);
