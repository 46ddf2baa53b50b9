/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables of real drives, and drive files.
 *
 * Power states as the drives' own descriptors give them; MB/s and IOPS from the data sheets; joules
 * fitted to two points of the profiles' watts each (256 KiB and 4 KiB at full depth): n IOs a
 * second of p pages draw n (io_j + p page_j) above idle. States below the first have its rates:
 * their watts are what slows them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"

#include "nvmesim-drive.h"

static const Drive drives[] = {
	{
		.name = "pm9a3",
		.model = "SAMSUNG MZQL23T8HCLS-00A07",
		.states = { { 25, false, 70, 70, { 6800, 4000 }, { 77, 16 } },
			    { 8, false, 70, 70 } },
		.n_states = 2,
		.idle_w = 5,
		.units = 128,
		.io_j = { 3.10e-6, 16.3e-6 },
		.page_j = { 3.57e-6, 7.63e-6 },
		.max_iops = { 1000000, 180000 },
	},
	{
		.name = "p5510",
		.model = "INTEL SSDPF2KX076TZ",
		.states = { { 25, false, 60000, 60000, { 7000, 4194 }, { 85, 17 } },
			    { 12, false, 60000, 60000 },
			    { 10, false, 60000, 60000 } },
		.n_states = 3,
		.idle_w = 5,
		.units = 128,
		.io_j = { 0.67e-6, 19.0e-6 },
		.page_j = { 4.38e-6, 10.9e-6 },
		.max_iops = { 930000, 190000 },
	},
	{
		.name = "ps1010",
		.model = "Dell DC NVMe PS1010 RI U.2 3.84TB",
		.states = { { 25, false, 30000, 30000, { 14800, 10200 }, { 85, 17 } },
			    { 20, false, 30000, 30000 },
			    { 17, false, 30000, 30000 },
			    { 14, false, 30000, 30000 },
			    { 5, true, 30000, 30000 } },
		.n_states = 5,
		.idle_w = 7.5,
		.units = 256,
		.io_j = { 0.12e-6, 5.35e-6 },
		.page_j = { 3.18e-6, 4.94e-6 },
		.max_iops = { 3100000, 600000 },
	},
	{
		.name = "970-evo-plus",
		.model = "Samsung SSD 970 EVO Plus 1TB",
		.states = { { 7.8, false, 0, 0, { 3500, 3300 }, { 80, 18 } },
			    { 6.0, false, 0, 0 },
			    { 3.4, false, 0, 0 },
			    { 0.070, true, 210, 1200 },
			    { 0.010, true, 2000, 8000 } },
		.n_states = 5,
		.idle_w = 1.0,
		.units = 64,
		.io_j = { 0.83e-6, 2.59e-6 },
		.page_j = { 5.84e-6, 7.41e-6 },
		.max_iops = { 600000, 550000 },
	},
	{
		.name = "pm1733",
		.model = "SAMSUNG MZWLJ3T8HBLS-00007",
		.states = { { 25, false, 0, 0, { 6400, 3800 }, { 85, 17 } } },
		.n_states = 1,
		.idle_w = 7.17,
		.units = 128,
		.io_j = { 0.06e-6, 5.69e-6 },
		.page_j = { 3.73e-6, 7.27e-6 },
		.max_iops = { 1450000, 260000 },
	},
};

typedef struct Key {
	const char *name;
	size_t offset;
	double min, max;
} Key;

static const Key drive_keys[] = {
	{ "idle_w", offsetof(Drive, idle_w), 0, 100 },
	{ "latency_deviation", offsetof(Drive, deviation), 0, 3 },
	{ "limit_min_w", offsetof(Drive, limit_min_w), 0, 100 },
	{ "read_io_j", offsetof(Drive, io_j[READS]), 0, 10 },
	{ "write_io_j", offsetof(Drive, io_j[WRITES]), 0, 10 },
	{ "read_page_j", offsetof(Drive, page_j[READS]), 0, 10 },
	{ "write_page_j", offsetof(Drive, page_j[WRITES]), 0, 10 },
	{ "read_iops", offsetof(Drive, max_iops[READS]), 0, 1e8 },
	{ "write_iops", offsetof(Drive, max_iops[WRITES]), 0, 1e8 },
};

