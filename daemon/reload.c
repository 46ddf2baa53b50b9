/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Everything is read again, or nothing is: a file that is half right would be half in force, and
 * nobody would know which half. What --check-config finds nothing wrong with is taken. */

#include <errno.h>

#include "base/log.h"
#include "config/config-check.h"
#include "config/config-reread.h"
#include "daemon.h"
#include "hw/block.h"
#include "sim/simulated.h"

/* What was read, and is not in force yet. */
typedef struct Reading {
	Config *config;
	ProfileStore *profiles;
} Reading;

static void reading_done(Reading *r)
{
	config_free(r->config);
	profile_store_free(r->profiles);
}

/* Returns how many things are wrong, or -errno. */
static int read_again(const Daemon *d, Reading *ret)
{
	size_t warnings = 0;
	int found, r = config_read(d->config_directories, &ret->config, &warnings);

	if (r >= 0)
		r = profile_store_read((const char *const *)d->profile_directories, &ret->profiles);
	if (r >= 0 && daemon_node_name(d))
		r = sim_node_sensors(d->inventory, &ret->config->sensors, &ret->config->n_sensors);
	if (r < 0)
		return log_error_errno(r, "The configuration and the profiles cannot be read");
	if (!ret->profiles->n)
		log_warning("There is no device profile in %s or %s", d->profile_directories[0],
			    d->profile_directories[1]);
	found = config_check(ret->config, ret->profiles, d->policy_directories,
			     daemon_policy_name(d, ret->config));
	return found < 0 ? found : found + (int)warnings + !ret->profiles->n;
}

/* The devices go by the new profiles and sections. */
static int apply_to_devices(Daemon *d)
{
	const BlockOptions options = daemon_block_options(d);
	int r = 0;

	if (daemon_node_name(d))
		sim_node_reread(d->inventory, d->profiles);
	else
		r = block_inventory_configure(d->inventory, &options);
	control_devices_ready(d->control);
	return r < 0 ? log_error_errno(r, "Not all devices go by what was read; reload once more")
		     : 0;
}

/* From here on nothing but memory can be missing. */
static int apply(Daemon *d, Reading *new, char **ret_error)
{
	Config *was = d->config;
	ControlConfig config;
	int r = profile_store_succeed(new->profiles, d->profiles);

	if (r < 0)
		return r;
	d->profiles = TAKE_PTR(new->profiles);
	daemon_override_config(d, new->config);
	config_keep_started(new->config, was);
	d->config = new->config;
	d->policy = daemon_policy_name(d, d->config);
	config = daemon_control_config(d);
	r = control_reread(d->control, &config, ret_error);
	if (r < 0) {
		daemon_override_config(d, was);
		config_keep_started(was, new->config);
		d->config = was;
		d->policy = daemon_policy_name(d, was);
		return r;
	}
	new->config = was;
	return apply_to_devices(d);
}

static int refuse(int found, const LogWatch *seen, char **ret_error)
{
	log_watch(NULL);
	log_about(LOG_ERR, 0, &(LogAbout){ .id = MESSAGE_RELOAD_REFUSED },
		  "Not everything that was read again is right, see the %d warnings above: nothing "
		  "of it is taken, and all goes on as before",
		  found);
	*ret_error = found == 1 ? text_printf("%s; all goes on as before", seen->first)
				: text_printf("%s; and %d more, see the log; all goes on as before",
					      seen->first, found - 1);
	return -EINVAL;
}

int daemon_reload(void *daemon, char **ret_error)
{
	_cleanup_(reading_done) Reading new = {};
	Daemon *d = daemon;
	LogWatch seen;
	int r;

	log_watch(&seen);
	r = read_again(d, &new);
	if (r > 0)
		return refuse(r, &seen, ret_error);
	log_watch(NULL);
	if (r >= 0)
		r = apply(d, &new, ret_error);
	if (r < 0)
		return log_error_errno(r, "Reload failed, going on as before");
	log_about(LOG_NOTICE, 0, &(LogAbout){ .id = MESSAGE_RELOADED, .policy = d->policy },
		  "Everything was read again: %zu profiles, %zu sensors, policy %s", d->profiles->n,
		  d->config->n_sensors, control_policy(d->control));
	return 0;
}
