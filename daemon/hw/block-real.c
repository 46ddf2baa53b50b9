/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/block-real.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "hw/wake-test.h"
#include "stack/pool.h"
#include "stack/tier.h"

#define SECTOR_SIZE 512ULL /* of sysfs, whatever the device's own */
#define HOST        "host/"

/* Is the device itself still there, and not another one that has got its name since? */
static bool is_there(const RealDevice *i)
{
	struct stat st;

	return stat(i->folder, &st) == 0 && st.st_ino == i->inode;
}

/* Turns an error into -ENODEV where the whole device is missing, not the attribute alone. */
static int gone_or(const RealDevice *i, int error)
{
	return (error == -ENOENT || error == -ENXIO) && !is_there(i) ? -ENODEV : error;
}

/* What was set on a namespace went with it; of several, none is the device's own. */
static int no_block(const RealDevice *i)
{
	return i->stats[0] ? -EOPNOTSUPP : -ENXIO;
}

static int attribute_path(const RealDevice *i, const char *attr, char **ret)
{
	bool of_host = strncmp(attr, HOST, strlen(HOST)) == 0;
	const char *folder = of_host ? i->host : i->block;

	if (!folder)
		return of_host ? -EOPNOTSUPP : no_block(i);
	*ret = text_printf("%s/%s", folder, of_host ? attr + strlen(HOST) : attr);
	return *ret ? 0 : -ENOMEM;
}

static int real_attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	const RealDevice *i = d->impl;
	_cleanup_free_ char *path = NULL;
	int r = attribute_path(i, attr, &path);

	return r < 0 ? r : gone_or(i, read_attribute(path, buf, size));
}

static int real_attr_write(Device *d, const char *attr, const char *value)
{
	const RealDevice *i = d->impl;
	_cleanup_free_ char *path = NULL;
	int r = is_there(i) ? attribute_path(i, attr, &path) : -ENODEV;

	return r < 0 ? r : gone_or(i, write_attribute(path, value));
}

/* By its mode, because root may open any file for writing, or so access(2) says. */
static int real_attr_writable(Device *d, const char *attr)
{
	const RealDevice *i = d->impl;
	_cleanup_free_ char *path = NULL;
	int r = attribute_path(i, attr, &path);
	struct stat st;

	if (r < 0)
		return r;
	if (stat(path, &st) < 0)
		return gone_or(i, -errno);
	return st.st_mode & 0222 ? 0 : -EACCES;
}

static int real_feature_get(Device *d, uint8_t feature, uint32_t *ret_value)
{
	const RealDevice *i = d->impl;

	return i->nvme ? nvme_device_feature_get(i->nvme, feature, ret_value) : -EOPNOTSUPP;
}

static int real_feature_set(Device *d, uint8_t feature, uint32_t value)
{
	const RealDevice *i = d->impl;

	if (!is_there(i))
		return -ENODEV;
	return i->nvme ? nvme_device_feature_set(i->nvme, feature, value) : -EOPNOTSUPP;
}

static int real_power(Device *d, double *ret_w)
{
	const RealDevice *i = d->impl;

	return i->nvme ? nvme_device_power(i->nvme, ret_w) : -EOPNOTSUPP;
}

static int real_condition_get(Device *d, Condition *ret)
{
	const RealDevice *i = d->impl;

	return i->condition ? disk_condition_get(i->condition, ret) : -EOPNOTSUPP;
}

static int real_condition_set(Device *d, Condition c)
{
	const RealDevice *i = d->impl;

	return i->condition ? disk_condition_set(i->condition, c) : -EOPNOTSUPP;
}

static int read_number(const RealDevice *i, const char *attr, unsigned long *ret)
{
	_cleanup_free_ char *path = text_printf("%s/%s", i->block, attr);
	char text[32];
	int r = path ? read_attribute(path, text, sizeof(text)) : -ENOMEM;

	return r < 0 ? r : parse_unsigned(text, LONG_MAX, ret);
}

static int real_wake_test(Device *d, double *ret_seconds, char **ret_text)
{
	const RealDevice *i = d->impl;
	unsigned long sectors, block_bytes;
	int r = i->condition ? read_number(i, "size", &sectors) : -EOPNOTSUPP;

	if (r >= 0)
		r = read_number(i, "queue/logical_block_size", &block_bytes);
	if (r < 0) {
		*ret_text = text_printf("%s cannot be tested: %s", d->name,
					i->condition ? strerror(-r) : "it has no power conditions");
		return r;
	}
	return disk_wake_test(i->condition, d->node, sectors * SECTOR_SIZE, (unsigned)block_bytes,
			      ret_seconds, ret_text);
}

