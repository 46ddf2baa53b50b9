/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-mqtt.h"

#include <errno.h>
#include <mosquitto.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"

#define KEEPALIVE_S 60
#define LOOK_MS     5000 /* at whether it is still wanted, where the broker says nothing */
#define QOS         1
#define NO_TOPIC    -1 /* beside the reasons of MQTT 3.1.1, 3.2.2.3 */

enum { JOINED = 1, HEARD = 2, LOST = 4 };

/* What the thread and its owner share; who lets go of it last frees it. */
typedef struct Line {
	atomic_uint users;
	atomic_bool ended;       /* the owner's word */
	atomic_uint news;        /* the thread's, beside a word to `fd` */
	size_t answered, joined; /* topics; the thread's */
	atomic_int refused;      /* by the broker: its reason; 0: not */
	atomic_int error;        /* of libmosquitto, once it is lost */
	int saved_errno;         /* likewise */
	int fd;
	int port;
	char *host, **topics;
	struct mosquitto *client;
} Line;

struct OpenadrMqtt {
	Line *line;
	sd_event_source *source;
	OnMqttNews on_news;
	void *userdata;
};

static void line_unref(Line *l)
{
	if (!l || atomic_fetch_sub(&l->users, 1) > 1)
		return;
	mosquitto_destroy(l->client);
	if (l->fd >= 0)
		close(l->fd);
	free(l->host);
	strv_free(l->topics);
	free(l);
}

static void line_unrefp(Line **l)
{
	line_unref(*l);
}

static void tell(Line *l, unsigned news)
{
	atomic_fetch_or(&l->news, news);
	(void)eventfd_write(l->fd, 1);
}

static void on_connect(struct mosquitto *client, void *userdata, int refused)
{
	Line *l = userdata;

	atomic_store(&l->refused, refused);
	for (char *const *topic = l->topics; !refused && *topic; topic++)
		(void)mosquitto_subscribe(client, NULL, *topic, QOS);
}

/* 0x80 is a refusal (MQTT 3.1.1, 3.9.3). Its topic stays unheard; where all do, there is no use in
 * staying. */
static void on_subscribe(struct mosquitto *client, void *userdata, int id, int n,
			 const int *granted)
{
	Line *l = userdata;

	(void)id;
	for (int i = 0; i < n; i++)
		l->joined += granted[i] != 0x80;
	if (++l->answered < strv_length(l->topics))
		return;
	if (l->joined) {
		tell(l, JOINED);
	} else {
		atomic_store(&l->refused, NO_TOPIC);
		(void)mosquitto_disconnect(client);
	}
}

static void on_message(struct mosquitto *client, void *userdata, const struct mosquitto_message *m)
{
	(void)client;
	if (!m->retain) /* what was said before we came is in the events already */
		tell(userdata, HEARD);
}

static void *run(void *line)
{
	Line *l = line;
	int error = mosquitto_connect(l->client, l->host, l->port, KEEPALIVE_S);

	while (error == MOSQ_ERR_SUCCESS && !atomic_load(&l->ended))
		error = mosquitto_loop(l->client, LOOK_MS, 1);
	l->saved_errno = errno;
	atomic_store(&l->error, error);
	tell(l, LOST);
	line_unref(l);
	return NULL;
}

static const char *problem_of(const Line *l)
{
	int refused = atomic_load(&l->refused), error = atomic_load(&l->error);

	if (refused)
		return refused == NO_TOPIC ? "no topic is open to this node"
					   : mosquitto_connack_string(refused);
	return error == MOSQ_ERR_ERRNO ? strerror(l->saved_errno) : mosquitto_strerror(error);
}

static int on_line(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	OpenadrMqtt *q = userdata;
	eventfd_t n;
	unsigned news;

	(void)s, (void)revents;
	(void)eventfd_read(fd, &n);
	news = atomic_exchange(&q->line->news, 0);
	q->on_news(q->userdata, &(MqttNews){ .joined = news & JOINED,
					     .heard = news & HEARD,
					     .problem = news & LOST ? problem_of(q->line) : NULL });
	return 0;
}

