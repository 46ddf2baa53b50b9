/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"
#include "budget/wear.h"
#include "config/config-device.h"
#include "config/config-sensor.h"
#include "config/config-value.h"

#define SPINUPS_AT_ONCE_MAX 64
#define CYCLES_A_DAY_MAX    1000
#define SERVICE_YEARS_MIN   0.1
#define SERVICE_YEARS_MAX   50.0

typedef struct Reader {
	Config *config;
	size_t warnings;
} Reader;

static int set_path(const IniLine *l, char **to)
{
	if (*l->value != '/')
		return ini_complain(l, "%s=%s: expected an absolute path", l->key, l->value);
	return config_set_text(to, l->value);
}

static int set_policy(Config *c, const IniLine *l)
{
	return *l->value ? config_set_name(l, &c->policy) : config_set_text(&c->policy, "");
}

static int set_simulate(Config *c, const IniLine *l)
{
	/* a daemon has no folder of its own that a relative path could start from */
	if (*l->value && *l->value != '/' && (!config_is_name(l->value) || strchr(l->value, '.')))
		return ini_complain(
			l,
			"simulate=%s: expected the name of a node, such as mixed, or an "
			"absolute path",
			l->value);
	return config_set_text(&c->simulate, l->value);
}

static int set_bus(Config *c, const IniLine *l)
{
	/* an address is TRANSPORT:KEY=VALUE,... (D-Bus specification, "Server Addresses") */
	if (!streq(l->value, "system") && !streq(l->value, "session") &&
	    (!strchr(l->value, ':') || *l->value == ':'))
		return ini_complain(l,
				    "bus=%s: expected system, session or a D-Bus address such as "
				    "unix:path=/run/bus",
				    l->value);
	return config_set_text(&c->bus, l->value);
}

static int set_state_directory(Config *c, const IniLine *l)
{
	return set_path(l, &c->state_directory);
}

static int set_runtime_directory(Config *c, const IniLine *l)
{
	return set_path(l, &c->runtime_directory);
}

static int set_bpf(Config *c, const IniLine *l)
{
	return config_set_flag(l, &c->bpf);
}

static int set_discover(Config *c, const IniLine *l)
{
	return config_set_flag(l, &c->discover);
}

static int set_guard(Config *c, const IniLine *l)
{
	return config_set_watts(l, &c->guard_w);
}

static int set_spinups_at_once(Config *c, const IniLine *l)
{
	unsigned long n;

	if (parse_unsigned(l->value, SPINUPS_AT_ONCE_MAX, &n) < 0 || n == 0)
		return ini_complain(l, "%s=%s: expected a number from 1 to %d", l->key, l->value,
				    SPINUPS_AT_ONCE_MAX);
	c->spinups_at_once = (unsigned)n;
	return 0;
}

static int set_spinup_power(Config *c, const IniLine *l)
{
	double watts = INFINITY;
	int r = streq(l->value, "none") ? 0 : config_set_watts(l, &watts);

	if (r >= 0 && watts <= 0)
		return ini_complain(l,
				    "%s=%s: no disk could ever spin up; expected more watts, or "
				    "none for no limit",
				    l->key, l->value);
	if (r >= 0)
		c->spinup_w = watts;
	return r;
}

static int set_cycles_a_day(Config *c, const IniLine *l)
{
	double cycles;

	if (parse_double(l->value, &cycles) < 0 || cycles < 0 || cycles > CYCLES_A_DAY_MAX)
		return ini_complain(l, "%s=%s: expected a number from 0 to %d", l->key, l->value,
				    CYCLES_A_DAY_MAX);
	c->cycles_a_day = cycles;
	return 0;
}

static int set_service_years(Config *c, const IniLine *l)
{
	double years;

	if (parse_double(l->value, &years) < 0 || years < SERVICE_YEARS_MIN ||
	    years > SERVICE_YEARS_MAX)
		return ini_complain(l, "%s=%s: expected years from %g to %g", l->key, l->value,
				    SERVICE_YEARS_MIN, SERVICE_YEARS_MAX);
	c->service_years = years;
	return 0;
}

static int set_log_level(Config *c, const IniLine *l)
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
		if (streq(l->value, levels[i].name)) {
			c->log_level = levels[i].level;
			return 0;
		}
	return ini_complain(l, "log_level=%s: expected error, warning, notice, info or debug",
			    l->value);
}

