/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config-keys.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/keys.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/text.h"

/* A name that is a part of a file name, and cannot lead out of its folder. */
static bool is_name(const char *s)
{
	return *s && *s != '.' && !strpbrk(s, "/ \t=");
}

static bool is_path(const char *s)
{
	return *s == '/';
}

/* A daemon has no folder of its own that a relative path could start from. */
static bool is_node(const char *s)
{
	return is_path(s) || (is_name(s) && !strchr(s, '.'));
}

/* An address is TRANSPORT:KEY=VALUE,... (D-Bus specification, "Server Addresses"). */
static bool is_bus(const char *s)
{
	return streq(s, "system") || streq(s, "session") || (strchr(s, ':') && *s != ':');
}

static bool is_currency(const char *s)
{
	return *s && strlen(s) <= 8 && is_plain_name(s);
}

static bool is_component(const char *s)
{
	static const char *const components[] = { "none",     "bcache", "writecache",
						  "mergerfs", "md",     "nvmet" };

	for (size_t i = 0; i < ELEMENTSOF(components); i++)
		if (streq(s, components[i]))
			return true;
	return false;
}

/* Parts of a path below /sys, which must not lead out of it; DCMI's is a device file. */
static bool is_part(const char *s)
{
	return *s && (!strchr(s, '/') || strncmp(s, "/dev/ipmi", 9) == 0) && !strstr(s, "..");
}

static int level_from_name(const char *name)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = { { "error", LOG_ERR },
		       { "warning", LOG_WARNING },
		       { "notice", LOG_NOTICE },
		       { "info", LOG_INFO },
		       { "debug", LOG_DEBUG } };

	for (size_t i = 0; i < ELEMENTSOF(levels); i++)
		if (streq(name, levels[i].name))
			return levels[i].level;
	return -EINVAL;
}

/* Takes a name and where it stands; an empty value makes NULL of both. */
static int take_name_of_file(const IniLine *l, char **name, char **at)
{
	_cleanup_free_ char *new_name = NULL, *new_at = NULL;

	if (*l->value && !is_name(l->value))
		return -EINVAL;
	if (*l->value) {
		new_name = strdup(l->value);
		new_at = text_printf("%s:%u", l->path, l->line);
		if (!new_name || !new_at)
			return -ENOMEM;
	}
	free(*name);
	free(*at);
	*name = TAKE_PTR(new_name);
	*at = TAKE_PTR(new_at);
	return 0;
}

static int take_policy(const IniLine *l, void *config)
{
	Config *c = config;

	return take_name_of_file(l, &c->policy, &c->policy_at);
}

static int take_profile(const IniLine *l, void *device)
{
	BlockConfig *d = device;

	return take_name_of_file(l, &d->profile, &d->profile_at);
}

static int take_spinup_power(const IniLine *l, void *member)
{
	LimitUnit unit = LIMIT_WATTS;
	double watts = INFINITY;
	int r = streq(l->value, "none") ? 0 : parse_limit(l->value, &watts, &unit);

	if (r < 0 || unit != LIMIT_WATTS || watts <= 0)
		return -EINVAL;
	*(double *)member = watts;
	return 0;
}

static int take_either(const char *value, const char *no, const char *yes, bool *ret)
{
	if (!streq(value, no) && !streq(value, yes))
		return -EINVAL;
	*ret = streq(value, yes);
	return 0;
}

/* yield: what somebody else sets three times is left to them. */
static int take_on_conflict(const IniLine *l, void *insists)
{
	return take_either(l->value, "yield", "insist", insists);
}

static int take_tolerance(const IniLine *l, void *member)
{
	uint64_t us = 0;
	int r = streq(l->value, "none") ? 0 : parse_duration_us(l->value, &us);

	if (r < 0 || us > CLAIM_TOLERANCE_MAX_S * USEC_PER_SEC)
		return -EINVAL;
	*(double *)member = (double)us / USEC_PER_SEC;
	return 0;
}

/* advise: limits are planned for and told, and nothing is set. */
static int take_mode(const IniLine *l, void *advises)
{
	return take_either(l->value, "enforce", "advise", advises);
}

/* Of a kWh. */
static int take_figure(const IniLine *l, void *member)
{
	double figure = NAN;
	int r = streq(l->value, "none") ? 0 : parse_double(l->value, &figure);

	if (r < 0 || figure < 0 || figure > 1e6)
		return -EINVAL;
	*(double *)member = figure;
	return 0;
}

static int take_carbon_kind(const IniLine *l, void *marginal)
{
	return take_either(l->value, "average", "marginal", marginal);
}

static int take_spread(const IniLine *l, void *spreads)
{
	return take_either(l->value, "common", "any", spreads);
}

