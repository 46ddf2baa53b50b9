/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-client.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/openadr-http.h"
#include "signal/openadr-notice.h"
#include "signal/openadr-page.h"
#include "signal/openadr-said.h"
#include "signal/openadr-token.h"

#define LIST_MAX 10000 /* programs, or events */
/* However often it tells of changes, a VTN is not asked more often for them. */
#define NOTICED_US USEC_PER_SEC

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
	OpenadrPrograms programs;
	size_t at, skip; /* of the configured programs; of the pages */
	OpenadrEvents events;
} Round;

struct OpenadrClient {
	const OpenadrConfig *config;
	OpenadrHttp *http;
	OpenadrNotice *notice;
	sd_event_source *timer;
	uint64_t polled_us;
	bool noticed; /* that something has changed, while it was asked for */
	OpenadrOnEvents on_events;
	void *userdata;
	Asking asking;
	Round round;
	OpenadrToken token;
	OpenadrReports *reports; /* the caller's */
	OpenadrSaid said;
};

static void go_on(OpenadrClient *c);

static void round_done(Round *r)
{
	openadr_programs_done(&r->programs);
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

static void on_notice(void *userdata)
{
	OpenadrClient *c = userdata;
	uint64_t since_us = now_us() - c->polled_us;

	c->noticed = c->round.wanted;
	if (!c->noticed)
		(void)sd_event_source_set_time_relative(
			c->timer, since_us < NOTICED_US ? NOTICED_US - since_us : 0);
}

static void end_round(OpenadrClient *c)
{
	round_done(&c->round);
	if (c->noticed)
		on_notice(c);
}

/* The round is given up, and what it was to replace stays. */
static void give_up(OpenadrClient *c)
{
	end_round(c);
	openadr_said_given_up(&c->said);
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
		openadr_say_secret(&c->said, r);
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
	const char *program =
		what == ASKING_EVENTS && r->programs.ids ? r->programs.ids[r->at] : NULL;
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
				   .body = openadr_reports_first(c->reports),
				   .bearer = c->token.text });
}

