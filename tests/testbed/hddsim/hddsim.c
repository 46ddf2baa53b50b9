/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* hddsim: makes the disk, serves it at its pace, and takes it away again. */

#include "hddsim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/text.h"

/* How the kernel objects come and go. Both ways make the kernel send us commands and wait for their
 * answers, so that a child does them while we serve. */
typedef enum Stage { ATTACHING, APPEARING, THERE, REMOVING, GONE } Stage;

typedef struct Life {
	Stage stage;
	pid_t child;
	int signal_fd;
	int status; /* the exit status */
} Life;

static int start_child(Life *life, const Options *o, Stage stage, int (*work)(const Options *))
{
	life->stage = stage;
	life->child = fork();
	if (life->child < 0)
		return log_error_errno(errno, "Cannot fork");
	if (life->child == 0)
		_exit(work(o) < 0);
	return 0;
}

static void reap(Life *life)
{
	int status;

	if (waitpid(life->child, &status, WNOHANG) != life->child)
		return;
	life->child = 0;
	if (status != 0)
		life->status = 1;
	life->stage = life->stage == REMOVING ? GONE : APPEARING;
}

static void look_for_disk(Life *life, Sim *s)
{
	if (!configfs_disk(&s->options, s->disk, sizeof(s->disk)))
		return;
	printf("ready %s\n", s->disk);
	fflush(stdout);
	life->stage = THERE;
}

static int proceed(Life *life, Sim *s)
{
	if (life->child)
		reap(life);
	if (life->stage == APPEARING && !life->status)
		look_for_disk(life, s);
	if ((s->quit || life->status) && !life->child && life->stage < REMOVING)
		return start_child(life, &s->options, REMOVING, configfs_remove);
	return 0;
}

static void take_signals(const Life *life, Sim *s)
{
	struct signalfd_siginfo info;

	while (read(life->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			s->quit = true;
}

static uint64_t boottime_us(void)
{
	return clock_now_us(&clock_boottime);
}

static int serve_ring(Sim *s)
{
	Command *c;
	int r;

	ring_acknowledge(&s->ring);
	while ((r = ring_fetch(&s->ring, &c)) > 0)
		scsi_execute(s, c);
	if (r < 0)
		return r;
	mechanics_advance(s, boottime_us());
	ring_notify(&s->ring);
	return 0;
}

static struct timespec *time_until(const Sim *s, const Life *life, struct timespec *t)
{
	uint64_t now_us = boottime_us(), next_us = mechanics_next_us(s), us;

	us = next_us > now_us ? next_us - now_us : 0;
	if (life->stage == APPEARING)
		us = MIN(us, 20 * USEC_PER_MSEC);
	else if (next_us == USEC_NEVER)
		return NULL;
	*t = (struct timespec){ us / USEC_PER_SEC, us % USEC_PER_SEC * 1000 };
	return t;
}

static int serve(Sim *s, Life *life)
{
	struct pollfd fds[] = { { .fd = s->ring.fd, .events = POLLIN },
				{ .fd = life->signal_fd, .events = POLLIN },
				{ .fd = s->control_fd, .events = POLLIN } };

	while (life->stage != GONE) {
		struct timespec t;
		int r;

		if (ppoll(fds, ELEMENTSOF(fds), time_until(s, life, &t), NULL) < 0 &&
		    errno != EINTR)
			return log_error_errno(errno, "Cannot wait");
		mechanics_advance(s, boottime_us());
		if (fds[1].revents)
			take_signals(life, s);
		if (fds[2].revents & POLLIN)
			control_serve(s);
		r = serve_ring(s);
		if (r >= 0)
			r = proceed(life, s);
		if (r < 0)
			return r;
		/* the kernel closes the ring's device before the last step of the removal */
		if (fds[0].revents & (POLLERR | POLLHUP))
			fds[0].fd = -1;
	}
	return life->status ? -EIO : 0;
}

static int open_signals(int *ret_fd)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	*ret_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret_fd < 0 ? -errno : 0;
}

static int open_backing(Sim *s)
{
	const char *path = s->options.backing_path;

	s->backing_fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600)
			     : memfd_create("hddsim", MFD_CLOEXEC);
	if (s->backing_fd < 0 || ftruncate(s->backing_fd, (off_t)s->options.size_bytes) < 0)
		return log_error_errno(errno, "Backing store %s", path ?: "in memory");
	return 0;
}

static int open_log(Sim *s)
{
	if (!s->options.log_path)
		return 0;
	s->log = fopen(s->options.log_path, "ae");
	return s->log ? 0 : log_error_errno(errno, "Cannot write %s", s->options.log_path);
}

static void sim_init(Sim *s)
{
	s->now_us = boottime_us();
	s->queue_end = &s->queue;
	s->ring.fd = s->backing_fd = s->control_fd = -1;
	s->write_cache = true;
	s->epc_enabled = s->options.epc && !s->options.apm && !s->options.sas;
	s->apm = s->options.apm && !s->options.sas ? 254 : 0;
	state_init(&s->state, &s->options, s->now_us);
}

static void sim_done(Sim *s)
{
	while (s->queue) {
		Command *c = s->queue;

		s->queue = c->next;
		free(c);
	}
	ring_close(&s->ring);
	if (s->backing_fd >= 0)
		close(s->backing_fd);
	if (s->control_fd >= 0) {
		close(s->control_fd);
		(void)unlink(s->options.control_path);
	}
	if (s->log)
		fclose(s->log);
}

static int run(Sim *s)
{
	Life life = { 0 };
	int r;

	r = open_signals(&life.signal_fd);
	if (r < 0)
		return log_error_errno(r, "Cannot take signals");
	r = configfs_make(&s->options);
	if (r >= 0)
		r = ring_open(&s->ring, s->options.name);
	if (r >= 0 && s->options.control_path)
		r = control_listen(s->options.control_path, &s->control_fd);
	if (r >= 0)
		r = start_child(&life, &s->options, ATTACHING, configfs_attach);
	if (r >= 0)
		r = serve(s, &life);
	if (r < 0 && r != -EEXIST)
		(void)configfs_remove(&s->options); /* what is left of it */
	close(life.signal_fd);
	return r;
}

int main(int argc, char *argv[])
{
	Sim s = { 0 };
	int r;

	if (argc == 4 && streq(argv[1], "--send"))
		return control_send(argv[2], argv[3]);
	r = options_parse(&s.options, argc, argv);
	if (r != 0)
		return r < 0;
	sim_init(&s);
	r = open_backing(&s);
	if (r >= 0)
		r = open_log(&s);
	if (r >= 0)
		r = run(&s);
	sim_done(&s);
	return r < 0;
}
