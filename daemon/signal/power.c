/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/power.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/nut.h"
#include "signal/power-sysfs.h"
#include "signal/power-wishes.h"
#include "signal/supply-monitor.h"

/* A feed that is looked after. */
typedef struct Watched {
	Power *power;
	const Feed *feed;
	FeedState state;
	Nut *nut;          /* of a UPS */
	char unknown[256]; /* why nothing is known, as it was told; "": something is */
} Watched;

struct Power {
	const PowerConfig *config;
	const SignalHost *host;
	sd_event_source *timer;
	uint64_t look_us; /* when everything is looked at next */
	SupplyMonitor *monitor;
	Watched *watched;
	size_t n;
};

static uint64_t now_us(void)
{
	return clock_now_us(&clock_boottime);
}

static void tell(const Watched *w, int level, const char *what)
{
	log_full(level, 0, "%s %s %s", feed_kind_name(w->feed->kind), w->feed->name, what);
}

static void take(Watched *w, FeedSeen seen, const char *words)
{
	if (seen == FEED_UNKNOWN && !streq(words, w->unknown))
		log_warning("%s %s: %s: nothing is known of it", feed_kind_name(w->feed->kind),
			    w->feed->name, words);
	if (seen == FEED_FAILED && !w->state.failing)
		tell(w, LOG_WARNING, "fails");
	snprintf(w->unknown, sizeof(w->unknown), "%s", seen == FEED_UNKNOWN ? words : "");
	feed_see(&w->state, seen, words, now_us());
}

static void settle(Watched *w)
{
	switch (feed_settle(&w->state, &w->power->config->rules, now_us())) {
	case FEED_STAYS: break;
	case FEED_IS_BACK: tell(w, LOG_NOTICE, "is sound again: its limits end"); break;
	case FEED_IS_LOST:
		tell(w, LOG_WARNING,
		     "has failed, and nothing is known of it any more: its limits end");
		break;
	}
}

/* The next look, or before that the end of a failure. */
static int set_timer(Power *p)
{
	uint64_t at = p->look_us;
	int r;

	for (size_t i = 0; i < p->n; i++)
		at = MIN(at, feed_settles_at(&p->watched[i].state, &p->config->rules));
	r = sd_event_source_set_time(p->timer, at);
	return r < 0 ? r : sd_event_source_set_enabled(p->timer, SD_EVENT_ONESHOT);
}

static int apply(Power *p)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	int r;

	for (size_t i = 0; i < p->n; i++)
		settle(&p->watched[i]);
	r = set_timer(p);
	for (size_t i = 0; r >= 0 && i < p->n; i++)
		if (p->watched[i].state.failing)
			r = feed_wishes(p->config, p->watched[i].feed, p->watched[i].state.words,
					&wishes);
	if (r >= 0)
		r = holder_hold(p->host->holder, &wishes);
	return r < 0 ? log_error_errno(r, "Limits cannot be changed now: trying again") : 0;
}

static void on_nut(void *userdata, FeedSeen seen, const char *words)
{
	Watched *w = userdata;

	take(w, seen, words);
	(void)apply(w->power);
}

/* What lies in /sys; it is read at once. */
static void look_at_kernel(Power *p, FeedKind kind)
{
	for (size_t i = 0; i < p->n; i++) {
		Watched *w = &p->watched[i];
		const Feed *f = w->feed;
		char words[256];

		if (f->kind != kind)
			continue;
		take(w,
		     kind == FEED_SUPPLY
			     ? supply_seen(p->host->sysfs, f->name, words, sizeof(words))
			     : alarm_seen(p->host->sysfs, f->chip, f->alarms, words, sizeof(words)),
		     words);
	}
}

static void look(Power *p)
{
	p->look_us = now_us() + p->config->poll_us;
	look_at_kernel(p, FEED_SUPPLY);
	look_at_kernel(p, FEED_ALARM);
	(void)apply(p);
	for (size_t i = 0; i < p->n; i++)
		if (p->watched[i].nut)
			nut_ask(p->watched[i].nut);
}

static void on_supply(void *userdata)
{
	Power *p = userdata;

	look_at_kernel(p, FEED_SUPPLY);
	(void)apply(p);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
	Power *p = userdata;

	(void)s, (void)usec;
	if (now_us() >= p->look_us)
		look(p);
	else
		(void)apply(p);
	return 0;
}

static void take_over(Watched *w, const Power *before)
{
	for (size_t i = 0; before && i < before->n; i++) {
		const Watched *old = &before->watched[i];

		if (old->feed->kind != w->feed->kind || !streq(old->feed->name, w->feed->name))
			continue;
		w->state = old->state;
		memcpy(w->unknown, old->unknown, sizeof(w->unknown));
	}
}

static int watch_feeds(Power *p, const Power *before)
{
	p->watched = calloc(p->config->n_feeds + 1, sizeof(*p->watched));
	if (!p->watched)
		return -ENOMEM;
	for (; p->n < p->config->n_feeds; p->n++) {
		Watched *w = &p->watched[p->n];
		const Feed *f = &p->config->feeds[p->n];
		int r = f->kind == FEED_UPS
				? nut_new(p->host->event, &f->address, on_nut, w, &w->nut)
				: 0;

		if (r < 0)
			return r;
		w->power = p;
		w->feed = f;
		take_over(w, before);
	}
	return 0;
}

int power_start(const SignalHost *host, const PowerConfig *config, const Power *before, Power **ret)
{
	_cleanup_(power_freep) Power *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->config = config;
	p->host = host;
	r = watch_feeds(p, before);
	if (r >= 0)
		r = sd_event_add_time(host->event, &p->timer, CLOCK_BOOTTIME, 0, 0, on_timer, p);
	if (r >= 0)
		r = supply_monitor_new(host->event, on_supply, p, &p->monitor);
	if (r < 0)
		return r;
	look(p);
	*ret = TAKE_PTR(p);
	return 0;
}

Power *power_free(Power *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n; i++)
		nut_free(p->watched[i].nut);
	free(p->watched);
	supply_monitor_free(p->monitor);
	sd_event_source_disable_unref(p->timer);
	free(p);
	return NULL;
}
