/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerd: arguments, configuration, wiring, run. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/set-aside.h"
#include "bus/bus.h"
#include "config/config-check.h"
#include "config/config.h"
#include "config/options.h"
#include "hw/block.h"
#include "loop/loop-event.h"
#include "sim/simulated.h"

/* What run, restore and check have in common. */
typedef struct Daemon {
	Options options;
	const char *config_directories[4], *policy_directories[3];
	char **profile_directories;
	char *etc_policies;
	Config *config;
	size_t warnings;
	ProfileStore *profiles;
	Inventory *inventory;
	WakeRecord *wakes;
	char *node_path, *registers_path, *journal_path, *claims_path, *wear_path, *wakes_path;
	char *operating_path, *choice_path;
	char *ledger_path;
	const char *policy;
} Daemon;

static void daemon_done(Daemon *d)
{
	inventory_free(d->inventory);
	wake_record_close(d->wakes);
	profile_store_free(d->profiles);
	config_free(d->config);
	strv_free(d->profile_directories);
	free(d->etc_policies);
	free(d->node_path);
	free(d->registers_path);
	free(d->journal_path);
	free(d->claims_path);
	free(d->wear_path);
	free(d->wakes_path);
	free(d->operating_path);
	free(d->choice_path);
	free(d->ledger_path);
}

static const char *data_directory(const Daemon *d)
{
	return d->options.data_directory ?: STORPOWER_DATADIR;
}

static int set_directories(Daemon *d)
{
	const char *etc = d->options.config_directory ?: "/etc/storpower";
	size_t n = 0;

	d->config_directories[n++] = etc;
	if (!d->options.config_directory) {
		d->config_directories[n++] = "/run/storpower";
		d->config_directories[n++] = STORPOWER_VENDORDIR;
	}
	d->etc_policies = text_printf("%s/policies", etc);
	if (!d->etc_policies)
		return -ENOMEM;
	d->policy_directories[0] = d->etc_policies;
	d->policy_directories[1] = data_directory(d);
	return profile_store_directories(etc, data_directory(d), &d->profile_directories);
}

static void override_config(Daemon *d)
{
	const Options *o = &d->options;
	Config *c = d->config;

	if (o->no_bpf)
		c->bpf = false;
	log_set_max_level(o->log_level >= 0 ? o->log_level : c->log_level);
}

static const char *state_directory(const Daemon *d)
{
	return d->options.state_directory ?: d->config->state_directory;
}

static const char *runtime_directory(const Daemon *d)
{
	return d->options.runtime_directory ?: d->config->runtime_directory;
}

static const char *node_name(const Daemon *d)
{
	return d->options.simulate ?: d->config->simulate;
}

/* A state file, and what it is written to before it takes that name. */
static int check_state_path(const char *path)
{
	_cleanup_free_ char *temporary = path ? text_printf("%s.new", path) : NULL;
	int r = temporary ? set_aside_unless_file(path) : -ENOMEM;

	return r < 0 ? r : set_aside_unless_file(temporary);
}

static int set_paths(Daemon *d)
{
	int r = mkdir_parents(state_directory(d), 0755);

	if (r < 0)
		return log_error_errno(r, "State directory %s cannot be made", state_directory(d));
	r = node_name(d) ? mkdir_parents(runtime_directory(d), 0755) : 0;
	if (r < 0)
		return log_error_errno(r, "Runtime directory %s cannot be made",
				       runtime_directory(d));
	d->journal_path = text_printf("%s/journal", state_directory(d));
	d->claims_path = text_printf("%s/claims", state_directory(d));
	d->wear_path = text_printf("%s/wear", state_directory(d));
	d->wakes_path = text_printf("%s/wake-tests", state_directory(d));
	d->operating_path = text_printf("%s/operating", state_directory(d));
	d->choice_path = text_printf("%s/policy", state_directory(d));
	d->ledger_path = text_printf("%s/ledger", state_directory(d));
	if (!d->choice_path || !d->ledger_path)
		return -ENOMEM;
	r = check_state_path(d->journal_path);
	if (r >= 0)
		r = check_state_path(d->claims_path);
	if (r >= 0)
		r = check_state_path(d->wear_path);
	if (r >= 0)
		r = check_state_path(d->operating_path);
	if (r >= 0)
		r = check_state_path(d->choice_path);
	return r < 0 ? r : check_state_path(d->wakes_path);
}

/* Without the record no standby is offered that needs a wake test: the safe side, on which budgets
 * can still be held and settings restored. */
static int open_wakes(Daemon *d)
{
	int r = wake_record_open(d->wakes_path, &d->wakes);

	if (r >= 0 || r == -ENOMEM)
		return r;
	log_warning_errno(r,
			  "Wake tests cannot be read from %s: going on as if there had been none",
			  d->wakes_path);
	return wake_record_open(NULL, &d->wakes);
}

static int open_node(Daemon *d, const char *name)
{
	const char *slash = strrchr(name, '/');
	int r;

	d->node_path = strchr(name, '/') || strchr(name, '.')
			       ? strdup(name)
			       : text_printf("%s/nodes/%s.node", data_directory(d), name);
	d->registers_path =
		text_printf("%s/%s.registers", runtime_directory(d), slash ? slash + 1 : name);
	if (!d->node_path || !d->registers_path)
		return -ENOMEM;
	r = sim_node_open(d->node_path,
			  d->options.action == ACTION_CHECK_CONFIG ? NULL : d->registers_path,
			  d->profiles, &clock_boottime, &d->inventory);
	if (r < 0)
		return r;
	return sim_node_sensors(d->inventory, &d->config->sensors, &d->config->n_sensors);
}

