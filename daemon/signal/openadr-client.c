/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-client.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/openadr-http.h"
#include "signal/openadr-page.h"
#include "signal/openadr-token.h"

#define EVENTS_MAX  10000
#define REPORTS_MAX 64

typedef enum Asking {
	ASKING_NOTHING,
	ASKING_TOKEN,
	ASKING_PROGRAMS,
	ASKING_EVENTS,
	TELLING
} Asking;

/* One round of asking for everything. */
typedef struct Round {
	bool wanted;
	bool have_programs;
	bool token_renewed; /* a VTN that refuses a new one, too, is not asked a third time */
	char **programs;    /* ids; NULL: all programs are meant */
	size_t at, skip;    /* of the programs; of the pages */
	OpenadrEvents events;
	char **complaints;
} Round;

struct OpenadrClient {
	const OpenadrConfig *config;
	OpenadrHttp *http;
	sd_event_source *timer;
	OpenadrOnEvents on_events;
	void *userdata;
	Asking asking;
	Round round;
	OpenadrToken token;
	char **reports;
	char **complaints;    /* of the round before, not to say the same again */
	uint64_t answered_us; /* boot time; 0: never */
	bool silent;          /* that was said */
	char *refusal; /* what was said of the last answer that was of no use; NULL: nothing */
};

static void go_on(OpenadrClient *c);

static void round_done(Round *r)
{
	strv_free(r->programs);
	strv_free(r->complaints);
	openadr_events_done(&r->events);
	*r = (Round){ 0 };
}

static void forget_token(OpenadrClient *c)
{
	free(c->token.text);
	c->token = (OpenadrToken){ 0 };
}

static uint64_t now_us(void)
{
	return clock_now_us(&clock_boottime);
}

/* Silence is nothing unusual before it lasts, and is said once; what the VTN has announced stays in
 * force. */
static void note_silence(OpenadrClient *c, const char *problem)
{
	bool lost = !c->answered_us || now_us() - c->answered_us >= c->config->lost_us;

	if (lost && !c->silent)
		log_warning("%s does not answer: %s; what it has announced goes on and ends as "
			    "announced, and it is asked again and again",
			    c->config->url, problem);
	c->silent |= lost;
}

static void note_answer(OpenadrClient *c)
{
	if (c->silent)
		log_info("%s answers again", c->config->url);
	c->silent = false;
	c->answered_us = now_us();
}

/* The round is given up, and what it was to replace stays. */
static void give_up(OpenadrClient *c)
{
	round_done(&c->round);
}

/* Said again when it is something else. */
static void complain_once(OpenadrClient *c, const char *words, const char *details)
{
	if (c->refusal && streq(words, c->refusal))
		return;
	log_warning("%s: %s%s; what was announced before goes on as announced", c->config->url,
		    words, details);
	free(c->refusal);
	c->refusal = strdup(words);
}

static void refused(OpenadrClient *c, const char *what, const HttpAnswer *a)
{
	_cleanup_free_ char *words = text_printf("%s (HTTP status %ld)", what, a->status);
	_cleanup_free_ char *details =
		text_printf(": %.*s", (int)MIN(strcspn(a->body, "\r\n"), 200u), a->body);

	if (words && details)
		complain_once(c, words, *a->body ? details : "");
	give_up(c);
}

static void complain_of_secret(OpenadrClient *c, int r)
{
	_cleanup_free_ char *words =
		text_printf("the secret in %s cannot be used: %s", c->config->secret_file,
			    r == -EPERM     ? "others can read it: chmod 600 it"
			    : r == -ENODATA ? "there is none"
					    : strerror(-r));

	if (words)
		complain_once(c, words, "");
}

static int ask(OpenadrClient *c, Asking what, const HttpRequest *q)
{
	int r = openadr_http_start(c->http, q);

	if (r >= 0)
		c->asking = what;
	return r;
}

