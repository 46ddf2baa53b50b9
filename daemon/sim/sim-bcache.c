/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cache above a simulated disk, by the names and in the forms of bcache's sysfs folders
 * (drivers/md/bcache/sysfs.c and util.c of the kernel). */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim-device.h"

#define FOLDER       "bcache/"
#define SET          "cache/"
#define BUCKET_BYTES (512 << 10)

typedef struct Attr {
	const char *name;
	/* NULL: a register's */
	double (*value)(const SimDevice *s, const SimTruth *t);
	SimRegister reg;
	uint64_t max;
	bool in_words; /* printed as a size: "4.0M" */
} Attr;

static double dirty_bytes(const SimDevice *s, const SimTruth *t)
{
	(void)s;
	return t->dirty_bytes;
}

static double available_percent(const SimDevice *s, const SimTruth *t)
{
	return fmax(100 - ceil(100 * t->dirty_bytes / s->nature.cache_bytes), 0);
}

static double bucket_bytes(const SimDevice *s, const SimTruth *t)
{
	(void)s;
	(void)t;
	return BUCKET_BYTES;
}

static double n_buckets(const SimDevice *s, const SimTruth *t)
{
	(void)t;
	return floor(s->nature.cache_bytes / BUCKET_BYTES);
}

static double is_dirty(const SimDevice *s, const SimTruth *t)
{
	(void)s;
	return t->marked_dirty;
}

static const Attr attrs[] = {
	{ "cache_mode", NULL, SIM_CACHE_MODE, _SIM_CACHE_MODE_MAX - 1 },
	{ "writeback_running", NULL, SIM_WRITEBACK_RUNNING, 1 },
	{ "writeback_percent", NULL, SIM_WRITEBACK_PERCENT, SIM_CACHE_CUTOFF_PERCENT },
	{ "writeback_delay", NULL, SIM_WRITEBACK_DELAY, UINT32_MAX },
	{ "sequential_cutoff", NULL, SIM_SEQUENTIAL_CUTOFF, UINT32_MAX, true },
	{ SET "congested_read_threshold_us", NULL, SIM_CONGESTED_READ, UINT32_MAX },
	{ SET "congested_write_threshold_us", NULL, SIM_CONGESTED_WRITE, UINT32_MAX },
	{ "state", is_dirty },
	{ "dirty_data", dirty_bytes, .in_words = true },
	{ SET "bucket_size", bucket_bytes, .in_words = true },
	{ SET "cache_available_percent", available_percent },
	{ SET "cache0/nbuckets", n_buckets },
};

static const Attr *find_attr(const SimDevice *s, const char *name)
{
	if (s->nature.cache_bytes <= 0)
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(attrs); i++)
		if (streq(attrs[i].name, name + strlen(FOLDER)))
			return &attrs[i];
	return NULL;
}

bool sim_bcache_has(const char *attr)
{
	return strncmp(attr, FOLDER, strlen(FOLDER)) == 0;
}

/* As bch_hprint(): at most three digits and one behind the point. */
static int print_size(uint64_t v, char *buf, size_t size)
{
	static const char units[] = "kMGTPEZY";
	uint64_t rest;
	size_t u = 0;

	for (rest = v & 1023, v >>= 10; v >= 1000; v >>= 10, u++)
		rest = v & 1023;
	return snprintf(buf, size, "%llu.%llu%c", (unsigned long long)v,
			(unsigned long long)(rest * 10 / 1024), units[u]);
}

/* Modes with a blank between, the present one in brackets. */
static int print_mode(uint64_t mode, char *buf, size_t size)
{
	int n = 0;

	for (uint64_t i = 0; i < _SIM_CACHE_MODE_MAX && n >= 0 && (size_t)n < size; i++)
		n += snprintf(buf + n, size - (size_t)n, mode == i ? "%s[%s]" : "%s%s",
			      i ? " " : "", sim_cache_mode_names[i]);
	return n;
}

int sim_bcache_read(const SimDevice *s, const SimTruth *t, const char *attr, char *buf, size_t size)
{
	const Attr *a = find_attr(s, attr);
	uint64_t v;
	int n;

	if (!a)
		return -ENOENT;
	v = a->value ? (uint64_t)a->value(s, t) : t->told.value[a->reg];
	if (a->value == is_dirty)
		n = snprintf(buf, size, "%s", v ? "dirty" : "clean");
	else if (a->in_words)
		n = print_size(v, buf, size);
	else if (a->reg == SIM_CACHE_MODE)
		n = print_mode(v, buf, size);
	else
		n = snprintf(buf, size, "%llu", (unsigned long long)v);
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

static int parse_mode(const char *value, uint64_t *ret)
{
	size_t n = strcspn(value, "\n");

	for (uint64_t i = 0; i < _SIM_CACHE_MODE_MAX; i++)
		if (n == strlen(sim_cache_mode_names[i]) &&
		    !strncmp(value, sim_cache_mode_names[i], n)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

/* As bch_strtoul_h(): it takes whole numbers with a unit or without, and refuses "4.0M" as it was
 * read. What is too large becomes the largest, as in sysfs_strtoul_clamp(). */
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

int sim_bcache_parse(const SimDevice *s, const char *attr, const char *value, SimChange *ret)
{
	const Attr *a = find_attr(s, attr);

	if (!a || a->value)
		return a ? -EACCES : -ENOENT;
	ret->reg = a->reg;
	return a->reg == SIM_CACHE_MODE ? parse_mode(value, &ret->value)
					: parse_size(value, a->max, &ret->value);
}