static const char *policy_name(const Daemon *d)
{
	const char *suggested = node_name(d) && d->inventory ? sim_node_policy(d->inventory) : NULL;

	return d->config->policy ?: suggested ?: "balanced";
}

static int open_inventory(Daemon *d)
{
	const Config *c = d->config;
	const char *node = node_name(d);
	const BlockOptions options = {
		.discover = c->discover,
		.configs = c->devices,
		.n_configs = c->n_devices,
		.profiles = d->profiles,
		.wakes = d->wakes,
	};
	int r = node ? open_node(d, node) : block_inventory_open("/sys", &options, &d->inventory);

	if (r < 0)
		return log_error_errno(r, "%s%s cannot be opened",
				       node ? "Simulated node " : "Devices", node ?: "");
	d->policy = policy_name(d);
	return 0;
}

static int daemon_prepare(Daemon *d)
{
	int r = set_directories(d);

	if (r >= 0)
		r = config_read(d->config_directories, &d->config, &d->warnings);
	if (r < 0)
		return log_error_errno(r, "The configuration cannot be read");
	override_config(d);
	r = profile_store_read((const char *const *)d->profile_directories, &d->profiles);
	if (r < 0)
		return log_error_errno(r, "Device profiles cannot be read");
	if (!d->profiles->n)
		log_warning("No device profile in %s or %s: every device gets a generic one",
			    d->profile_directories[0], d->profile_directories[1]);
	return 0;
}

static LedgerConfig ledger_config(const Daemon *d)
{
	const LedgerSection *l = &d->config->ledger;

	return (LedgerConfig){ .path = l->keep ? d->ledger_path : NULL,
			       .tariff = { .price_kwh = l->price_kwh,
					   .currency = l->currency,
					   .g_kwh = l->g_kwh,
					   .marginal = l->marginal,
					   .intensity_path = l->g_path } };
}

static ControlConfig control_config(const Daemon *d)
{
	return (ControlConfig){
		.profiles = d->profiles,
		.policy = { .directories = d->policy_directories,
			    .name = d->policy,
			    .choice_path = d->choice_path },
		.claims_path = d->claims_path,
		.journal_path = d->journal_path,
		.bpf = d->config->bpf,
		.limit = { .guard_w = d->config->guard_w,
			   .tolerance_s = d->config->tolerance_s,
			   .operating_path = d->operating_path,
			   .pools = d->config->pools,
			   .n_pools = d->config->n_pools },
		.insists = d->config->insists,
		.advises = d->config->advises,
		.sensors = d->config->sensors,
		.n_sensors = d->config->n_sensors,
		.sleep = { .wear_path = d->wear_path,
			   .service_years = d->config->service_years,
			   .cycles_a_day = d->config->cycles_a_day,
			   .spinups_at_once = d->config->spinups_at_once,
			   .spinup_w = d->config->spinup_w },
		.wakes = d->wakes,
		.ledger = ledger_config(d),
	};
}

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
	if (control_reload(userdata, &why) < 0)
		log_warning("Reload failed, going on as before: %s", why ?: "out of memory");
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

static int wire_signals(sd_event *event, Control *c)
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
	return r < 0 ? r : sd_event_add_signal(event, NULL, SIGHUP, on_reload, c);
}

static int wire(sd_event *event, Inventory *inventory, Control *c)
{
	int fd = inventory_fd(inventory), meter_fd = control_meter_fd(c);
	int r = wire_signals(event, c);

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
	ControlConfig config = control_config(d);
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
	ControlConfig config = control_config(d);
	BusConfig bus_config = { .clock = clock_boottime, .simulated = d->node_path };
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
	r = wire(event, d->inventory, control);
	if (r < 0)
		return log_error_errno(r, "Signals and devices cannot be watched");
	r = control_start(control);
	if (r < 0)
		return log_error_errno(r, "The devices cannot be taken over");
	bus_adopt_claims(bus);
	sd_notify(false, "READY=1");
	r = sd_event_loop(event);
	sd_notify(false, "STOPPING=1");
	log_info("Ending: everything is given back");
	return r;
}

/* Opens what the daemon would, but no device, and leaves no file behind. */
static int check(Daemon *d)
{
	const char *node = node_name(d);
	int r = node ? open_node(d, node) : 0, found;

	if (r < 0)
		log_error_errno(r, "Simulated node %s cannot be opened", node);
	found = config_check(d->config, d->profiles, d->policy_directories, policy_name(d));
	if (found < 0)
		return found;
	return r < 0 || found > 0 || d->warnings > 0 || !d->profiles->n ? -EINVAL : 0;
}

/* --restore leaves no folder behind on a machine where no daemon has ever run. */
static bool nothing_to_restore(const Daemon *d)
{
	return d->options.action == ACTION_RESTORE && access(state_directory(d), F_OK) < 0 &&
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
	r = set_paths(d);
	if (r >= 0)
		r = open_wakes(d);
	if (r >= 0)
		r = open_inventory(d);
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
