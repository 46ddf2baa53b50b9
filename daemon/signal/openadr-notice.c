/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-notice.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/openadr-http.h"
#include "signal/openadr-mqtt.h"

/* A VTN that offers nothing may do so after it has been changed. */
#define LOOK_AGAIN_US (3600 * USEC_PER_SEC)
/* After a broker was lost; twice as long each time while it stays away. */
#define COME_BACK_US      (10 * USEC_PER_SEC)
#define COME_BACK_MOST_US (600 * USEC_PER_SEC)

typedef enum Asking {
	ASKING_NOTHING,
	ASKING_NOTIFIERS,
	ASKING_TOPICS, /* of what is told to everybody */
	ASKING_VENS,
	ASKING_OWN_TOPICS
} Asking;

struct OpenadrNotice {
	const OpenadrConfig *config;
	sd_event *event;
	sd_event_source *timer; /* after a broker was lost */
	OpenadrHttp *http;
	OpenadrMqtt *mqtt; /* NULL: nothing is heard */
	OnNotice on_notice;
	void *userdata;
	Asking asking;
	uint64_t again_us; /* boot time */
	uint64_t away_us;  /* how long it was waited for a broker that is away */
	char *bearer;
	OpenadrBroker broker;
	char **topics;
	char *said;
};

static void forget(OpenadrNotice *n)
{
	openadr_broker_done(&n->broker);
	n->topics = strv_free(n->topics);
	free(n->bearer);
	n->bearer = NULL;
	n->asking = ASKING_NOTHING;
}

static void say(OpenadrNotice *n, const char *words)
{
	if (n->said && streq(n->said, words))
		return;
	log_warning("%s: %s; it is asked every %g s", n->config->url, words,
		    (double)n->config->poll_us / USEC_PER_SEC);
	free(n->said);
	n->said = strdup(words);
}

static void come_back(OpenadrNotice *n)
{
	forget(n);
	n->again_us = 0;
	n->away_us = n->away_us ? MIN(2 * n->away_us, COME_BACK_MOST_US) : COME_BACK_US;
	(void)sd_event_source_set_time_relative(n->timer, n->away_us);
	(void)sd_event_source_set_enabled(n->timer, SD_EVENT_ONESHOT);
}

static void on_news(void *userdata, const MqttNews *news)
{
	OpenadrNotice *n = userdata;
	_cleanup_free_ char *words = NULL;

	if (news->joined) {
		log_info("%s tells of changes by the MQTT broker %s: they are asked for at once",
			 n->config->url, n->broker.host);
		free(n->said);
		n->said = NULL;
		n->away_us = 0;
	}
	if (news->joined || news->heard)
		n->on_notice(n->userdata);
	if (!news->problem)
		return;
	words = text_printf("its MQTT broker %s is not heard: %s", n->broker.host, news->problem);
	say(n, words ?: "its MQTT broker is not heard");
	n->mqtt = openadr_mqtt_free(n->mqtt);
	come_back(n);
}

static int listen_to(OpenadrNotice *n)
{
	int r = openadr_mqtt_new(n->event, &n->broker, n->bearer, n->config->ca_file, n->topics,
				 on_news, n, &n->mqtt);

	if (r >= 0)
		n->asking = ASKING_NOTHING;
	else
		say(n, r == -ENOENT ? "its MQTT broker cannot be trusted: ca_file cannot be used"
				    : "its MQTT broker cannot be spoken to");
	return r;
}

static int ask(OpenadrNotice *n, Asking what, const char *path)
{
	_cleanup_free_ char *url = text_printf("%s/%s", n->config->url, path);
	int r = url ? openadr_http_start(n->http, &(HttpRequest){ .url = url, .bearer = n->bearer })
		    : -ENOMEM;

	if (r >= 0)
		n->asking = what;
	return r;
}