static const Key state_keys[] = {
	{ "max_w", offsetof(DriveState, max_w), 0.0001, 655 },
	{ "read_mb_s", offsetof(DriveState, mb_s[READS]), 0, 1e6 },
	{ "write_mb_s", offsetof(DriveState, mb_s[WRITES]), 0, 1e6 },
	{ "read_latency_us", offsetof(DriveState, latency_us[READS]), 0, 1e7 },
	{ "write_latency_us", offsetof(DriveState, latency_us[WRITES]), 0, 1e7 },
};

static int read_number(const IniLine *l, double min, double max, double *ret)
{
	double v;

	if (parse_double(l->value, &v) < 0 || v < min || v > max)
		return ini_complain(l, "%s: \"%s\" is not a number from %g to %g", l->key, l->value,
				    min, max);
	*ret = v;
	return 0;
}

static int read_key(const IniLine *l, const Key *keys, size_t n, void *base)
{
	for (size_t i = 0; i < n; i++)
		if (streq(l->key, keys[i].name))
			return read_number(l, keys[i].min, keys[i].max,
					   (double *)((char *)base + keys[i].offset));
	return ini_complain(l, "unknown key \"%s\" in [%s]", l->key, l->section);
}

static int read_count(const IniLine *l, unsigned long max, uint32_t *ret)
{
	unsigned long v;

	if (parse_unsigned(l->value, max, &v) < 0)
		return ini_complain(l, "%s: \"%s\" is not a whole number up to %lu", l->key,
				    l->value, max);
	*ret = (uint32_t)v;
	return 0;
}

static int read_drive(const IniLine *l, Drive *d)
{
	if (streq(l->key, "units"))
		return read_count(l, 65536, &d->units);
	if (!streq(l->key, "model"))
		return read_key(l, drive_keys, ELEMENTSOF(drive_keys), d);
	if (strlen(l->value) >= sizeof(d->model))
		return ini_complain(l, "model: more than 40 characters");
	memcpy(d->model, l->value, strlen(l->value) + 1);
	return 0;
}

static int read_state(const IniLine *l, DriveState *state)
{
	bool operational;
	int r;

	if (streq(l->key, "entry_us"))
		return read_count(l, 60000000, &state->entry_us);
	if (streq(l->key, "exit_us"))
		return read_count(l, 60000000, &state->exit_us);
	if (streq(l->key, "latency_us")) {
		r = read_number(l, 0, 1e7, &state->latency_us[READS]);
		state->latency_us[WRITES] = state->latency_us[READS];
		return r;
	}
	if (!streq(l->key, "operational"))
		return read_key(l, state_keys, ELEMENTSOF(state_keys), state);
	if (parse_bool(l->value, &operational) < 0)
		return ini_complain(l, "operational: \"%s\" is neither yes nor no", l->value);
	state->non_operational = !operational;
	return 0;
}

static int read_line(const IniLine *l, void *userdata)
{
	unsigned long n;
	Drive *d = userdata;

	if (!l->key)
		return 0;
	if (streq(l->section, "drive"))
		return read_drive(l, d);
	if (strncmp(l->section, "state ", 6) != 0 || parse_unsigned(l->section + 6, 31, &n) < 0)
		return ini_complain(l, "unknown section [%s]: [drive], [state 0] to [state 31]",
				    l->section);
	if (n > d->n_states)
		return ini_complain(l, "[state %lu] before [state %u]", n, d->n_states);
	d->n_states = MAX(d->n_states, (unsigned)n + 1);
	return read_state(l, &d->states[n]);
}

