/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits by a calendar: claims of class "schedule" while its windows are open. */

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/calendar.h"
#include "signal/signal.h"
#include "signal/wall-timer.h"

#define FAR ((time_t)1 << 33)

typedef struct State {
	const Calendar *calendar;
	Holder *holder;
	WallTimer *timer;
} State;

static int look_once(State *s)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	time_t again;
	int r;

	/* from here on the timer notices that the clock is set */
	(void)wall_timer_set(s->timer, FAR);
	tzset();
	r = calendar_wishes(s->calendar, (time_t)(realtime_us() / USEC_PER_SEC), &wishes, &again);
	if (r >= 0)
		r = holder_hold(s->holder, &wishes);
	return r < 0 ? r : wall_timer_set(s->timer, again);
}

static int look(State *s)
{
	int r;

	do
		r = look_once(s);
	while (r == -ECANCELED);
	return r;
}

static void on_time(void *userdata)
{
	State *s = userdata;
	int r = look(s);

	if (r >= 0)
		return;
	log_error_errno(r, "The calendar cannot be followed now: trying again in a minute");
	(void)wall_timer_set(s->timer, (time_t)(realtime_us() / USEC_PER_SEC) + 60);
}

static void stop(void *state)
{
	State *s = state;

	wall_timer_free(s->timer);
	free(s);
}

static int start(const SignalHost *host, void *config, const void *before, void **ret)
{
	State *s = calloc(1, sizeof(*s));
	int r;

	(void)before;
	if (!s)
		return -ENOMEM;
	s->calendar = config;
	s->holder = host->holder;
	r = wall_timer_new(host->event, on_time, s, &s->timer);
	if (r >= 0)
		r = look(s);
	if (r < 0)
		stop(s);
	else
		*ret = s;
	return r;
}

static int read_config(const char *path, void **ret, size_t *ret_warnings)
{
	return calendar_read(path, (Calendar **)ret, ret_warnings);
}

static void free_config(void *config)
{
	calendar_free(config);
}

int main(int argc, char **argv)
{
	static const Signal calendar = {
		.name = "calendar",
		.source = "calendar",
		.about = "Limits the power of this node's storage by a calendar.",
		.read = read_config,
		.free_config = free_config,
		.start = start,
		.stop = stop,
	};

	return signal_main(&calendar, argc, argv);
}
