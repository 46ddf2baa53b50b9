/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The loop of the real daemon: threads that cannot be started, jobs that block, and a manager that
 * ends while its writes hang. */

#include "test-control.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "loop/loop-event.h"

#define JOBS 200

static atomic_bool refuse_threads;

/* In place of the library's (and a sanitizer's), which it calls unless threads are refused. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (refuse_threads)
		return EAGAIN;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, start, arg);
}

typedef struct Bench {
	sd_event *event;
	Loop *loop;
} Bench;

static void open_bench(Bench *b)
{
	refuse_threads = false;
	assert_true(sd_event_new(&b->event) >= 0);
	assert_int_equal(loop_event_new(b->event, &b->loop), 0);
}

static void close_bench(Bench *b)
{
	loop_event_free(b->loop);
	sd_event_unref(b->event);
}

typedef struct Task {
	Work job;
	atomic_uint runs;
	unsigned dones;
	sem_t *wait; /* before it ends; NULL: does not */
} Task;

static void task_run(Work *job)
{
	Task *t = (Task *)job;

	t->runs++;
	if (t->wait)
		sem_wait(t->wait);
}

static void task_done(Work *job)
{
	((Task *)job)->dones++;
}

static Task *task_new(bool slow, sem_t *wait)
{
	Task *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->job = (Work){ .slow = slow, .run = task_run, .done = task_done };
	t->wait = wait;
	return t;
}

/* As the manager does: a job that was refused is its own again, and freed at once. */
static void a_job_that_finds_no_thread_is_handed_back(void **state)
{
	Task *refused = task_new(false, NULL), *later = task_new(false, NULL);
	Bench b;

	(void)state;
	log_set_max_level(LOG_CRIT);
	open_bench(&b);
	refuse_threads = true;
	assert_true(b.loop->submit(b.loop, &refused->job) < 0);
	free(refused);
	assert_int_equal(b.loop->drain(b.loop, USEC_PER_SEC, true), 0);
	refuse_threads = false;
	assert_int_equal(b.loop->submit(b.loop, &later->job), 0);
	assert_int_equal(b.loop->drain(b.loop, 10 * USEC_PER_SEC, true), 0);
	assert_int_equal(later->runs, 1);
	assert_int_equal(later->dones, 1);
	free(later);
	close_bench(&b);
}

static void without_new_threads_the_old_ones_do_all_jobs(void **state)
{
	Task *tasks[JOBS];
	sem_t hold;
	Bench b;

	(void)state;
	open_bench(&b);
	sem_init(&hold, 0, 0);
	for (size_t i = 0; i < JOBS; i++) {
		tasks[i] = task_new(false, i ? NULL : &hold);
		assert_int_equal(b.loop->submit(b.loop, &tasks[i]->job), 0);
		refuse_threads = true;
	}
	assert_int_equal(tasks[JOBS - 1]->runs, 0);
	sem_post(&hold);
	assert_int_equal(b.loop->drain(b.loop, 30 * USEC_PER_SEC, true), 0);
	for (size_t i = 0; i < JOBS; i++) {
		assert_int_equal(tasks[i]->runs, 1);
		assert_int_equal(tasks[i]->dones, 1);
		free(tasks[i]);
	}
	sem_destroy(&hold);
	close_bench(&b);
}

static void slow_jobs_never_stand_in_the_way_of_fast_ones(void **state)
{
	Task *slow[JOBS], *fast = task_new(false, NULL);
	sem_t hold;
	Bench b;

	(void)state;
	open_bench(&b);
	sem_init(&hold, 0, 0);
	for (size_t i = 0; i < JOBS; i++) {
		slow[i] = task_new(true, &hold);
		assert_int_equal(b.loop->submit(b.loop, &slow[i]->job), 0);
	}
	assert_int_equal(b.loop->submit(b.loop, &fast->job), 0);
	assert_int_equal(b.loop->drain(b.loop, 30 * USEC_PER_SEC, false), 0);
	assert_int_equal(fast->dones, 1);
	assert_int_equal(b.loop->drain(b.loop, 10 * USEC_PER_MSEC, true), -ETIMEDOUT);
	for (size_t i = 0; i < JOBS; i++)
		sem_post(&hold);
	assert_int_equal(b.loop->drain(b.loop, 30 * USEC_PER_SEC, true), 0);
	for (size_t i = 0; i < JOBS; i++) {
		assert_int_equal(slow[i]->dones, 1);
		free(slow[i]);
	}
	free(fast);
	sem_destroy(&hold);
	close_bench(&b);
}