static int check_state(const char *path, const Drive *d, unsigned i)
{
	const DriveState *state = &d->states[i];

	if (state->max_w <= 0)
		return log_full(LOG_ERR, EINVAL, "%s: [state %u] has no max_w", path, i);
	if (state->non_operational)
		return 0;
	if (state->max_w <= d->idle_w)
		return log_full(LOG_ERR, EINVAL, "%s: [state %u] allows no more than idle_w", path,
				i);
	if (state->mb_s[READS] <= 0 || state->mb_s[WRITES] <= 0)
		return log_full(LOG_ERR, EINVAL, "%s: [state %u] has no read_mb_s or write_mb_s",
				path, i);
	return 0;
}

static int check(const char *path, const Drive *d)
{
	int r = 0;

	if (!d->n_states || d->states[0].non_operational)
		return log_full(LOG_ERR, EINVAL, "%s: [state 0] must exist and be operational",
				path);
	if (!d->units)
		return log_full(LOG_ERR, EINVAL, "%s: units must be at least 1", path);
	if (d->limit_min_w > 0 && d->limit_min_w <= d->idle_w)
		return log_full(LOG_ERR, EINVAL, "%s: no limit_min_w below idle_w can be kept",
				path);
	for (unsigned i = 0; r >= 0 && i < d->n_states; i++)
		r = check_state(path, d, i);
	return r;
}

/* A state has what it does not say from the state before it. */
static void inherit(Drive *d)
{
	for (unsigned i = 1; i < d->n_states; i++)
		for (unsigned k = 0; k < DIRECTIONS; k++) {
			DriveState *state = &d->states[i];

			if (state->mb_s[k] <= 0)
				state->mb_s[k] = state[-1].mb_s[k];
			if (state->latency_us[k] <= 0)
				state->latency_us[k] = state[-1].latency_us[k];
		}
}

static int find(const char *name, Drive *ret)
{
	for (size_t i = 0; i < ELEMENTSOF(drives); i++)
		if (streq(drives[i].name, name)) {
			*ret = drives[i];
			return 0;
		}
	log_error("No drive \"%s\"; there are:", name);
	for (size_t i = 0; i < ELEMENTSOF(drives); i++)
		log_error("  %-14s %s", drives[i].name, drives[i].model);
	return -ENOENT;
}

int drive_load(const char *name_or_path, Drive *ret)
{
	Drive d = { .name = "file", .model = "storpower simulated drive", .units = 64 };
	int r;

	if (strchr(name_or_path, '/'))
		r = ini_read(name_or_path, read_line, &d);
	else
		r = find(name_or_path, &d);
	if (r < 0)
		return r;
	inherit(&d);
	r = check(name_or_path, &d);
	if (r < 0)
		return r;
	if (d.limit_min_w <= 0)
		d.limit_min_w = d.idle_w + (drive_lowest_w(&d) - d.idle_w) / 10;
	*ret = d;
	return 0;
}

void drive_scale(Drive *d, double scale)
{
	for (unsigned k = 0; k < DIRECTIONS; k++) {
		for (unsigned i = 0; i < d->n_states; i++) {
			d->states[i].mb_s[k] *= scale;
			d->states[i].latency_us[k] /= scale;
		}
		d->max_iops[k] *= scale;
		d->io_j[k] /= scale;
		d->page_j[k] /= scale;
	}
}

double drive_lowest_w(const Drive *d)
{
	double lowest = d->states[0].max_w;

	for (unsigned i = 1; i < d->n_states; i++)
		if (!d->states[i].non_operational)
			lowest = MIN(lowest, d->states[i].max_w);
	return lowest;
}

double drive_rated_w(const Drive *d)
{
	double rated = 0;

	for (unsigned i = 0; i < d->n_states; i++)
		rated = MAX(rated, d->states[i].max_w);
	return rated;
}
