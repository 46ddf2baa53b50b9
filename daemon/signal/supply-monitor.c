/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/supply-monitor.h"

#include <errno.h>
#include <libudev.h>

struct SupplyMonitor {
	struct udev *udev;
	struct udev_monitor *monitor;
	sd_event_source *source;
	void (*changed)(void *userdata);
	void *userdata;
};

static int on_event(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	SupplyMonitor *m = userdata;
	struct udev_device *d;
	bool any = false;

	(void)s, (void)fd, (void)revents;
	while ((d = udev_monitor_receive_device(m->monitor))) {
		udev_device_unref(d);
		any = true;
	}
	if (any)
		m->changed(m->userdata);
	return 0;
}

/* Straight from the kernel: rules change nothing about power, and take their time. */
static int listen_to_kernel(SupplyMonitor *m, sd_event *event)
{
	int r;

	m->udev = udev_new();
	m->monitor = m->udev ? udev_monitor_new_from_netlink(m->udev, "kernel") : NULL;
	if (!m->monitor)
		return m->udev ? -errno : -ENOMEM;
	r = udev_monitor_filter_add_match_subsystem_devtype(m->monitor, "power_supply", NULL);
	if (r >= 0)
		r = udev_monitor_enable_receiving(m->monitor);
	return r < 0 ? r
		     : sd_event_add_io(event, &m->source, udev_monitor_get_fd(m->monitor), EPOLLIN,
				       on_event, m);
}

int supply_monitor_new(sd_event *event, void (*changed)(void *userdata), void *userdata,
		       SupplyMonitor **ret)
{
	_cleanup_(supply_monitor_freep) SupplyMonitor *m = calloc(1, sizeof(*m));
	int r;

	if (!m)
		return -ENOMEM;
	m->changed = changed;
	m->userdata = userdata;
	r = listen_to_kernel(m, event);
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

SupplyMonitor *supply_monitor_free(SupplyMonitor *m)
{
	if (!m)
		return NULL;
	sd_event_source_disable_unref(m->source);
	udev_monitor_unref(m->monitor);
	udev_unref(m->udev);
	free(m);
	return NULL;
}