static int ask_token(OpenadrClient *c)
{
	_cleanup_free_ char *secret = NULL, *form = NULL;
	int r = openadr_config_secret(c->config, &secret);

	if (r < 0) {
		complain_of_secret(c, r);
		return r;
	}
	form = openadr_token_form(c->config->client, secret, c->config->scope);
	if (!form)
		return -ENOMEM;
	return ask(c, ASKING_TOKEN,
		   &(HttpRequest){ .url = c->config->token_url,
				   .type = "application/x-www-form-urlencoded",
				   .body = form });
}

static int ask_page(OpenadrClient *c, Asking what)
{
	const Round *r = &c->round;
	const char *program = what == ASKING_EVENTS && r->programs ? r->programs[r->at] : NULL;
	_cleanup_free_ char *url =
		text_printf("%s/%s?skip=%zu&limit=%d%s%s", c->config->url,
			    what == ASKING_EVENTS ? "events" : "programs", r->skip, OPENADR_PAGE,
			    program ? "&programID=" : "", program ?: "");

	if (!url)
		return -ENOMEM;
	return ask(c, what, &(HttpRequest){ .url = url, .bearer = c->token.text });
}

static int tell_report(OpenadrClient *c)
{
	_cleanup_free_ char *url = text_printf("%s/reports", c->config->url);

	if (!url)
		return -ENOMEM;
	return ask(c, TELLING,
		   &(HttpRequest){ .url = url,
				   .type = "application/json",
				   .body = c->reports[0],
				   .bearer = c->token.text });
}

static int next_request(OpenadrClient *c)
{
	bool reports = c->reports && *c->reports;

	if (!c->round.wanted && !reports)
		return 0;
	if (!c->token.text || now_us() >= c->token.until_us)
		return ask_token(c);
	if (!c->round.wanted)
		return tell_report(c);
	if (c->config->programs && !c->round.have_programs)
		return ask_page(c, ASKING_PROGRAMS);
	return ask_page(c, ASKING_EVENTS);
}

static void go_on(OpenadrClient *c)
{
	int r = c->asking == ASKING_NOTHING ? next_request(c) : 0;

	if (r >= 0)
		return;
	if (r == -ENOMEM)
		log_oom();
	give_up(c); /* the next poll tries again */
}

static void remember_complaint(void *userdata, const char *words)
{
	OpenadrClient *c = userdata;

	for (char *const *said = c->complaints; said && *said; said++)
		if (streq(*said, words)) {
			(void)strv_add(&c->round.complaints, words);
			return;
		}
	log_warning("%s: %s: it is left out", c->config->url, words);
	(void)strv_add(&c->round.complaints, words);
}

static void deliver(OpenadrClient *c)
{
	strv_free(c->complaints);
	c->complaints = TAKE_PTR(c->round.complaints);
	free(c->refusal);
	c->refusal = NULL;
	c->on_events(c->userdata, &c->round.events);
	round_done(&c->round);
}

static int take_programs(OpenadrClient *c, const char *body)
{
	Round *r = &c->round;
	size_t n;
	int e = openadr_page_programs(body, c->config, &r->programs, &n);

	if (e < 0)
		return e;
	r->skip += n;
	if (n == OPENADR_PAGE)
		return 0;
	r->have_programs = true;
	r->skip = 0;
	if (r->programs && *r->programs)
		return 0;
	remember_complaint(c, "none of the configured programs is there");
	deliver(c);
	return 0;
}

static int take_events(OpenadrClient *c, const char *body)
{
	Round *r = &c->round;
	size_t n;
	int e = openadr_page_events(body, c->config, &r->events, remember_complaint, c, &n);

	if (e < 0)
		return e;
	r->skip += n;
	if (r->events.n > EVENTS_MAX)
		return -E2BIG;
	if (n == OPENADR_PAGE)
		return 0;
	r->skip = 0;
	r->at++;
	if (!r->programs || !r->programs[r->at])
		deliver(c);
	return 0;
}