static int next_request(OpenadrClient *c)
{
	if (!c->round.wanted && !openadr_reports_first(c->reports))
		return 0;
	if (!c->token.text || now_us() >= c->token.until_us)
		return ask_token(c);
	if (!c->round.wanted)
		return tell_report(c);
	if (!c->round.have_programs)
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

static void deliver(OpenadrClient *c)
{
	openadr_said_events(&c->said);
	c->on_events(c->userdata, &c->round.events);
	end_round(c);
	openadr_notice_look(c->notice, c->token.text);
}

static int take_programs(OpenadrClient *c, const char *body)
{
	Round *r = &c->round;
	size_t n;
	int e = openadr_page_programs(body, c->config, &r->programs, &n);

	if (e < 0)
		return e;
	r->skip += n;
	if (r->skip > LIST_MAX)
		return -E2BIG;
	if (n == OPENADR_PAGE)
		return 0;
	r->have_programs = true;
	r->skip = 0;
	if (!c->config->programs || r->programs.ids)
		return 0;
	openadr_say_left_out(&c->said, "none of the configured programs is there");
	deliver(c);
	return 0;
}

static int take_events(OpenadrClient *c, const char *body)
{
	Round *r = &c->round;
	size_t n;
	int e = openadr_page_events(body, c->config, &r->programs, &r->events, openadr_say_left_out,
				    &c->said, &n);

	if (e < 0)
		return e;
	r->skip += n;
	if (r->skip > LIST_MAX || r->events.n > LIST_MAX)
		return -E2BIG;
	if (n == OPENADR_PAGE)
		return 0;
	r->skip = 0;
	r->at++;
	if (!r->programs.ids || !r->programs.ids[r->at])
		deliver(c);
	return 0;
}

static int take_receipt(OpenadrClient *c, const HttpAnswer *a)
{
	bool settled = openadr_report_is_settled(a->status);

	if (settled)
		openadr_reports_drop_first(c->reports);
	if (a->status < 200 || a->status >= 300) {
		openadr_say_report_refusal(&c->said,
					   settled ? "a report is refused, and is not sent again"
						   : "a report is not taken now, and waits",
					   a->status, a->body);
		return -EPROTO; /* others wait for the next poll */
	}
	openadr_said_report(&c->said);
	return 0;
}

static int take_token(OpenadrClient *c, const HttpAnswer *a)
{
	forget_token(c);
	return openadr_token_parse(a->body, now_us(), &c->token);
}

/* Who may not see programs may see events, and those have units of their own or are in kW. */
static bool does_without(const OpenadrClient *c, Asking asking, const HttpAnswer *a)
{
	return asking == ASKING_PROGRAMS && !c->config->programs &&
	       (a->status == 403 || a->status == 404);
}

static int take(OpenadrClient *c, Asking asking, const HttpAnswer *a)
{
	if (does_without(c, asking, a)) {
		c->round.have_programs = true;
		c->round.skip = 0;
		return 0;
	}
	if (a->status != 200)
		return -EPROTO;
	switch (asking) {
	case ASKING_TOKEN: return take_token(c, a);
	case ASKING_PROGRAMS: return take_programs(c, a->body);
	default: return take_events(c, a->body);
	}
}

static const char *const what_for[] = {
	[ASKING_TOKEN] = "no token was given",
	[ASKING_PROGRAMS] = "programs cannot be read",
	[ASKING_EVENTS] = "events cannot be read",
};

/* A token that may be in the answer is told to nobody. */
static void refused(OpenadrClient *c, Asking asking, int r, const HttpAnswer *a)
{
	if (r == -ENOMEM)
		log_oom();
	openadr_say_refusal(&c->said,
			    r == -E2BIG ? "it tells more than 10000 programs or events, or the "
					  "same ones again and again"
					: what_for[asking],
			    a->status, asking == ASKING_TOKEN && a->status < 300 ? "" : a->body);
	give_up(c);
}

/* An unknown token may have been forgotten by a VTN that was started anew. */
static bool is_old_token(const OpenadrClient *c, Asking asking, const HttpAnswer *a)
{
	return a->status == 401 && asking != ASKING_TOKEN && !c->round.token_renewed;
}

static int use_answer(OpenadrClient *c, Asking asking, const HttpAnswer *a)
{
	bool old = is_old_token(c, asking, a);
	int r;

	if (asking != ASKING_TOKEN)
		c->round.token_renewed = old;
	if (old) {
		forget_token(c);
		return 0;
	}
	if (asking == TELLING)
		return take_receipt(c, a);
	r = take(c, asking, a);
	if (r < 0)
		refused(c, asking, r, a);
	return r;
}

static void on_answer(void *userdata, const HttpAnswer *a)
{
	OpenadrClient *c = userdata;
	Asking asking = c->asking;

	c->asking = ASKING_NOTHING;
	if (!a->status) {
		openadr_say_silence(&c->said, a->problem);
		give_up(c);
		return;
	}
	openadr_say_answer(&c->said);
	/* a poll may have come while a report was told */
	if (use_answer(c, asking, a) >= 0 || c->round.wanted)
		go_on(c);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
	OpenadrClient *c = userdata;

	(void)usec;
	c->polled_us = now_us();
	c->round.wanted = true;
	go_on(c);
	(void)sd_event_source_set_time_relative(s, c->config->poll_us);
	return 0;
}

int openadr_client_new(sd_event *event, const OpenadrConfig *config, OpenadrReports *reports,
		       OpenadrOnEvents on_events, void *userdata, OpenadrClient **ret)
{
	_cleanup_(openadr_client_freep) OpenadrClient *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->config = c->said.config = config;
	c->reports = reports;
	c->on_events = on_events;
	c->userdata = userdata;
	r = openadr_http_new(event, config->ca_file, on_answer, c, &c->http);
	if (r >= 0)
		r = openadr_notice_new(event, config, on_notice, c, &c->notice);
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
	openadr_notice_free(c->notice);
	openadr_http_free(c->http);
	round_done(&c->round);
	forget_token(c);
	openadr_said_done(&c->said);
	free(c);
	return NULL;
}

int openadr_client_report(OpenadrClient *c, const char *json)
{
	int r = openadr_reports_add(c->reports, json, c->asking == TELLING);

	if (r >= 0)
		go_on(c);
	return r;
}
