/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The daemon's configuration, folders and devices. */

#include <errno.h>
#include <string.h>

#include "base/ask.h"
#include "base/file.h"
#include "base/log.h"
#include "base/set-aside.h"
#include "daemon.h"
#include "hw/block.h"
#include "sim/simulated.h"

void daemon_done(Daemon *d)
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

void daemon_override_config(const Daemon *d, Config *c)
{
	const Options *o = &d->options;

	if (o->no_bpf)
		c->bpf = false;
	log_set_max_level(o->log_level >= 0 ? o->log_level : c->log_level);
}

const char *daemon_state_directory(const Daemon *d)
{
	return d->options.state_directory ?: d->config->state_directory;
}

static const char *runtime_directory(const Daemon *d)
{
	return d->options.runtime_directory ?: d->config->runtime_directory;
}

const char *daemon_node_name(const Daemon *d)
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

int daemon_set_paths(Daemon *d)
{
	int r = mkdir_parents(daemon_state_directory(d), 0755);

	if (r < 0)
		return log_error_errno(r, "State directory %s cannot be made",
				       daemon_state_directory(d));
	r = daemon_node_name(d) ? mkdir_parents(runtime_directory(d), 0755) : 0;
	if (r < 0)
		return log_error_errno(r, "Runtime directory %s cannot be made",
				       runtime_directory(d));
	d->journal_path = text_printf("%s/journal", daemon_state_directory(d));
	d->claims_path = text_printf("%s/claims", daemon_state_directory(d));
	d->wear_path = text_printf("%s/wear", daemon_state_directory(d));
	d->wakes_path = text_printf("%s/wake-tests", daemon_state_directory(d));
	d->operating_path = text_printf("%s/operating", daemon_state_directory(d));
	d->choice_path = text_printf("%s/policy", daemon_state_directory(d));
	d->ledger_path = text_printf("%s/ledger", daemon_state_directory(d));
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
int daemon_open_wakes(Daemon *d)
{
	int r = wake_record_open(d->wakes_path, &d->wakes);

	if (r >= 0 || r == -ENOMEM)
		return r;
	log_warning_errno(r,
			  "Wake tests cannot be read from %s: going on as if there had been none",
			  d->wakes_path);
	return wake_record_open(NULL, &d->wakes);
}

int daemon_open_node(Daemon *d, const char *name)
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

const char *daemon_policy_name(const Daemon *d, const Config *c)
{
	const char *suggested =
		daemon_node_name(d) && d->inventory ? sim_node_policy(d->inventory) : NULL;

	return c->policy ?: suggested ?: "balanced";
}

BlockOptions daemon_block_options(const Daemon *d)
{
	const Config *c = d->config;

	return (BlockOptions){ .discover = c->discover,
			       .configs = c->devices,
			       .n_configs = c->n_devices,
			       .profiles = d->profiles,
			       .wakes = d->wakes };
}

int daemon_open_inventory(Daemon *d)
{
	const char *node = daemon_node_name(d);
	const BlockOptions options = daemon_block_options(d);
	int r = node ? daemon_open_node(d, node)
		     : block_inventory_open("/sys", &options, &d->inventory);

	if (r < 0)
		return log_error_errno(r, "%s%s cannot be opened",
				       node ? "Simulated node " : "Devices", node ?: "");
	d->policy = daemon_policy_name(d, d->config);
	return 0;
}

int daemon_prepare(Daemon *d)
{
	int r = set_directories(d);

	if (r >= 0)
		r = config_read(d->config_directories, &d->config, &d->warnings);
	if (r < 0)
		return log_error_errno(r, "The configuration cannot be read");
	daemon_override_config(d, d->config);
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

ControlConfig daemon_control_config(const Daemon *d)
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
		.hooks = { .ask = ask_service,
			   .path = d->config->hooks.socket,
			   .timeout_us = d->config->hooks.timeout_us },
	};
}
