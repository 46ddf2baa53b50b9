/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <libudev.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

/* The two clocks are read one after the other. */
#define SUSPENDED_US (100 * USEC_PER_MSEC)
#define FAR_FUTURE_S (1LL << 40)

struct BlockMonitor {
	struct udev *udev;
	struct udev_monitor *events;
	struct udev_monitor
		*resets; /* straight from the kernel, because rules change nothing about a reset */
	int mounts, swaps, clock_jump;
	int epoll;          /* over all of them */
	uint64_t asleep_us; /* how long the machine was suspended in all */
};

/* CLOCK_BOOTTIME goes on while the machine is suspended, CLOCK_MONOTONIC does not. */
static uint64_t suspended_us(void)
{
	struct timespec boot, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (uint64_t)(boot.tv_sec - mono.tv_sec) * USEC_PER_SEC +
	       (uint64_t)((boot.tv_nsec - mono.tv_nsec) / 1000);
}

/* Events come after udev's rules, which may choose the scheduler that we are to find as the
 * original. Where no udev runs they come straight from the kernel. */
static int open_events(BlockMonitor *m)
{
	const char *source = access("/run/udev/control", F_OK) == 0 ? "udev" : "kernel";
	int r;

	m->udev = udev_new();
	if (!m->udev)
		return -ENOMEM;
	m->events = udev_monitor_new_from_netlink(m->udev, source);
	if (!m->events)
		return -errno;
	r = udev_monitor_filter_add_match_subsystem_devtype(m->events, "block", "disk");
	if (r >= 0)
		r = udev_monitor_filter_add_match_subsystem_devtype(m->events, "nvme", NULL);
	return r < 0 ? r : udev_monitor_enable_receiving(m->events);
}

static int open_resets(BlockMonitor *m)
{
	int r;

	m->resets = udev_monitor_new_from_netlink(m->udev, "kernel");
	if (!m->resets)
		return -errno;
	r = udev_monitor_filter_add_match_subsystem_devtype(m->resets, "nvme", NULL);
	return r < 0 ? r : udev_monitor_enable_receiving(m->resets);
}

/* The kernel cancels such a timer whenever the wall clock jumps against CLOCK_MONOTONIC, as it does
 * on resuming (fs/timerfd.c, timerfd_resume). So nobody has to look at clocks. */
static int arm_clock_jump(BlockMonitor *m)
{
	const struct itimerspec never = { .it_value.tv_sec = FAR_FUTURE_S };
	int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;

	return timerfd_settime(m->clock_jump, flags, &never, NULL) < 0 ? -errno : 0;
}

static int add_to_epoll(BlockMonitor *m, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events };

	return epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

/* proc(5): poll(2) on these gives POLLPRI when they change. A system without swap has no file. */
static int watch_proc_file(BlockMonitor *m, const char *path, int *ret_fd)
{
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*ret_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return add_to_epoll(m, *ret_fd, EPOLLPRI);
}

static int open_all(BlockMonitor *m)
{
	int r = open_events(m);

	if (r >= 0)
		r = open_resets(m);
	if (r < 0)
		return r;
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	m->clock_jump = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (m->epoll < 0 || m->clock_jump < 0)
		return -errno;
	r = arm_clock_jump(m);
	if (r >= 0)
		r = add_to_epoll(m, m->clock_jump, EPOLLIN);
	if (r >= 0)
		r = add_to_epoll(m, udev_monitor_get_fd(m->events), EPOLLIN);
	if (r >= 0)
		r = add_to_epoll(m, udev_monitor_get_fd(m->resets), EPOLLIN);
	if (r >= 0)
		r = watch_proc_file(m, "/proc/self/mountinfo", &m->mounts);
	return r < 0 ? r : watch_proc_file(m, "/proc/swaps", &m->swaps);
}

int block_monitor_open(BlockMonitor **ret)
{
	_cleanup_(block_monitor_closep) BlockMonitor *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->mounts = m->swaps = m->clock_jump = m->epoll = -EBADF;
	m->asleep_us = suspended_us();
	r = open_all(m);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
}

BlockMonitor *block_monitor_close(BlockMonitor *m)
{
	if (!m)
		return NULL;
	closep(&m->epoll);
	closep(&m->clock_jump);
	closep(&m->mounts);
	closep(&m->swaps);
	udev_monitor_unref(m->events);
	udev_monitor_unref(m->resets);
	udev_unref(m->udev);
	free(m);
	return NULL;
}

int block_monitor_fd(const BlockMonitor *m)
{
	return m->epoll;
}

static bool is_reconnection(struct udev_device *event)
{
	const char *what = udev_device_get_property_value(event, "NVME_EVENT");

	return what && streq(what, "connected");
}

/* False when all has been read. Lost events leave *ret_event NULL. */
static bool next_event(struct udev_monitor *monitor, BlockNews *ret, struct udev_device **ret_event)
{
	errno = 0;
	*ret_event = udev_monitor_receive_device(monitor);
	ret->missed |= errno == ENOBUFS;
	return *ret_event || errno == ENOBUFS;
}

static void read_events(BlockMonitor *m, BlockNews *ret)
{
	struct udev_device *event;

	while (next_event(m->resets, ret, &event)) {
		if (event && is_reconnection(event) &&
		    strv_add(&ret->reset, udev_device_get_sysname(event)) < 0)
			ret->missed = true;
		udev_device_unref(event);
	}
	while (next_event(m->events, ret, &event)) {
		ret->devices = true;
		udev_device_unref(event);
	}
}

static bool has_resumed(BlockMonitor *m)
{
	uint64_t expirations, before = m->asleep_us;
	int r;

	if (read(m->clock_jump, &expirations, sizeof(expirations)) < 0 && errno == ECANCELED) {
		r = arm_clock_jump(m);
		if (r < 0)
			log_warning_errno(r, "Waking from suspend will not be noticed");
	}
	m->asleep_us = suspended_us();
	return m->asleep_us > before + SUSPENDED_US;
}

void block_monitor_read(BlockMonitor *m, BlockNews *ret)
{
	struct epoll_event ignored[4];

	*ret = (BlockNews){};
	/* takes what /proc has to say off the list of those that are ready */
	(void)epoll_wait(m->epoll, ignored, ELEMENTSOF(ignored), 0);
	read_events(m, ret);
	ret->resumed = has_resumed(m);
}