static int take_manage(const IniLine *l, void *member)
{
	bool manage, *unmanaged = member;
	int r = parse_bool(l->value, &manage);

	if (r >= 0)
		*unmanaged = !manage;
	return r;
}

static int take_of(const IniLine *l, void *member)
{
	SensorConfig *s = member;
	SensorTarget of = { .name = s->target };
	int r = sensor_target_parse(l->value, &of);

	if (r < 0)
		return r;
	s->target = of.name;
	s->scope = of.scope;
	return 0;
}

#define A_NAME_BY(f) KEY_CUSTOM, .take = f, .expected = "a name without blanks or slashes"
#define A_PATH       KEY_TEXT, .is_valid = is_path, .expected = "an absolute path"
#define A_PART       KEY_TEXT, .is_valid = is_part, .expected = "a name such as power1, or /dev/ipmi0"

static const Key config_keys[] = {
	{ "policy", A_NAME_BY(take_policy) },
	{ "mode", KEY_CUSTOM, KEY_AT(Config, advises), .take = take_mode,
	  .expected = "advise or enforce" },
	{ "simulate", KEY_TEXT_OR_NULL, KEY_AT(Config, simulate), .is_valid = is_node,
	  .expected = "the name of a node, such as mixed, or an absolute path" },
	{ "bus", KEY_TEXT, KEY_AT(Config, bus), .is_valid = is_bus,
	  .expected = "system, session or a D-Bus address such as unix:path=/run/bus" },
	{ "state_directory", A_PATH, KEY_AT(Config, state_directory) },
	{ "runtime_directory", A_PATH, KEY_AT(Config, runtime_directory) },
	{ "bpf", KEY_BOOL, KEY_AT(Config, bpf) },
	{ "discover", KEY_BOOL, KEY_AT(Config, discover) },
	{ "on_conflict", KEY_CUSTOM, KEY_AT(Config, insists), .take = take_on_conflict,
	  .expected = "yield or insist" },
	{ "guard", KEY_WATTS, KEY_AT(Config, guard_w) },
	{ "spinups_at_once", KEY_UNSIGNED, KEY_AT(Config, spinups_at_once), .min = 1, .max = 64 },
	{ "spinup_power", KEY_CUSTOM, KEY_AT(Config, spinup_w), .take = take_spinup_power,
	  .expected =
		  "watts above 0 such as 50W (else no disk could ever spin up), or none for no limit" },
	{ "cycles_a_day", KEY_NUMBER, KEY_AT(Config, cycles_a_day), .max = 1000 },
	{ "service_years", KEY_NUMBER, KEY_AT(Config, service_years), .min = 0.1, .max = 50 },
	{ "log_level", KEY_NAME, KEY_AT(Config, log_level), .from_name = level_from_name,
	  .expected = "error, warning, notice, info or debug" },
};

#define A_TOLERANCE(class)                                                                         \
	KEY_CUSTOM, KEY_AT(Config, tolerance_s[class]),                                            \
		.take = take_tolerance, .expected = "none or a time of up to 60s, such as 3s"

static const Key tolerance_keys[] = {
	{ "schedule", A_TOLERANCE(CLASS_SCHEDULE) },
	{ "signal", A_TOLERANCE(CLASS_SIGNAL) },
	{ "operator", A_TOLERANCE(CLASS_OPERATOR) },
	{ "emergency", A_TOLERANCE(CLASS_EMERGENCY) },
};

static const Key ledger_keys[] = {
	{ "keep", KEY_BOOL, KEY_AT(Config, ledger.keep) },
	{ "price", KEY_CUSTOM, KEY_AT(Config, ledger.price_kwh), .take = take_figure,
	  .expected = "a number such as 0.18, or none" },
	{ "currency", KEY_TEXT, KEY_AT(Config, ledger.currency), .is_valid = is_currency,
	  .expected = "a name of up to eight letters, such as EUR" },
	{ "carbon_intensity", KEY_CUSTOM, KEY_AT(Config, ledger.g_kwh), .take = take_figure,
	  .expected = "a number such as 381, or none" },
	{ "carbon_file", KEY_TEXT_OR_NULL, KEY_AT(Config, ledger.g_path), .is_valid = is_path,
	  .expected = "an absolute path" },
	{ "carbon_kind", KEY_CUSTOM, KEY_AT(Config, ledger.marginal), .take = take_carbon_kind,
	  .expected = "average or marginal" },
};

static const Key hooks_keys[] = {
	{ "timeout", KEY_DURATION, KEY_AT(Config, hooks.timeout_us), .max = 60e6,
	  .expected = "a time of up to 60s, or 0 to leave hooks out" },
	{ "socket", A_PATH, KEY_AT(Config, hooks.socket) },
};

