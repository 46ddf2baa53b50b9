/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/wall-timer.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>

struct WallTimer {
	int fd;
	sd_event_source *source;
	void (*callback)(void *userdata);
	void *userdata;
};

/* read(2) says ECANCELED where the clock was set; either way it is time to look. */
static int on_timer(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	WallTimer *t = userdata;
	uint64_t ignored;

	(void)s, (void)revents;
	if (read(fd, &ignored, sizeof(ignored)) >= 0 || errno == ECANCELED)
		t->callback(t->userdata);
	return 0;
}

int wall_timer_new(sd_event *event, void (*callback)(void *userdata), void *userdata,
		   WallTimer **ret)
{
	_cleanup_(wall_timer_freep) WallTimer *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->callback = callback;
	t->userdata = userdata;
	t->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->fd < 0)
		return -errno;
	r = sd_event_add_io(event, &t->source, t->fd, EPOLLIN, on_timer, t);
	if (r >= 0)
		*ret = TAKE_PTR(t);
	return r;
}

WallTimer *wall_timer_free(WallTimer *t)
{
	if (!t)
		return NULL;
	sd_event_source_disable_unref(t->source);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
	return NULL;
}

int wall_timer_set(WallTimer *t, time_t at)
{
	const struct itimerspec spec = { .it_value = { .tv_sec = at } };

	if (timerfd_settime(t->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &spec, NULL) < 0)
		return -errno;
	return 0;
}
