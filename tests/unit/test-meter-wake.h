/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Child processes wake a loop device of the test's own. */

#include "test-meter-bpf.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CHILD    "early-riser"
#define QUIET_MS 100

typedef struct Told {
	unsigned wakes, overruns;
	MeterWake last;
} Told;

static inline void note_wake(const MeterWake *w, void *userdata)
{
	Told *t = userdata;

	t->wakes++;
	t->last = *w;
}

static inline void note_overrun(dev_t devnum, double joules, double seconds, void *userdata)
{
	Told *t = userdata;

	(void)devnum;
	(void)joules;
	(void)seconds;
	t->overruns++;
}

static inline bool is_readable(const Fixture *f)
{
	struct pollfd p = { .fd = meter_fd(f->meter), .events = POLLIN };

	assert_true(p.fd >= 0);
	return poll(&p, 1, QUIET_MS) == 1;
}

static inline Told process(Fixture *f)
{
	Told t = { 0 };

	assert_true(meter_process(f->meter, note_overrun, note_wake, &t) >= 0);
	return t;
}

static inline void watch(Fixture *f, bool on)
{
	assert_int_equal(meter_watch_wake(f->meter, f->device, on), 0);
}

/* In a child; ret: its process number, for it is gone when this returns. */
static inline pid_t by_another(Fixture *f, void (*work)(Fixture *))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_NAME, CHILD);
		signal(SIGABRT, SIG_DFL); /* a failed assertion */
		work(f);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return pid;
}

static inline void read_4k(Fixture *f)
{
	io(f, READ_IO, 4 * KIB, 8 * MIB);
}

static inline void write_8k_then_read(Fixture *f)
{
	io(f, WRITE_IO, 8 * KIB, 4 * MIB);
	read_4k(f);
}