static const struct Key {
	const char *name;
	int (*set)(Config *c, const IniLine *l);
} keys[] = {
	{ "policy", set_policy },
	{ "simulate", set_simulate },
	{ "bus", set_bus },
	{ "state_directory", set_state_directory },
	{ "runtime_directory", set_runtime_directory },
	{ "bpf", set_bpf },
	{ "discover", set_discover },
	{ "guard", set_guard },
	{ "spinups_at_once", set_spinups_at_once },
	{ "spinup_power", set_spinup_power },
	{ "cycles_a_day", set_cycles_a_day },
	{ "service_years", set_service_years },
	{ "log_level", set_log_level },
};

static int set_key(Config *c, const IniLine *l)
{
	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (streq(keys[i].name, l->key))
			return keys[i].set(c, l);
	return ini_complain(l, "unknown key \"%s\" in [storpower]: see storpower.conf(5)", l->key);
}

static BlockConfig *find_device(Config *c, const char *name)
{
	for (size_t i = 0; i < c->n_devices; i++)
		if (streq(c->devices[i].name, name))
			return &c->devices[i];
	return NULL;
}

/* The name in [KIND NAME]; NULL where the section is another. */
static const char *name_in_section(const char *section, const char *kind)
{
	size_t n = strlen(kind);

	if (strncmp(section, kind, n) != 0 || section[n] != ' ')
		return NULL;
	section += n + strspn(section + n, " \t");
	return config_is_name(section) ? section : NULL;
}

static SensorConfig *find_sensor(Config *c, const char *name)
{
	for (size_t i = 0; i < c->n_sensors; i++)
		if (streq(c->sensors[i].name, name))
			return &c->sensors[i];
	return NULL;
}

static int add_device(Config *c, const char *name)
{
	BlockConfig *device = ARRAY_GROW(c->devices, c->n_devices);

	if (!device)
		return -ENOMEM;
	device->name = strdup(name);
	if (device->name)
		return 0;
	c->n_devices--;
	return -ENOMEM;
}

static int add_sensor(Config *c, const char *name)
{
	SensorConfig *sensor = ARRAY_GROW(c->sensors, c->n_sensors);

	if (!sensor)
		return -ENOMEM;
	sensor->name = strdup(name);
	if (sensor->name)
		return 0;
	c->n_sensors--;
	return -ENOMEM;
}

static int on_line(const IniLine *l, void *userdata)
{
	Reader *reader = userdata;
	Config *c = reader->config;
	const char *name = name_in_section(l->section, "device");
	const char *sensor_name = name_in_section(l->section, "sensor");
	BlockConfig *device = name ? find_device(c, name) : NULL;
	SensorConfig *sensor = sensor_name ? find_sensor(c, sensor_name) : NULL;
	int r = 0;

	if (streq(l->section, "storpower"))
		r = set_key(c, l);
	else if (device)
		r = config_device_key(device, l);
	else if (sensor)
		r = config_sensor_key(sensor, l);
	else if (!*l->section)
		r = ini_complain(l, "\"%s\" stands before any section: put it under [storpower]",
				 l->key);
	/* else: on_section() has complained */
	if (r == -EINVAL)
		reader->warnings++;
	return r == -ENOMEM ? r : 0;
}

static int on_section(const IniLine *l, void *userdata)
{
	Reader *reader = userdata;
	Config *c = reader->config;
	const char *device = name_in_section(l->section, "device");
	const char *sensor = name_in_section(l->section, "sensor");

	if (streq(l->section, "storpower"))
		return 0;
	if (device)
		return find_device(c, device) ? 0 : add_device(c, device);
	if (sensor)
		return find_sensor(c, sensor) ? 0 : add_sensor(c, sensor);
	ini_complain(l,
		     "unknown section [%s]: [storpower], [device NAME] and [sensor NAME] are "
		     "known",
		     l->section);
	reader->warnings++;
	return 0;
}