static int take_notifiers(OpenadrNotice *n, const char *body)
{
	int r = openadr_notifier_broker(body, n->config, &n->broker);

	if (r == -EPERM)
		say(n, "its MQTT broker would be told the token without encryption, which "
		       "plain_http=yes would allow");
	else if (r == -EPROTONOSUPPORT)
		say(n, "its MQTT broker is not one that can be spoken to");
	return r < 0 ? r : ask(n, ASKING_TOPICS, "notifiers/mqtt/topics/events");
}

static int take_topics(OpenadrNotice *n, const char *body)
{
	int r = openadr_notifier_topics(body, &n->topics);

	return r < 0 ? r : ask(n, ASKING_VENS, "vens?skip=0&limit=50");
}

/* A node that the VTN does not know by this name hears what everybody may. */
static int take_vens(OpenadrNotice *n, const char *body)
{
	_cleanup_free_ char *id = NULL, *path = NULL;
	int r = openadr_notifier_ven(body, n->config, &id);

	if (r < 0)
		return r == -ENOMEM ? r : listen_to(n);
	path = text_printf("notifiers/mqtt/topics/vens/%s/events", id);
	return path ? ask(n, ASKING_OWN_TOPICS, path) : -ENOMEM;
}

static int take_own_topics(OpenadrNotice *n, const char *body)
{
	int r = openadr_notifier_topics(body, &n->topics);

	return r == -ENOMEM ? r : listen_to(n);
}

/* Not found, and the like: that is no answer to go on with. */
static int take_refusal(OpenadrNotice *n, Asking asking)
{
	return asking == ASKING_VENS || asking == ASKING_OWN_TOPICS ? listen_to(n) : -ENOENT;
}

static int take(OpenadrNotice *n, Asking asking, const char *body)
{
	switch (asking) {
	case ASKING_NOTIFIERS: return take_notifiers(n, body);
	case ASKING_TOPICS: return take_topics(n, body);
	case ASKING_VENS: return take_vens(n, body);
	default: return take_own_topics(n, body);
	}
}

static void on_answer(void *userdata, const HttpAnswer *a)
{
	OpenadrNotice *n = userdata;
	int r;

	if (!a->status) {
		come_back(n);
		return;
	}
	r = a->status == 200 ? take(n, n->asking, a->body) : take_refusal(n, n->asking);
	if (r >= 0)
		return;
	if (r == -ENOMEM)
		log_oom();
	forget(n);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
	OpenadrNotice *n = userdata;

	(void)s, (void)usec;
	n->on_notice(n->userdata);
	return 0;
}

int openadr_notice_new(sd_event *event, const OpenadrConfig *c, OnNotice on_notice, void *userdata,
		       OpenadrNotice **ret)
{
	_cleanup_(openadr_notice_freep) OpenadrNotice *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	n->config = c;
	n->event = sd_event_ref(event);
	n->on_notice = on_notice;
	n->userdata = userdata;
	r = openadr_http_new(event, c->ca_file, on_answer, n, &n->http);
	if (r >= 0)
		r = sd_event_add_time(event, &n->timer, CLOCK_BOOTTIME, 0, 0, on_timer, n);
	if (r >= 0)
		r = sd_event_source_set_enabled(n->timer, SD_EVENT_OFF);
	if (r >= 0)
		*ret = TAKE_PTR(n);
	return r;
}

OpenadrNotice *openadr_notice_free(OpenadrNotice *n)
{
	if (!n)
		return NULL;
	openadr_mqtt_free(n->mqtt);
	openadr_http_free(n->http);
	sd_event_source_disable_unref(n->timer);
	forget(n);
	sd_event_unref(n->event);
	free(n->said);
	free(n);
	return NULL;
}

void openadr_notice_look(OpenadrNotice *n, const char *bearer)
{
	uint64_t now_us = clock_now_us(&clock_boottime);

	if (!n->config->notify || n->mqtt || n->asking != ASKING_NOTHING || now_us < n->again_us)
		return;
	n->again_us = now_us + LOOK_AGAIN_US;
	n->bearer = strdup(bearer);
	if (!n->bearer || ask(n, ASKING_NOTIFIERS, "notifiers") < 0) {
		log_oom();
		forget(n);
	}
}
