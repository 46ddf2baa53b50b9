/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loop/loop-event.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "base/log.h"

/* A shelf of disks has 60 to 100 of them, each with a slow job. NVMe states settle within 0.1 s, so
 * fewer threads are enough for fast jobs. */
#define FAST_THREADS_MAX 32
#define SLOW_THREADS_MAX 64
#define THREAD_IDLE_S    5

typedef struct EventLoop EventLoop;

typedef struct Lane {
	EventLoop *loop;
	Work *first, **last;
	pthread_cond_t work;
	unsigned n_threads, n_idle, max_threads;
	unsigned outstanding; /* submitted, done() not yet called; touched by the loop alone */
} Lane;

struct EventLoop {
	Loop loop; /* first: a Loop is an EventLoop */
	sd_event_source *timer, *finished_source;
	pthread_mutex_t lock;
	pthread_cond_t threads_gone;
	Lane fast, slow;
	Work *finished, **finished_last;
	int finished_fd;
	bool closing;
};

static void push(Work *job, Work ***last)
{
	job->next = NULL;
	**last = job;
	*last = &job->next;
}

/* Called with the lock held; NULL when the thread should end. */
static Work *next_job(Lane *lane)
{
	EventLoop *l = lane->loop;
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += THREAD_IDLE_S;
	lane->n_idle++;
	while (!lane->first && !l->closing && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&lane->work, &l->lock, &until);
	lane->n_idle--;
	if (!lane->first)
		return NULL;

	Work *job = lane->first;
	lane->first = job->next;
	if (!lane->first)
		lane->last = &lane->first;
	return job;
}

static void *work(void *userdata)
{
	Lane *lane = userdata;
	EventLoop *l = lane->loop;
	Work *job;

	pthread_mutex_lock(&l->lock);
	while ((job = next_job(lane))) {
		pthread_mutex_unlock(&l->lock);
		job->run(job);
		pthread_mutex_lock(&l->lock);
		/* the loop takes all that are there; it knows already when there are some */
		if (!l->finished)
			eventfd_write(l->finished_fd, 1);
		push(job, &l->finished_last);
	}
	lane->n_threads--;
	pthread_cond_signal(&l->threads_gone);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* Signals are for the main thread, so workers block them all. */
static int start_thread(Lane *lane)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t t;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256 << 10);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&t, &attr, work, lane);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (r == 0)
		lane->n_threads++;
	return -r;
}

static unsigned count_jobs(const Lane *lane)
{
	unsigned n = 0;

	for (const Work *j = lane->first; j; j = j->next)
		n++;
	return n;
}

static int event_submit(Loop *loop, Work *job)
{
	EventLoop *l = (EventLoop *)loop;
	Lane *lane = job->slow ? &l->slow : &l->fast;
	int r = 0;

	pthread_mutex_lock(&l->lock);
	if (count_jobs(lane) >= lane->n_idle && lane->n_threads < lane->max_threads)
		r = start_thread(lane);
	if (lane->n_threads) {
		push(job, &lane->last);
		r = 0; /* no new thread: the others will come to it */
	}
	pthread_mutex_unlock(&l->lock);
	/* not under the lock: the thread would wake only to wait for it */
	pthread_cond_signal(&lane->work);
	if (r < 0)
		return log_error_errno(r, "No thread could be started");
	lane->outstanding++;
	return 0;
}

static void wake(const EventLoop *l)
{
	if (l->loop.wake)
		l->loop.wake(l->loop.userdata);
}

static void finish_jobs(EventLoop *l)
{
	eventfd_t ignored;
	Work *job, *next;

	eventfd_read(l->finished_fd, &ignored);
	pthread_mutex_lock(&l->lock);
	job = l->finished;
	l->finished = NULL;
	l->finished_last = &l->finished;
	pthread_mutex_unlock(&l->lock);
	for (; job; job = next) {
		next = job->next;
		(job->slow ? &l->slow : &l->fast)->outstanding--;
		job->done(job);
	}
	wake(l);
}

static int on_finished(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	(void)s, (void)fd, (void)revents;
	finish_jobs(userdata);
	return 0;
}

static int event_drain(Loop *loop, uint64_t timeout_us, bool slow_too)
{
	EventLoop *l = (EventLoop *)loop;
	uint64_t end = clock_now_us(&loop->clock) + timeout_us, now;

	while (l->fast.outstanding || (slow_too && l->slow.outstanding)) {
		struct pollfd p = { .fd = l->finished_fd, .events = POLLIN };

		now = clock_now_us(&loop->clock);
		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((end - now) / USEC_PER_MSEC) + 1) > 0)
			finish_jobs(l);
	}
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
	(void)s, (void)usec;
	wake(userdata);
	return 0;
}

static int event_wake_at(Loop *loop, uint64_t when_us)
{
	EventLoop *l = (EventLoop *)loop;
	int r;

	if (when_us == USEC_NEVER)
		return sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
	r = sd_event_source_set_time(l->timer, when_us);
	return r < 0 ? r : sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

static void lane_init(Lane *lane, EventLoop *l, unsigned max_threads)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&lane->work, &attr);
	pthread_condattr_destroy(&attr);
	lane->loop = l;
	lane->last = &lane->first;
	lane->max_threads = max_threads;
}

static int attach(EventLoop *l, sd_event *event)
{
	int r = sd_event_add_io(event, &l->finished_source, l->finished_fd, EPOLLIN, on_finished,
				l);

	if (r >= 0)
		r = sd_event_add_time(event, &l->timer, CLOCK_BOOTTIME, UINT64_MAX, 1000, on_timer,
				      l);
	if (r >= 0)
		r = sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
	return r;
}

int loop_event_new(sd_event *event, Loop **ret)
{
	EventLoop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->loop = (Loop){ .clock = clock_boottime,
			  .submit = event_submit,
			  .wake_at = event_wake_at,
			  .drain = event_drain };
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->threads_gone, NULL);
	lane_init(&l->fast, l, FAST_THREADS_MAX);
	lane_init(&l->slow, l, SLOW_THREADS_MAX);
	l->finished_last = &l->finished;
	l->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = l->finished_fd < 0 ? -errno : attach(l, event);
	if (r < 0) {
		loop_event_free(&l->loop);
		return r;
	}
	*ret = &l->loop;
	return 0;
}

Loop *loop_event_free(Loop *loop)
{
	EventLoop *l = (EventLoop *)loop;

	if (!l)
		return NULL;
	pthread_mutex_lock(&l->lock);
	l->closing = true;
	pthread_cond_broadcast(&l->fast.work);
	pthread_cond_broadcast(&l->slow.work);
	while (l->fast.n_threads || l->slow.n_threads)
		pthread_cond_wait(&l->threads_gone, &l->lock);
	pthread_mutex_unlock(&l->lock);
	sd_event_source_disable_unref(l->timer);
	sd_event_source_disable_unref(l->finished_source);
	if (l->finished_fd >= 0)
		close(l->finished_fd);
	pthread_cond_destroy(&l->fast.work);
	pthread_cond_destroy(&l->slow.work);
	pthread_cond_destroy(&l->threads_gone);
	pthread_mutex_destroy(&l->lock);
	free(l);
	return NULL;
}
