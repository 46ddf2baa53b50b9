/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/follow.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/wall-timer.h"

#define FAR           ((time_t)1 << 33)
#define AFTER_ERROR_S 60

struct Follow {
	Holder *holder;
	WallTimer *timer;
	FollowWant want;
	void *userdata;
};

static time_t now_s(void)
{
	return (time_t)(realtime_us() / USEC_PER_SEC);
}

static int look_once(Follow *f)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	time_t again;
	int r;

	/* from here on the timer notices that the clock is set */
	(void)wall_timer_set(f->timer, FAR);
	tzset();
	r = f->want(f->userdata, now_s(), &wishes, &again);
	if (r >= 0)
		r = holder_hold(f->holder, &wishes);
	return r < 0 ? r : wall_timer_set(f->timer, again);
}

static int look(Follow *f)
{
	int r;

	do
		r = look_once(f);
	while (r == -ECANCELED);
	return r;
}

void follow_look(Follow *f)
{
	int r = look(f);

	if (r >= 0)
		return;
	log_error_errno(r, "Limits cannot be changed now: trying again in a minute");
	(void)wall_timer_set(f->timer, now_s() + AFTER_ERROR_S);
}

static void on_time(void *userdata)
{
	follow_look(userdata);
}

int follow_new(const SignalHost *host, FollowWant want, void *userdata, Follow **ret)
{
	_cleanup_(follow_freep) Follow *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->holder = host->holder;
	f->want = want;
	f->userdata = userdata;
	r = wall_timer_new(host->event, on_time, f, &f->timer);
	if (r >= 0)
		r = look(f);
	if (r >= 0)
		*ret = TAKE_PTR(f);
	return r;
}

Follow *follow_free(Follow *f)
{
	if (!f)
		return NULL;
	wall_timer_free(f->timer);
	free(f);
	return NULL;
}