static void drop_report(OpenadrClient *c)
{
	free(c->reports[0]);
	for (char **at = c->reports; *at; at++)
		at[0] = at[1];
}

/* A report that the VTN does not want is not sent again. */
static int take_receipt(OpenadrClient *c, const HttpAnswer *a)
{
	bool taken = a->status >= 200 && a->status < 300;

	if (taken || (a->status >= 400 && a->status < 500))
		drop_report(c);
	if (!taken) {
		refused(c, "the report is refused", a);
		return -EPROTO; /* others wait for the next poll */
	}
	return 0;
}

static int take_token(OpenadrClient *c, const HttpAnswer *a)
{
	forget_token(c);
	return openadr_token_parse(a->body, now_us(), &c->token);
}

static const char *const what_for[] = {
	[ASKING_TOKEN] = "no token was given",
	[ASKING_PROGRAMS] = "programs cannot be read",
	[ASKING_EVENTS] = "events cannot be read",
	[TELLING] = "the report is refused",
};

static int take_answer(OpenadrClient *c, Asking asking, const HttpAnswer *a)
{
	switch (asking) {
	case ASKING_TOKEN: return take_token(c, a);
	case ASKING_PROGRAMS: return take_programs(c, a->body);
	case ASKING_EVENTS: return take_events(c, a->body);
	default: return 0;
	}
}

/* An unknown token may have been forgotten by a VTN that was started anew. */
static bool is_old_token(const OpenadrClient *c, Asking asking, const HttpAnswer *a)
{
	return a->status == 401 && asking != ASKING_TOKEN && !c->round.token_renewed;
}

static void on_answer(void *userdata, const HttpAnswer *a)
{
	OpenadrClient *c = userdata;
	Asking asking = c->asking;
	int r = 0;

	c->asking = ASKING_NOTHING;
	if (!a->status) {
		note_silence(c, a->problem);
		give_up(c);
		return;
	}
	note_answer(c);
	if (is_old_token(c, asking, a)) {
		forget_token(c);
		c->round.token_renewed = true;
	} else if (asking == TELLING) {
		r = take_receipt(c, a);
	} else {
		r = a->status == 200 ? take_answer(c, asking, a) : -EPROTO;
		if (r == -ENOMEM)
			log_oom();
		if (r < 0)
			refused(c, what_for[asking], a);
	}
	if (r >= 0)
		go_on(c);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
	OpenadrClient *c = userdata;

	(void)usec;
	c->round.wanted = true;
	go_on(c);
	(void)sd_event_source_set_time_relative(s, c->config->poll_us);
	return 0;
}

int openadr_client_new(sd_event *event, const OpenadrConfig *config, OpenadrOnEvents on_events,
		       void *userdata, OpenadrClient **ret)
{
	_cleanup_(openadr_client_freep) OpenadrClient *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->config = config;
	c->on_events = on_events;
	c->userdata = userdata;
	r = openadr_http_new(event, config->ca_file, on_answer, c, &c->http);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &c->timer, CLOCK_BOOTTIME, 0, 0, on_timer, c);
	if (r >= 0)
		r = sd_event_source_set_enabled(c->timer,
						config->usable ? SD_EVENT_ON : SD_EVENT_OFF);
	if (r >= 0)
		*ret = TAKE_PTR(c);
	return r;
}

OpenadrClient *openadr_client_free(OpenadrClient *c)
{
	if (!c)
		return NULL;
	sd_event_source_disable_unref(c->timer);
	openadr_http_free(c->http);
	round_done(&c->round);
	forget_token(c);
	strv_free(c->reports);
	strv_free(c->complaints);
	free(c->refusal);
	free(c);
	return NULL;
}

int openadr_client_report(OpenadrClient *c, const char *json)
{
	int r = strv_add(&c->reports, json);

	if (r < 0)
		return r;
	/* the first may be on its way */
	if (strv_length(c->reports) > REPORTS_MAX && c->asking != TELLING)
		drop_report(c);
	go_on(c);
	return 0;
}