static int real_wake_tested(Device *d)
{
	real_device_trust(d);
	return 0;
}

static int real_may_sleep(Device *d, char **ret_why_not)
{
	const RealDevice *i = d->impl;
	char *why;
	int r = pool_busy(i->sysfs_root, d->name, &why);

	if (r < 0 || !why)
		return r;
	*ret_why_not = why;
	return -EBUSY;
}

static int real_sysfs_root(Device *d, const char **ret)
{
	const RealDevice *i = d->impl;

	if (!is_there(i))
		return -ENODEV;
	*ret = i->sysfs_root;
	return 0;
}

static int check_cgroups(const Device *d)
{
	const RealDevice *i = d->impl;

	if (!i->cgroup_root)
		return -EOPNOTSUPP;
	return d->devnum ? 0 : no_block(i);
}

static int real_cgroup_read(Device *d, const char *file, char *buf, size_t size)
{
	const RealDevice *i = d->impl;
	int r = check_cgroups(d);

	return r < 0 ? r : cgroup_line_read(i->cgroup_root, d->devnum, file, buf, size);
}

static int real_cgroup_write(Device *d, const char *file, const char *line)
{
	const RealDevice *i = d->impl;
	int r = is_there(i) ? check_cgroups(d) : -ENODEV;

	return r < 0 ? r : cgroup_line_write(i->cgroup_root, d->devnum, file, line);
}

static int real_cgroup_list(Device *d, char ***ret)
{
	const RealDevice *i = d->impl;
	int r = check_cgroups(d);

	return r < 0 ? r : cgroup_children(i->cgroup_root, ret);
}

/* Kernel Documentation/block/stat.rst: per direction IOs, merges, sectors of 512 bytes and ms that
 * IOs waited in all; reads first, writes from field 5; then the IOs in flight. */
static int add_counters(const char *path, DeviceCounters *to)
{
	unsigned long long ios[2], sectors[2], ticks_ms[2], in_flight;
	char text[512];
	int r = read_attribute(path, text, sizeof(text));

	if (r < 0)
		return r;
	if (sscanf(text, "%llu %*u %llu %llu %llu %*u %llu %llu %llu", &ios[0], &sectors[0],
		   &ticks_ms[0], &ios[1], &sectors[1], &ticks_ms[1], &in_flight) != 7)
		return -EBADMSG;
	for (Direction dir = 0; dir < _DIRECTION_MAX; dir++) {
		to->ios[dir] += ios[dir];
		to->bytes[dir] += sectors[dir] * SECTOR_SIZE;
		to->latency_us += (double)ticks_ms[dir] * USEC_PER_MSEC;
	}
	to->outstanding += (double)in_flight;
	return 0;
}

static int real_counters(Device *d, DeviceCounters *ret)
{
	const RealDevice *i = d->impl;
	DeviceCounters c = { .time_us = clock_now_us(&clock_boottime) };

	for (char **path = i->stats; *path; path++) {
		int r = add_counters(*path, &c);

		if (r < 0)
			return gone_or(i, r);
	}
	*ret = c;
	return 0;
}

static int real_cache_reads(Device *d, const char *behind, CacheReads *ret)
{
	_cleanup_(strv_freep) char **names = strv_split(behind);
	const RealDevice *i = d->impl;
	CacheReads sum = {}, one;

	if (!names)
		return -ENOMEM;
	for (char **name = names; *name; name++) {
		int r = tier_count_reads(i->sysfs_root, *name, &one);

		if (r < 0)
			return r;
		sum.hits += one.hits;
		sum.misses += one.misses;
	}
	*ret = sum;
	return 0;
}

#define BLOCK_LAYER                                                                                \
	.attr_read = real_attr_read, .attr_write = real_attr_write,                                \
	.attr_writable = real_attr_writable, .cgroup_read = real_cgroup_read,                      \
	.cgroup_write = real_cgroup_write, .cgroup_list = real_cgroup_list,                        \
	.counters = real_counters, .cache_reads = real_cache_reads, .free = real_device_free

const DeviceOps block_ops = { BLOCK_LAYER };

const DeviceOps disk_ops = {
	BLOCK_LAYER,
	.condition_get = real_condition_get,
	.condition_set = real_condition_set,
	.may_sleep = real_may_sleep,
	.wake_test = real_wake_test,
	.wake_tested = real_wake_tested,
	.sysfs_root = real_sysfs_root,
};

const DeviceOps nvme_ops = {
	BLOCK_LAYER,
	.feature_get = real_feature_get,
	.feature_set = real_feature_set,
	.power = real_power,
};