/* inih tells of keys only, but a [device NAME] without any still names a device to manage. */
static int scan_sections(const char *path, const char *text, Reader *reader)
{
	IniLine l = { .path = path, .key = "", .value = "" };

	for (; *text; text += *text == '\n') {
		size_t blanks = strspn(text, " \t"), n = strcspn(text, "\n");
		const char *end = memchr(text, ']', n);
		_cleanup_free_ char *section = NULL;
		int r;

		l.line++;
		if (text[blanks] == '[' && end) {
			section = strndup(text + blanks + 1, (size_t)(end - text) - blanks - 1);
			if (!section)
				return -ENOMEM;
			l.section = section;
			r = on_section(&l, reader);
			if (r < 0)
				return r;
		}
		text += n;
	}
	return 0;
}

/* -ENOENT when there is no such file; other errors but -ENOMEM are counted as warnings. */
static int read_one(const char *path, Reader *reader)
{
	_cleanup_free_ char *text = NULL;
	int r = read_file(path, &text);

	if (r == -ENOENT || r == -ENOMEM)
		return r;
	if (r < 0) {
		log_warning_errno(r, "%s: cannot read it: ignoring it", path);
		reader->warnings++;
		return 0;
	}
	r = scan_sections(path, text, reader);
	if (r >= 0)
		r = ini_read_text(path, text, on_line, reader);
	if (r == -EBADMSG) {
		reader->warnings++; /* logged with its line */
		r = 0;
	}
	return r;
}

static int read_main(const char *const *directories, Reader *reader)
{
	for (; *directories; directories++) {
		_cleanup_free_ char *path = text_printf("%s/storpower.conf", *directories);
		int r = path ? read_one(path, reader) : -ENOMEM;

		if (r != -ENOENT)
			return r;
	}
	return 0;
}

static int list_drop_ins(const char *const *directories, char ***ret)
{
	_cleanup_(strv_freep) char **folders = NULL;
	size_t n = 0;

	while (directories[n])
		n++;
	folders = calloc(n + 1, sizeof(*folders));
	if (!folders)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		folders[i] = text_printf("%s/storpower.conf.d", directories[i]);
		if (!folders[i])
			return -ENOMEM;
	}
	return list_files((const char *const *)folders, ".conf", ret);
}

static int read_drop_ins(const char *const *directories, Reader *reader)
{
	_cleanup_(strv_freep) char **paths = NULL;
	int r = list_drop_ins(directories, &paths);

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_warning_errno(r, "cannot list storpower.conf.d: ignoring the drop-ins");
		reader->warnings++;
		return 0;
	}
	for (char **path = paths; *path; path++) {
		r = read_one(*path, reader);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

Config *config_free(Config *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_devices; i++)
		config_device_done(&c->devices[i]);
	free(c->devices);
	for (size_t i = 0; i < c->n_sensors; i++)
		sensor_config_done(&c->sensors[i]);
	free(c->sensors);
	free(c->policy);
	free(c->simulate);
	free(c->bus);
	free(c->state_directory);
	free(c->runtime_directory);
	free(c);
	return NULL;
}

static Config *config_new(void)
{
	_cleanup_(config_freep) Config *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->bus = strdup("system");
	c->state_directory = strdup("/var/lib/storpower");
	c->runtime_directory = strdup("/run/storpower");
	c->bpf = true;
	c->discover = true;
	c->log_level = LOG_INFO;
	c->spinups_at_once = 2;
	c->spinup_w = INFINITY;
	c->cycles_a_day = WEAR_STARTS_A_DAY;
	c->service_years = WEAR_SERVICE_YEARS;
	return c->bus && c->state_directory && c->runtime_directory ? TAKE_PTR(c) : NULL;
}

static void drop_incomplete_sensors(Reader *reader)
{
	Config *c = reader->config;

	for (size_t i = 0; i < c->n_sensors; i++) {
		if (config_sensor_complete(&c->sensors[i]))
			continue;
		reader->warnings++;
		sensor_config_done(&c->sensors[i]);
		c->sensors[i--] = c->sensors[--c->n_sensors];
	}
}

int config_read(const char *const *directories, Config **ret, size_t *ret_warnings)
{
	_cleanup_(config_freep) Config *c = config_new();
	Reader reader = { .config = c };
	int r;

	if (!c)
		return -ENOMEM;
	r = read_main(directories, &reader);
	if (r >= 0)
		r = read_drop_ins(directories, &reader);
	if (r < 0)
		return r;
	drop_incomplete_sensors(&reader);
	*ret = TAKE_PTR(c);
	*ret_warnings = reader.warnings;
	return 0;
}