static const Key device_keys[] = {
	{ "manage", KEY_CUSTOM, KEY_AT(BlockConfig, unmanaged), .take = take_manage,
	  .expected = "yes or no" },
	{ "profile", A_NAME_BY(take_profile) },
	{ "group", KEY_TEXT_OR_NULL, KEY_AT(BlockConfig, group), .is_valid = is_plain_name,
	  .expected = PLAIN_NAME },
	{ "pool", KEY_TEXT_OR_NULL, KEY_AT(BlockConfig, pool), .is_valid = is_plain_name,
	  .expected = PLAIN_NAME },
	{ "wake_tested", KEY_BOOL, KEY_AT(BlockConfig, wake_tested) },
	{ "keep_awake", KEY_BOOL, KEY_AT(BlockConfig, keep_awake) },
	{ "redirect", KEY_TEXT_OR_NULL, KEY_AT(BlockConfig, redirect), .is_valid = is_component,
	  .expected = "none, bcache, writecache, mergerfs, md or nvmet" },
};

static const Key pool_keys[] = {
	{ "spread", KEY_CUSTOM, KEY_AT(PoolConfig, spreads), .take = take_spread,
	  .expected = "common (all its members get one share) or any (their sum counts)" },
};

static const Key sensor_keys[] = {
	{ "type", KEY_NAME, KEY_AT(SensorConfig, type), .from_name = sensor_type_from_name,
	  .expected = "hwmon, dcmi or rapl" },
	{ "chip", A_PART, KEY_AT(SensorConfig, chip) },
	{ "input", A_PART, KEY_AT(SensorConfig, input) },
	{ "of", KEY_CUSTOM, .take = take_of, .expected = "node, host, group NAME or device NAME" },
	{ "less", KEY_TEXT_OR_NULL, KEY_AT(SensorConfig, less) },
	{ "subtract", KEY_WATTS, KEY_AT(SensorConfig, subtract_w) },
};

static int open_device(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	const char *name = rest + strspn(rest, " \t");
	Config *c = userdata;
	BlockConfig *device = NULL;

	(void)l;
	if (!is_name(name))
		return -ENOENT;
	for (size_t i = 0; i < c->n_devices && !device; i++)
		if (streq(c->devices[i].name, name))
			device = &c->devices[i];
	if (!device)
		device = ARRAY_GROW(c->devices, c->n_devices);
	if (device && !device->name)
		device->name = strdup(name);
	*ret = device;
	return device && device->name ? 0 : -ENOMEM;
}

/* What is found has names such as "zpool tank". */
static int open_pool(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	const char *name = rest + strspn(rest, " \t");
	Config *c = userdata;
	PoolConfig *pool = NULL;

	(void)l;
	if (!*name)
		return -ENOENT;
	for (size_t i = 0; i < c->n_pools && !pool; i++)
		if (streq(c->pools[i].name, name))
			pool = &c->pools[i];
	if (!pool)
		pool = ARRAY_GROW(c->pools, c->n_pools);
	if (pool && !pool->name)
		pool->name = strdup(name);
	*ret = pool;
	return pool && pool->name ? 0 : -ENOMEM;
}

static int open_sensor(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	const char *name = rest + strspn(rest, " \t");
	Config *c = userdata;
	SensorConfig *sensor = NULL;

	if (!is_plain_name(name))
		return -ENOENT;
	for (size_t i = 0; i < c->n_sensors && !sensor; i++)
		if (streq(c->sensors[i].name, name))
			sensor = &c->sensors[i];
	if (!sensor)
		sensor = ARRAY_GROW(c->sensors, c->n_sensors);
	if (sensor && !sensor->name) {
		sensor->name = strdup(name);
		sensor->at = text_printf("%s:%u", l->path, l->line);
	}
	*ret = sensor;
	return sensor && sensor->name && sensor->at ? 0 : -ENOMEM;
}

static const KeySection sections[] = {
	{ "storpower", NULL, KEY_LIST(config_keys) },
	{ "tolerance", NULL, KEY_LIST(tolerance_keys) },
	{ "ledger", NULL, KEY_LIST(ledger_keys) },
	{ "hooks", NULL, KEY_LIST(hooks_keys) },
	{ "device", "NAME", KEY_LIST(device_keys), .open = open_device },
	{ "pool", "NAME", KEY_LIST(pool_keys), .open = open_pool },
	{ "sensor", "NAME", KEY_LIST(sensor_keys), .open = open_sensor },
};

int config_take(const IniLine *l, Config *c)
{
	return keys_apply(sections, ELEMENTSOF(sections), l, c);
}