/* A node on the loop in place of the fixture's virtual one. */
static void start_on(Fixture *f, Bench *b, const char *node)
{
	static const char *const policies[] = { "policies", NULL };
	ControlConfig config;

	fixture_open(f, "policies/nodes/tiny.node");
	inventory_free(f->node);
	virtual_loop_free(f->loop);
	open_bench(b);
	f->loop = b->loop;
	f->real_time = true;
	assert_int_equal(sim_node_open(node, NULL, f->profiles, &clock_boottime, &f->node), 0);
	config = (ControlConfig){ .profiles = f->profiles,
				  .policy.directories = policies,
				  .policy.name = "balanced",
				  .journal_path = f->journal,
				  SLEEP_DEFAULTS };
	assert_int_equal(control_new(&config, b->loop, f->node, &f->control), 0);
	assert_int_equal(control_start(f->control), 0);
	assert_int_equal(b->loop->drain(b->loop, 10 * USEC_PER_SEC, true), 0);
}

/* As the daemon ends: the manager first, its loop last. */
static void end_on(Fixture *f, Bench *b)
{
	fixture_stop(f);
	inventory_free(f->node);
	close_bench(b);
	f->node = NULL;
	f->loop = NULL;
	fixture_close(f);
}

static unsigned count_hanging(const FaultyDevice *devices, size_t n)
{
	unsigned hanging = 0;

	for (size_t i = 0; i < n; i++)
		hanging += devices[i].hanging;
	return hanging;
}

/* More devices than there are threads: some steps have not even begun. */
static void stopping_frees_nothing_that_a_worker_still_uses(void **state)
{
	_cleanup_free_ FaultyDevice *hung = NULL;
	_cleanup_free_ char *before = NULL;
	size_t n;
	Fixture f;
	Bench b;

	(void)state;
	start_on(&f, &b, "policies/nodes/archive.node");
	before = fixture_dump(&f);
	n = f.control->fleet.n;
	hung = calloc(n, sizeof(*hung));
	assert_non_null(hung);
	for (size_t i = 0; i < n; i++) {
		faulty_device_wrap(&hung[i], f.control->fleet.devices[i]->device, &clock_boottime);
		hung[i].hang_us = 700 * USEC_PER_MSEC;
	}
	fixture_set(&f, "65%");
	assert_int_equal(b.loop->drain(b.loop, 100 * USEC_PER_MSEC, false), -ETIMEDOUT);
	assert_true(f.control->outbox.counted_out > count_hanging(hung, n));
	assert_true(count_hanging(hung, n) > 0);
	fixture_stop(&f);
	assert_int_equal(count_hanging(hung, n), 0);
	assert_as_found(&f, before);
	assert_journal_empty(f.journal);
	end_on(&f, &b);
}

static void without_threads_nothing_is_lost(void **state)
{
	_cleanup_free_ char *before = NULL;
	Fixture f;
	Bench b;

	(void)state;
	start_on(&f, &b, "policies/nodes/flash.node");
	before = fixture_dump(&f);
	/* the threads that there were have ended */
	loop_event_free(b.loop);
	assert_int_equal(loop_event_new(b.event, &b.loop), 0);
	f.loop = b.loop;
	f.control->loop = b.loop;
	refuse_threads = true;
	log_set_max_level(LOG_CRIT);
	fixture_set(&f, "60%");
	assert_true(state_of(&f).degraded);
	refuse_threads = false;
	fixture_stop(&f);
	assert_as_found(&f, before);
	end_on(&f, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_finds_no_thread_is_handed_back),
		cmocka_unit_test(without_new_threads_the_old_ones_do_all_jobs),
		cmocka_unit_test(slow_jobs_never_stand_in_the_way_of_fast_ones),
		cmocka_unit_test(stopping_frees_nothing_that_a_worker_still_uses),
		cmocka_unit_test(without_threads_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
