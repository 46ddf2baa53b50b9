/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerd: arguments, configuration, wiring, run. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "bus/bus.h"
#include "config/config-check.h"
#include "daemon.h"
#include "loop/loop-event.h"

/* The service manager takes a reload for done only if it began after it was asked for. */
static void tell_reloading(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%lld",
		   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

static int on_reload(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	_cleanup_free_ char *why = NULL;

	(void)s, (void)si;
	tell_reloading();
	(void)daemon_reload(userdata, &why); /* which has logged what is wrong */
	sd_notify(false, "READY=1");
	return 0;
}

static int on_inventory(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	(void)s, (void)fd, (void)revents;
	control_devices_ready(userdata);
	return 0;
}

static int on_meter(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
	(void)s, (void)fd, (void)revents;
	control_meter_ready(userdata);
	return 0;
}

static int wire_signals(sd_event *event, Daemon *d)
{
	static const int ends[] = { SIGTERM, SIGINT };
	sigset_t mask;
	int r = 0;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	for (size_t i = 0; i < ELEMENTSOF(ends) && r >= 0; i++)
		r = sd_event_add_signal(event, NULL, ends[i], NULL, NULL);
	return r < 0 ? r : sd_event_add_signal(event, NULL, SIGHUP, on_reload, d);
}

static int wire(sd_event *event, Daemon *d, Control *c)
{
	int fd = inventory_fd(d->inventory), meter_fd = control_meter_fd(c);
	int r = wire_signals(event, d);

	if (r >= 0 && fd >= 0)
		r = sd_event_add_io(event, NULL, fd, EPOLLIN, on_inventory, c);
	if (r >= 0 && meter_fd >= 0)
		r = sd_event_add_io(event, NULL, meter_fd, EPOLLIN, on_meter, c);
	if (r >= 0)
		r = sd_event_set_watchdog(event, true);
	return r;
}

static int restore(Daemon *d)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(loop_event_freep) Loop *loop = NULL;
	ControlConfig config = daemon_control_config(d);
	int r = sd_event_default(&event);

	if (r >= 0)
		r = loop_event_new(event, &loop);
	if (r < 0)
		return log_error_errno(r, "The event loop cannot be made");
	return control_restore(&config, loop, d->inventory);
}

static int run(Daemon *d)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(loop_event_freep) Loop *loop = NULL;
	_cleanup_(control_freep) Control *control = NULL;
	_cleanup_(bus_closep) Bus *bus = NULL;
	ControlConfig config = daemon_control_config(d);
	BusConfig bus_config = { .clock = clock_boottime,
				 .simulated = d->node_path,
				 .reload = daemon_reload,
				 .userdata = d };
	int r = sd_event_default(&event);

	if (r >= 0)
		r = loop_event_new(event, &loop);
	if (r < 0)
		return log_error_errno(r, "The event loop cannot be made");
	r = control_new(&config, loop, d->inventory, &control);
	if (r < 0)
		return r;
	r = bus_open(d->options.bus ?: d->config->bus, event, control, &bus_config, &bus);
	if (r < 0)
		return r;
	r = wire(event, d, control);
	if (r < 0)
		return log_error_errno(r, "Signals and devices cannot be watched");
	r = control_start(control);
	if (r < 0)
		return log_error_errno(r, "The devices cannot be taken over");
	d->control = control;
	bus_adopt_claims(bus);
	sd_notify(false, "READY=1");
	r = sd_event_loop(event);
	sd_notify(false, "STOPPING=1");
	log_info("Ending: giving everything back");
	return r;
}

/* Opens what the daemon would, but no device, and leaves no file behind. */
static int check(Daemon *d)
{
	const char *node = daemon_node_name(d);
	int r = node ? daemon_open_node(d, node) : 0, found;

	if (r < 0)
		log_error_errno(r, "Simulated node %s cannot be opened", node);
	found = config_check(d->config, d->profiles, d->policy_directories,
			     daemon_policy_name(d, d->config));
	if (found < 0)
		return found;
	return r < 0 || found > 0 || d->warnings > 0 || !d->profiles->n ? -EINVAL : 0;
}

/* --restore leaves no folder behind on a machine where no daemon has ever run. */
static bool nothing_to_restore(const Daemon *d)
{
	return d->options.action == ACTION_RESTORE && access(daemon_state_directory(d), F_OK) < 0 &&
	       errno == ENOENT;
}

static int act(Daemon *d)
{
	int r = daemon_prepare(d);

	if (r < 0)
		return r;
	if (d->options.action == ACTION_CHECK_CONFIG)
		return check(d);
	if (nothing_to_restore(d))
		return 0;
	r = daemon_set_paths(d);
	if (r >= 0)
		r = daemon_open_wakes(d);
	if (r >= 0)
		r = daemon_open_inventory(d);
	if (r < 0)
		return r;
	return d->options.action == ACTION_RUN ? run(d) : restore(d);
}

int main(int argc, char **argv)
{
	_cleanup_(daemon_done) Daemon d = {};

	if (options_parse(argc, argv, &d.options) < 0)
		return 2;
	if (d.options.action == ACTION_NOTHING)
		return 0;
	return act(&d) == 0 ? 0 : 1;
}
