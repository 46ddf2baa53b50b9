/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define CONNECT_TIMEOUT_S 10L
#define TIMEOUT_S         30L
#define ACCURACY_US       1000 /* without it each request may begin a quarter of a second late */
#define BODY_MAX          ((size_t)8 << 20)

struct OpenadrHttp {
	sd_event *event;
	sd_event_source *timer;
	CURLM *multi;
	CURL *easy; /* NULL: no request is under way */
	struct curl_slist *headers;
	char *ca_file, *body;
	size_t n;
	char problem[CURL_ERROR_SIZE];
	HttpDone done;
	void *userdata;
};

static void forget_request(OpenadrHttp *h)
{
	if (h->easy)
		curl_multi_remove_handle(h->multi, h->easy);
	curl_easy_cleanup(h->easy);
	curl_slist_free_all(h->headers);
	free(h->body);
	h->easy = NULL;
	h->headers = NULL;
	h->body = NULL;
	h->n = 0;
}

/* The request is forgotten before done() is called, which may start another one. */
static void finish(OpenadrHttp *h, CURLcode code)
{
	_cleanup_free_ char *body = TAKE_PTR(h->body);
	HttpAnswer a = { .body = body ?: "", .problem = "" };

	if (code == CURLE_OK)
		curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &a.status);
	else
		a.problem = *h->problem ? h->problem : curl_easy_strerror(code);
	forget_request(h);
	h->done(h->userdata, &a);
}

static void act(OpenadrHttp *h, curl_socket_t fd, int what)
{
	int running, left;
	CURLMcode code = curl_multi_socket_action(h->multi, fd, what, &running);
	const CURLMsg *m = curl_multi_info_read(h->multi, &left);

	if (m && m->msg == CURLMSG_DONE)
		finish(h, m->data.result);
	/* it tells nothing of a request any more once a callback has failed */
	else if (code != CURLM_OK && h->easy)
		finish(h, CURLE_OUT_OF_MEMORY);
}

static int on_socket(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	int what = 0;

	(void)s;
	if (revents & EPOLLIN)
		what |= CURL_CSELECT_IN;
	if (revents & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (revents & (EPOLLERR | EPOLLHUP))
		what |= CURL_CSELECT_ERR;
	act(userdata, fd, what);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
	(void)s, (void)usec;
	act(userdata, CURL_SOCKET_TIMEOUT, 0);
	return 0;
}

/* libcurl wants to be told of a socket, or no longer. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *userdata, void *watched)
{
	OpenadrHttp *h = userdata;
	sd_event_source *source = watched;
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		sd_event_source_disable_unref(source);
		return 0;
	}
	if (source)
		return sd_event_source_set_io_events(source, events) < 0 ? -1 : 0;
	if (sd_event_add_io(h->event, &source, fd, events, on_socket, h) < 0)
		return -1;
	curl_multi_assign(h->multi, fd, source);
	return 0;
}

static int set_timer(CURLM *multi, long ms, void *userdata)
{
	OpenadrHttp *h = userdata;
	int r;

	(void)multi;
	if (ms < 0)
		return sd_event_source_set_enabled(h->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
	r = sd_event_source_set_time_relative(h->timer, (uint64_t)ms * 1000);
	if (r >= 0)
		r = sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
	return r < 0 ? -1 : 0;
}

static int wire(OpenadrHttp *h)
{
	int r = sd_event_add_time(h->event, &h->timer, CLOCK_BOOTTIME, 0, ACCURACY_US, on_timer, h);

	if (r >= 0)
		r = sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
	if (r < 0)
		return r;
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, watch);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	return 0;
}

int openadr_http_new(sd_event *event, const char *ca_file, HttpDone done, void *userdata,
		     OpenadrHttp **ret)
{
	_cleanup_(openadr_http_freep) OpenadrHttp *h = calloc(1, sizeof(*h));
	int r;

	if (!h || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -ENOMEM;
	h->event = sd_event_ref(event);
	h->done = done;
	h->userdata = userdata;
	h->multi = curl_multi_init();
	h->ca_file = ca_file ? strdup(ca_file) : NULL;
	if (!h->multi || (ca_file && !h->ca_file))
		return -ENOMEM;
	r = wire(h);
	if (r >= 0)
		*ret = TAKE_PTR(h);
	return r;
}

OpenadrHttp *openadr_http_free(OpenadrHttp *h)
{
	if (!h)
		return NULL;
	forget_request(h);
	if (h->multi)
		curl_multi_cleanup(h->multi);
	sd_event_source_disable_unref(h->timer);
	sd_event_unref(h->event);
	free(h->ca_file);
	free(h);
	return NULL;
}

/* A longer one than anybody has use for ends the request. */
static size_t take_body(char *data, size_t size, size_t n, void *userdata)
{
	OpenadrHttp *h = userdata;
	char *longer;

	n *= size;
	if (n > BODY_MAX - h->n)
		return 0;
	longer = realloc(h->body, h->n + n + 1);
	if (!longer)
		return 0;
	memcpy(longer + h->n, data, n);
	h->body = longer;
	h->n += n;
	h->body[h->n] = '\0';
	return n;
}

static int add_header(OpenadrHttp *h, const char *name, const char *value)
{
	_cleanup_free_ char *line = value ? text_printf("%s: %s", name, value) : NULL;
	struct curl_slist *longer = line ? curl_slist_append(h->headers, line) : NULL;

	if (longer)
		h->headers = longer;
	return longer || !value ? 0 : -ENOMEM;
}

static int add_headers(OpenadrHttp *h, const HttpRequest *q)
{
	_cleanup_free_ char *bearer = q->bearer ? text_printf("Bearer %s", q->bearer) : NULL;
	int r = add_header(h, "Accept", "application/json");

	if (q->bearer && !bearer)
		return -ENOMEM;
	if (r >= 0)
		r = add_header(h, "Authorization", bearer);
	return r < 0 ? r : add_header(h, "Content-Type", q->type);
}

static int set_options(OpenadrHttp *h, const HttpRequest *q)
{
	CURL *e = h->easy;
	int r = add_headers(h, q);

	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	curl_easy_setopt(e, CURLOPT_TIMEOUT, TIMEOUT_S);
	/* Names are looked up in a thread. Without this the loop would wait for it after a timeout,
	 * for as long as it takes the resolver, and the watchdog would end the service. */
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(e, CURLOPT_ERRORBUFFER, h->problem);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "storpower/" STORPOWER_VERSION);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, h->headers);
	if (curl_easy_setopt(e, CURLOPT_URL, q->url) != CURLE_OK)
		return -ENOMEM;
	if (h->ca_file && curl_easy_setopt(e, CURLOPT_CAINFO, h->ca_file) != CURLE_OK)
		return -ENOMEM;
	if (q->body && curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, q->body) != CURLE_OK)
		return -ENOMEM;
	if (q->user && (curl_easy_setopt(e, CURLOPT_USERNAME, q->user) != CURLE_OK ||
			curl_easy_setopt(e, CURLOPT_PASSWORD, q->password) != CURLE_OK))
		return -ENOMEM;
	return r;
}

int openadr_http_start(OpenadrHttp *h, const HttpRequest *request)
{
	int r;

	if (h->easy)
		return -EBUSY;
	*h->problem = '\0';
	h->easy = curl_easy_init();
	r = h->easy ? set_options(h, request) : -ENOMEM;
	if (r >= 0 && curl_multi_add_handle(h->multi, h->easy) != CURLM_OK)
		r = -ENOMEM;
	if (r < 0)
		forget_request(h);
	return r;
}
