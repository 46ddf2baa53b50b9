/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"
#include "budget/wear.h"
#include "config/config-keys.h"

#define HOOKS_TIMEOUT_US  (10 * USEC_PER_SEC)
#define USUAL_TOLERANCE_S 3 /* twice the limit for so long */

typedef struct Reader {
	Config *config;
	size_t warnings;
} Reader;

static int on_line(const IniLine *l, void *userdata)
{
	Reader *reader = userdata;
	int r = config_take(l, reader->config);

	if (r == -EINVAL || r == -ENOENT)
		reader->warnings++;
	return r == -ENOMEM ? r : 0;
}

/* -ENOENT when there is no such file; other errors but -ENOMEM are counted as warnings. */
static int read_one(const char *path, Reader *reader)
{
	int r = ini_read(path, on_line, reader);

	if (r == -ENOENT || r == -ENOMEM || r >= 0)
		return r;
	if (r != -EBADMSG) /* which was logged with its line */
		log_warning_errno(r, "%s: cannot read it: ignoring it", path);
	reader->warnings++;
	return 0;
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

static void device_done(BlockConfig *d)
{
	free(d->name);
	free(d->profile);
	free(d->profile_at);
	free(d->group);
	free(d->pool);
	free(d->redirect);
}

Config *config_free(Config *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_devices; i++)
		device_done(&c->devices[i]);
	free(c->devices);
	for (size_t i = 0; i < c->n_pools; i++)
		free(c->pools[i].name);
	free(c->pools);
	for (size_t i = 0; i < c->n_sensors; i++)
		sensor_config_done(&c->sensors[i]);
	free(c->sensors);
	free(c->policy);
	free(c->policy_at);
	free(c->simulate);
	free(c->bus);
	free(c->state_directory);
	free(c->runtime_directory);
	free(c->ledger.currency);
	free(c->ledger.g_path);
	free(c->hooks.socket);
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
	for (int k = 0; k < _CLASS_MAX; k++)
		c->tolerance_s[k] = k == CLASS_EMERGENCY ? 0 : USUAL_TOLERANCE_S;
	c->ledger = (LedgerSection){ .keep = true, .price_kwh = NAN, .g_kwh = NAN };
	c->ledger.currency = strdup("EUR");
	c->hooks.timeout_us = HOOKS_TIMEOUT_US;
	c->hooks.socket = strdup("/run/storpower-hooks");
	return c->bus && c->state_directory && c->runtime_directory && c->ledger.currency &&
			       c->hooks.socket
		       ? TAKE_PTR(c)
		       : NULL;
}

static void drop_incomplete_sensors(Reader *reader)
{
	Config *c = reader->config;

	for (size_t i = 0; i < c->n_sensors; i++) {
		if (sensor_config_complete(&c->sensors[i]))
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
