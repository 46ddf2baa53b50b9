/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "virtual-loop.h"

#include <errno.h>
#include <stdlib.h>

typedef struct Finished {
	struct Finished *next;
	uint64_t when_us;
	Work *job;
} Finished;

typedef struct VirtualLoop {
	Loop loop;
	uint64_t now_us, job_us; /* job_us: how far the running job is ahead */
	bool in_job;
	uint64_t blocked_us; /* slept outside of a job: the loop stood still */
	uint64_t wake_us;
	Finished *finished; /* by time */
	unsigned fast, slow;
	unsigned refused;                    /* submits to come */
	uint64_t free_us[FAST_THREADS_MOST]; /* when the threads of fast jobs are */
	unsigned n_threads;                  /* of those; 0: there is always one more */
} VirtualLoop;

static uint64_t virtual_now_us(void *userdata)
{
	VirtualLoop *l = userdata;

	return l->now_us + l->job_us;
}

static void virtual_sleep_us(void *userdata, uint64_t us)
{
	VirtualLoop *l = userdata;

	if (l->in_job)
		l->job_us += us;
	else {
		l->now_us += us;
		l->blocked_us += us;
	}
}

/* The one that is free first; NULL: another one. */
static uint64_t *thread_for(VirtualLoop *l, const Work *job)
{
	uint64_t *first = l->free_us;

	if (job->slow || !l->n_threads)
		return NULL;
	for (unsigned i = 1; i < l->n_threads; i++)
		if (l->free_us[i] < *first)
			first = &l->free_us[i];
	return first;
}

static int virtual_submit(Loop *loop, Work *job)
{
	VirtualLoop *l = (VirtualLoop *)loop;
	Finished **at = &l->finished, *f;
	uint64_t *thread = thread_for(l, job);

	if (l->refused) {
		l->refused--;
		return -EAGAIN;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	l->in_job = true;
	l->job_us = thread && *thread > l->now_us ? *thread - l->now_us : 0;
	job->run(job);
	*f = (Finished){ .when_us = l->now_us + l->job_us, .job = job };
	if (thread)
		*thread = f->when_us;
	l->in_job = false;
	l->job_us = 0;
	while (*at && (*at)->when_us <= f->when_us)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	*(job->slow ? &l->slow : &l->fast) += 1;
	return 0;
}

static int virtual_wake_at(Loop *loop, uint64_t when_us)
{
	((VirtualLoop *)loop)->wake_us = when_us;
	return 0;
}

static void finish_first(VirtualLoop *l)
{
	Finished *f = l->finished;
	Work *job = f->job;

	l->finished = f->next;
	l->now_us = f->when_us > l->now_us ? f->when_us : l->now_us;
	free(f);
	*(job->slow ? &l->slow : &l->fast) -= 1;
	job->done(job);
	if (l->loop.wake)
		l->loop.wake(l->loop.userdata);
}

static int virtual_drain(Loop *loop, uint64_t timeout_us, bool slow_too)
{
	VirtualLoop *l = (VirtualLoop *)loop;
	uint64_t end = l->now_us + timeout_us;

	while (l->fast || (slow_too && l->slow)) {
		if (l->finished->when_us > end) {
			l->now_us = end;
			return -ETIMEDOUT;
		}
		finish_first(l);
	}
	return 0;
}

Loop *virtual_loop_new(uint64_t start_us)
{
	VirtualLoop *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->now_us = start_us;
	l->wake_us = USEC_NEVER;
	l->loop = (Loop){
		.clock = { .now_us = virtual_now_us, .sleep_us = virtual_sleep_us, .userdata = l },
		.submit = virtual_submit,
		.wake_at = virtual_wake_at,
		.drain = virtual_drain,
	};
	return &l->loop;
}

Loop *virtual_loop_free(Loop *loop)
{
	free(loop);
	return NULL;
}

static uint64_t next_us(const VirtualLoop *l)
{
	uint64_t done_us = l->finished ? l->finished->when_us : USEC_NEVER;

	return done_us < l->wake_us ? done_us : l->wake_us;
}

bool virtual_loop_step(Loop *loop)
{
	VirtualLoop *l = (VirtualLoop *)loop;

	if (next_us(l) == USEC_NEVER)
		return false;
	if (l->finished && l->finished->when_us <= l->wake_us) {
		finish_first(l);
		return true;
	}
	l->now_us = l->wake_us > l->now_us ? l->wake_us : l->now_us;
	l->wake_us = USEC_NEVER;
	l->loop.wake(l->loop.userdata);
	return true;
}

void virtual_loop_run_until(Loop *loop, uint64_t when_us)
{
	VirtualLoop *l = (VirtualLoop *)loop;

	while (next_us(l) <= when_us && virtual_loop_step(loop))
		;
	l->now_us = when_us > l->now_us ? when_us : l->now_us;
}

uint64_t virtual_loop_blocked_us(const Loop *loop)
{
	return ((const VirtualLoop *)loop)->blocked_us;
}

void virtual_loop_refuse(Loop *loop, unsigned n)
{
	((VirtualLoop *)loop)->refused = n;
}

void virtual_loop_limit_fast(Loop *loop, unsigned n_threads)
{
	((VirtualLoop *)loop)->n_threads = n_threads;
}