static int trust(struct mosquitto *client, const char *ca_file)
{
	int e;

	if (!ca_file &&
	    mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1) != MOSQ_ERR_SUCCESS)
		return -ENOMEM;
	e = ca_file ? mosquitto_tls_set(client, ca_file, NULL, NULL, NULL, NULL) : MOSQ_ERR_SUCCESS;
	return e == MOSQ_ERR_SUCCESS ? 0 : e == MOSQ_ERR_NOMEM ? -ENOMEM : -ENOENT;
}

static int describe(Line *l, const OpenadrBroker *b, const char *password, const char *ca_file)
{
	struct mosquitto *client = l->client = mosquitto_new(NULL, true, l);

	if (!client)
		return -ENOMEM;
	mosquitto_connect_callback_set(client, on_connect);
	mosquitto_subscribe_callback_set(client, on_subscribe);
	mosquitto_message_callback_set(client, on_message);
	if (mosquitto_threaded_set(client, true) != MOSQ_ERR_SUCCESS)
		return -ENOMEM;
	if (b->user && mosquitto_username_pw_set(client, b->user, password) != MOSQ_ERR_SUCCESS)
		return -ENOMEM;
	return b->tls ? trust(client, ca_file) : 0;
}

static int copy_topics(Line *l, char *const *topics)
{
	int r = 0;

	for (; r >= 0 && topics && *topics; topics++)
		r = strv_add(&l->topics, *topics);
	return r >= 0 && !l->topics ? -EINVAL : r;
}

static int line_new(const OpenadrBroker *b, const char *password, const char *ca_file,
		    char *const *topics, Line **ret)
{
	_cleanup_(line_unrefp) Line *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	atomic_init(&l->users, 1);
	l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->host = strdup(b->host);
	l->port = b->port;
	if (l->fd < 0)
		return -EMFILE; /* what else eventfd(2) may lack is as rare as memory */
	if (!l->host)
		return -ENOMEM;
	r = copy_topics(l, topics);
	if (r >= 0)
		r = describe(l, b, password, ca_file);
	if (r >= 0)
		*ret = TAKE_PTR(l);
	return r;
}

/* Signals are for the loop. */
static int start(Line *l)
{
	sigset_t all, before;
	pthread_t thread;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_add(&l->users, 1);
	e = pthread_create(&thread, NULL, run, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e) {
		line_unref(l);
		return -e;
	}
	pthread_detach(thread);
	return 0;
}

int openadr_mqtt_new(sd_event *event, const OpenadrBroker *b, const char *password,
		     const char *ca_file, char *const *topics, OnMqttNews on_news, void *userdata,
		     OpenadrMqtt **ret)
{
	_cleanup_(openadr_mqtt_freep) OpenadrMqtt *q = calloc(1, sizeof(*q));
	int r;

	if (!q || mosquitto_lib_init() != MOSQ_ERR_SUCCESS)
		return -ENOMEM;
	q->on_news = on_news;
	q->userdata = userdata;
	r = line_new(b, password, ca_file, topics, &q->line);
	if (r >= 0)
		r = sd_event_add_io(event, &q->source, q->line->fd, EPOLLIN, on_line, q);
	if (r >= 0)
		r = start(q->line);
	if (r >= 0)
		*ret = TAKE_PTR(q);
	return r;
}

/* The thread ends when it sees that; nobody waits for it. */
OpenadrMqtt *openadr_mqtt_free(OpenadrMqtt *q)
{
	if (!q)
		return NULL;
	sd_event_source_disable_unref(q->source);
	if (q->line) {
		atomic_store(&q->line->ended, true);
		(void)mosquitto_disconnect(q->line->client);
	}
	line_unref(q->line);
	free(q);
	return NULL;
}
