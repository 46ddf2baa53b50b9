/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim-fixture.h"

#include <errno.h>
#include <error.h>
#include <ftw.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

static const char *const profile_directories[] = { "policies/profiles", NULL };
static const char *const policy_directories[] = { "policies", NULL };

static void must(int r, const char *what)
{
	if (r < 0)
		error(1, -r, "%s", what);
}

static char *path_in(const char *dir, const char *name)
{
	char *p = text_printf("%s/%s", dir, name);

	must(p ? 0 : -ENOMEM, "path");
	return p;
}

void fixture_open_in(Fixture *f, const char *node_path, const char *dir)
{
	log_set_max_level(LOG_ERR);
	snprintf(f->dir, sizeof(f->dir), "%s", dir);
	f->journal = path_in(dir, "journal");
	f->claims = path_in(dir, "claims");
	f->registers = path_in(dir, "registers");
	f->wear = path_in(dir, "wear");
	f->operating = path_in(dir, "operating");
	must(wake_record_open(NULL, &f->wakes), "wake tests");
	f->loop = virtual_loop_new(1000 * USEC_PER_SEC);
	must(f->loop ? 0 : -ENOMEM, "loop");
	must(profile_store_read(profile_directories, &f->profiles), "profiles");
	must(sim_node_open(node_path, f->registers, f->profiles, &f->loop->clock, &f->node),
	     node_path);
	must(sim_node_sensors(f->node, &f->node_sensors, &f->n_node_sensors), "sensors");
}

void fixture_open(Fixture *f, const char *node_path)
{
	char dir[] = "/tmp/storpower-test-XXXXXX";

	*f = (Fixture){};
	must(mkdtemp(dir) ? 0 : -errno, dir);
	fixture_open_in(f, node_path, dir);
}

void fixture_open_text(Fixture *f, const char *node)
{
	char path[] = "/tmp/storpower-node-XXXXXX";
	int fd = mkstemp(path);

	must(fd < 0 || write(fd, node, strlen(node)) < 0 ? -errno : 0, path);
	close(fd);
	fixture_open(f, path);
	unlink(path);
}

static void join_sensors(Fixture *f)
{
	free(f->all_sensors);
	f->all_sensors = calloc(f->n_sensors + f->n_node_sensors + 1, sizeof(SensorConfig));
	must(f->all_sensors ? 0 : -ENOMEM, "sensors");
	if (f->n_sensors)
		memcpy(f->all_sensors, f->sensors, f->n_sensors * sizeof(SensorConfig));
	if (f->n_node_sensors)
		memcpy(f->all_sensors + f->n_sensors, f->node_sensors,
		       f->n_node_sensors * sizeof(SensorConfig));
}

void fixture_start(Fixture *f)
{
	ControlConfig config = {
		.profiles = f->profiles,
		.policy.directories = policy_directories,
		.policy.name = sim_node_policy(f->node) ?: "balanced",
		.claims_path = f->claims,
		.journal_path = f->journal,
		.n_sensors = f->n_sensors + f->n_node_sensors,
		.sysfs_root = f->sysfs_root,
		.wakes = f->wakes,
		.ledger = { .path = f->ledger,
			    .tariff = { .price_kwh = 0.2, .currency = "EUR", .g_kwh = 381 },
			    .wall = f->wall ?: &f->loop->clock },
		.hooks = f->hooks,
		SLEEP_DEFAULTS,
	};

	config.sleep.wear_path = f->wear;
	config.limit.operating_path = f->operating;
	join_sensors(f);
	config.sensors = f->all_sensors;
	must(control_new(&config, f->loop, f->node, &f->control), "manager");
	must(control_start(f->control), "start");
}

void fixture_stop(Fixture *f)
{
	f->control = control_free(f->control);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

void fixture_close(Fixture *f)
{
	fixture_stop(f);
	inventory_free(f->node);
	profile_store_free(f->profiles);
	virtual_loop_free(f->loop);
	free(f->journal);
	free(f->claims);
	free(f->registers);
	free(f->wear);
	free(f->operating);
	free(f->ledger);
	for (size_t i = 0; i < f->n_node_sensors; i++)
		sensor_config_done(&f->node_sensors[i]);
	free(f->node_sensors);
	free(f->all_sensors);
	wake_record_close(f->wakes);
	if (!strncmp(f->dir, "/tmp/storpower-test-", 20))
		nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	*f = (Fixture){};
}

void fixture_run(Fixture *f, double seconds)
{
	virtual_loop_run_until(f->loop,
			       clock_now_us(&f->loop->clock) + (uint64_t)(seconds * USEC_PER_SEC));
}

static void note_done(void *userdata)
{
	*(bool *)userdata = true;
}

uint64_t fixture_claim(Fixture *f, const Claim *c)
{
	_cleanup_free_ char *why = NULL;
	uint64_t cookie = 0;
	bool done = false;
	const ControlWait wait = { note_done, &done };

	if (control_add_claim(f->control, c, f->real_time ? NULL : &wait, &cookie, &why) < 0)
		error(1, 0, "claim refused: %s", why);
	while (!f->real_time && !done && virtual_loop_step(f->loop))
		;
	return cookie;
}

uint64_t fixture_set(Fixture *f, const char *limit)
{
	Claim c = {
		.class = CLASS_OPERATOR, .source = "test", .reason = "test", .expiry_us = USEC_NEVER
	};

	must(parse_limit(limit, &c.limit, &c.unit), limit);
	return fixture_claim(f, &c);
}

void fixture_release(Fixture *f, uint64_t cookie)
{
	_cleanup_free_ char *why = NULL;

	if (control_release(f->control, cookie, &why) < 0)
		error(1, 0, "release refused: %s", why);
}

double fixture_rated_w(Fixture *f)
{
	ControlState s;

	control_state(f->control, &s);
	return s.watts.rated_w;
}

double fixture_operating_w(Fixture *f)
{
	ControlState s;

	control_state(f->control, &s);
	return s.watts.operating_w;
}

char *fixture_dump(Fixture *f)
{
	char *text;

	must(sim_node_dump(f->node, &text), "dump");
	return text;
}
