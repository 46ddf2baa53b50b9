/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cache above a simulated disk, by the names and in the forms of bcache's sysfs folders
 * (drivers/md/bcache/sysfs.c and util.c of the kernel). */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim-device.h"

#define BUCKET_BYTES (512 << 10)

typedef struct Attr {
	const char *name;
	SimRegister reg;
	int (*print)(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
		     size_t size);
	/* NULL: read-only */
	int (*parse)(const char *value, uint64_t max, uint64_t *ret);
	uint64_t max;
} Attr;

static int fits(int n, size_t size)
{
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

/* bch_hprint(): at most three digits and one behind the point. */
static int print_size(double bytes, char *buf, size_t size)
{
	static const char units[] = "kMGTPEZY";
	uint64_t v = (uint64_t)bytes, rest;
	size_t u = 0;

	for (rest = v & 1023, v >>= 10; v >= 1000; v >>= 10, u++)
		rest = v & 1023;
	return fits(snprintf(buf, size, "%llu.%llu%c", (unsigned long long)v,
			     (unsigned long long)(rest * 10 / 1024), units[u]),
		    size);
}

static int print_number(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
			size_t size)
{
	(void)s;
	return fits(snprintf(buf, size, "%llu", (unsigned long long)t->told.value[reg]), size);
}

static int print_cutoff(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
			size_t size)
{
	(void)s;
	return print_size((double)t->told.value[reg], buf, size);
}

/* Modes with a blank between, the present one in brackets. */
static int print_mode(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
		      size_t size)
{
	int n = 0;

	(void)s;
	for (uint64_t i = 0; i < _SIM_CACHE_MODE_MAX && n >= 0 && (size_t)n < size; i++)
		n += snprintf(buf + n, size - (size_t)n,
			      t->told.value[reg] == i ? "%s[%s]" : "%s%s", i ? " " : "",
			      sim_cache_mode_names[i]);
	return fits(n, size);
}

static int print_dirty(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
		       size_t size)
{
	(void)s;
	(void)reg;
	return print_size(t->dirty_bytes, buf, size);
}

static int print_state(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
		       size_t size)
{
	(void)s;
	(void)reg;
	return fits(snprintf(buf, size, "%s", t->marked_dirty ? "dirty" : "clean"), size);
}

static int print_available(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
			   size_t size)
{
	double dirty = ceil(100 * t->dirty_bytes / s->nature.cache_bytes);

	(void)reg;
	return fits(snprintf(buf, size, "%.0f", fmax(100 - dirty, 0)), size);
}

static int print_bucket(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
			size_t size)
{
	(void)s;
	(void)t;
	(void)reg;
	return print_size(BUCKET_BYTES, buf, size);
}

static int print_buckets(const SimDevice *s, const SimTruth *t, SimRegister reg, char *buf,
			 size_t size)
{
	(void)t;
	(void)reg;
	return fits(snprintf(buf, size, "%.0f", floor(s->nature.cache_bytes / BUCKET_BYTES)), size);
}

static int parse_mode(const char *value, uint64_t max, uint64_t *ret)
{
	size_t n = strcspn(value, "\n");

	for (uint64_t i = 0; i <= max; i++)
		if (n == strlen(sim_cache_mode_names[i]) &&
		    !strncmp(value, sim_cache_mode_names[i], n)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

/* bch_strtoul_h(): whole numbers, with a unit or without; "4.0M" as it was read is refused. Too
 * large becomes the largest, as sysfs_strtoul_clamp() has it. */
static int parse_size(const char *value, uint64_t max, uint64_t *ret)
{
	static const char units[] = "kmgt";
	char *end;
	const char *unit;
	uint64_t v = strtoull(value, &end, 10);

	if (end == value || *value == '-')
		return -EINVAL;
	unit = *end ? strchr(units, *end | 0x20) : NULL;
	if (unit && *end != '\n') {
		v <<= 10 * (unit - units + 1);
		end++;
	}
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	*ret = MIN(v, max);
	return 0;
}

static const Attr attrs[] = {
	{ "cache_mode", SIM_CACHE_MODE, print_mode, parse_mode, _SIM_CACHE_MODE_MAX - 1 },
	{ "writeback_running", SIM_WRITEBACK_RUNNING, print_number, parse_size, 1 },
	{ "writeback_percent", SIM_WRITEBACK_PERCENT, print_number, parse_size,
	  SIM_CACHE_CUTOFF_PERCENT },
	{ "writeback_delay", SIM_WRITEBACK_DELAY, print_number, parse_size, UINT32_MAX },
	{ "sequential_cutoff", SIM_SEQUENTIAL_CUTOFF, print_cutoff, parse_size, UINT32_MAX },
	{ "set/congested_read_threshold_us", SIM_CONGESTED_READ, print_number, parse_size,
	  UINT32_MAX },
	{ "set/congested_write_threshold_us", SIM_CONGESTED_WRITE, print_number, parse_size,
	  UINT32_MAX },
	{ "state", 0, print_state, NULL, 0 },
	{ "dirty_data", 0, print_dirty, NULL, 0 },
	{ "set/bucket_size", 0, print_bucket, NULL, 0 },
	{ "set/cache_available_percent", 0, print_available, NULL, 0 },
	{ "cache/nbuckets", 0, print_buckets, NULL, 0 },
};

static const Attr *attr_find(const SimDevice *s, const char *component, const char *what)
{
	if (s->nature.cache_bytes <= 0 || !streq(component, "bcache"))
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(attrs); i++)
		if (streq(attrs[i].name, what))
			return &attrs[i];
	return NULL;
}

int sim_upper_read(Device *d, const char *component, const char *what, char *buf, size_t size)
{
	const Attr *a = attr_find(d->impl, component, what);
	SimTruth t;
	int r = sim_device_peek(d->impl, &t);

	if (r < 0)
		return r;
	return a ? a->print(d->impl, &t, a->reg, buf, size) : -ENOENT;
}

int sim_upper_write(Device *d, const char *component, const char *what, const char *value)
{
	const Attr *a = attr_find(d->impl, component, what);
	SimChange c = { 0 };
	SimTruth t;
	int r = sim_device_ready(d->impl, &t);

	if (r < 0)
		return r;
	if (!a)
		return -ENOENT;
	if (!a->parse)
		return -EACCES;
	c.reg = a->reg;
	r = a->parse(value, a->max, &c.value);
	return r < 0 ? r : sim_device_write(d->impl, &t, &c, SIM_SYSFS_US);
}
