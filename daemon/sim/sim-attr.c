/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim-device.h"

/* block/blk-mq.h and block/blk.h */
#define BLKDEV_MIN_RQ  4
#define MAX_SCHED_RQ   2048
#define PAGE_KB        4
#define SDEV_DEPTH_MAX 32

#define STRICT_GUARANTEES "queue/iosched/strict_guarantees"

#define ALL_KINDS  (1U << KIND_NVME | 1U << KIND_SATA_SSD | 1U << KIND_HDD)
#define DISK_KINDS (1U << KIND_SATA_SSD | 1U << KIND_HDD)

typedef struct Attr {
	const char *name;
	unsigned kinds;
	SimRegister reg;
	/* NULL: it prints the register's number */
	int (*print)(const SimRegisters *r, DeviceKind kind, char *buf, size_t size);
	/* NULL: read-only */
	int (*parse)(const SimRegisters *r, DeviceKind kind, const char *value, uint64_t *ret);
} Attr;

static int fits(int n, size_t size)
{
	return n < 0 || (size_t)n >= size ? -ENOBUFS : 0;
}

/* kstrtouint() of a value with or without its newline */
static int parse_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret)
{
	char digits[16];
	size_t n = strcspn(value, "\n");
	unsigned long v;

	if (n >= sizeof(digits) || (value[n] && value[n + 1]))
		return -EINVAL;
	memcpy(digits, value, n);
	digits[n] = '\0';
	if (parse_unsigned(digits, max, &v) < 0 || v < min)
		return -EINVAL;
	*ret = v;
	return 0;
}

/* As queue_requests_store(): it raises what is too small in silence, and refuses what is too large.
 * Without a scheduler the device's own tags are the limit. */
static int parse_nr_requests(const SimRegisters *r, DeviceKind kind, const char *value,
			     uint64_t *ret)
{
	uint64_t most = r->value[SIM_SCHEDULER] == SIM_NONE ? sim_tags(kind) : MAX_SCHED_RQ;
	int e = parse_number(value, 0, most, ret);

	if (e >= 0)
		*ret = MAX(*ret, (uint64_t)BLKDEV_MIN_RQ);
	return e;
}

static int parse_max_sectors(const SimRegisters *r, DeviceKind kind, const char *value,
			     uint64_t *ret)
{
	uint64_t v;
	int e = parse_number(value, PAGE_KB, sim_max_hw_sectors_kb(kind), &v);

	(void)r;
	if (e < 0 || v % PAGE_KB)
		return -EINVAL;
	*ret = v;
	return 0;
}

/* Names with a blank between, the active one in brackets. */
static int print_scheduler(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	int n = 0;

	(void)kind;
	for (uint64_t i = 0; i < _SIM_SCHEDULER_MAX && (size_t)n < size; i++)
		n += snprintf(buf + n, size - (size_t)n,
			      i == r->value[SIM_SCHEDULER] ? "%s[%s]" : "%s%s", i ? " " : "",
			      sim_scheduler_names[i]);
	return fits(n, size);
}

/* The position of a word, with or without its newline. */
static int parse_word(const char *value, const char *const *words, size_t n_words, uint64_t *ret)
{
	size_t n = strcspn(value, "\n");

	for (size_t i = 0; i < n_words; i++)
		if (strlen(words[i]) == n && !strncmp(value, words[i], n)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_scheduler(const SimRegisters *r, DeviceKind kind, const char *value, uint64_t *ret)
{
	(void)r;
	(void)kind;
	return parse_word(value, sim_scheduler_names, _SIM_SCHEDULER_MAX, ret);
}

/* As bfq_strict_guarantees_store(), which takes anything above 1 for 1. */
static int parse_strict(const SimRegisters *r, DeviceKind kind, const char *value, uint64_t *ret)
{
	int e = parse_number(value, 0, INT32_MAX, ret);

	(void)r;
	(void)kind;
	if (e >= 0)
		*ret = *ret > 0;
	return e;
}

static int parse_queue_depth(const SimRegisters *r, DeviceKind kind, const char *value,
			     uint64_t *ret)
{
	(void)r;
	(void)kind;
	return parse_number(value, 1, SDEV_DEPTH_MAX, ret);
}

static int print_link(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	(void)kind;
	return fits(snprintf(buf, size, "%s", sim_link_names[r->value[SIM_LINK]]), size);
}

static int parse_link(const SimRegisters *r, DeviceKind kind, const char *value, uint64_t *ret)
{
	(void)r;
	(void)kind;
	return parse_word(value, sim_link_names, _SIM_LINK_MAX, ret);
}

static int print_supported(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	(void)r;
	(void)kind;
	return fits(snprintf(buf, size, "1"), size);
}

static int print_max_hw_sectors(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	(void)r;
	return fits(snprintf(buf, size, "%u", sim_max_hw_sectors_kb(kind)), size);
}

static int print_rotational(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	(void)r;
	return fits(snprintf(buf, size, "%d", kind == KIND_HDD), size);
}

/* 512-byte sectors: 4 TB disks, 3.84 TB flash. */
static int print_size(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	(void)r;
	return fits(snprintf(buf, size, "%s", kind == KIND_HDD ? "7814037168" : "7501476528"),
		    size);
}

/* No simulated device sleeps by the kernel's own runtime power management. */
static int print_runtime_status(const SimRegisters *r, DeviceKind kind, char *buf, size_t size)
{
	(void)r;
	(void)kind;
	return fits(snprintf(buf, size, "active"), size);
}

static const Attr attrs[] = {
	{ "queue/nr_requests", ALL_KINDS, SIM_NR_REQUESTS, NULL, parse_nr_requests },
	{ "queue/max_sectors_kb", ALL_KINDS, SIM_MAX_SECTORS_KB, NULL, parse_max_sectors },
	{ "queue/scheduler", ALL_KINDS, SIM_SCHEDULER, print_scheduler, parse_scheduler },
	{ STRICT_GUARANTEES, ALL_KINDS, SIM_STRICT_GUARANTEES, NULL, parse_strict },
	{ "device/queue_depth", DISK_KINDS, SIM_QUEUE_DEPTH, NULL, parse_queue_depth },
	{ "host/link_power_management_policy", DISK_KINDS, SIM_LINK, print_link, parse_link },
	{ "host/link_power_management_supported", DISK_KINDS, 0, print_supported, NULL },
	{ "queue/max_hw_sectors_kb", ALL_KINDS, 0, print_max_hw_sectors, NULL },
	{ "queue/rotational", ALL_KINDS, 0, print_rotational, NULL },
	{ "size", ALL_KINDS, 0, print_size, NULL },
	{ "device/power/runtime_status", ALL_KINDS, 0, print_runtime_status, NULL },
};

static const Attr *attr_find(const char *name, DeviceKind kind, const SimRegisters *r)
{
	if (streq(name, STRICT_GUARANTEES) && r->value[SIM_SCHEDULER] != SIM_BFQ)
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(attrs); i++)
		if (streq(attrs[i].name, name) && (attrs[i].kinds & 1U << kind))
			return &attrs[i];
	return NULL;
}

/* mq/N/nr_tags: there is one folder for each hardware queue. */
static int read_tags(const SimDevice *s, const char *attr, char *buf, size_t size)
{
	unsigned queue;
	int end = 0;

	if (sscanf(attr, "mq/%u/nr_tags%n", &queue, &end) != 1 || !end || attr[end] ||
	    queue >= s->nature.queues)
		return -ENOENT;
	return fits(snprintf(buf, size, "%u", sim_tags(s->device->kind)), size);
}

int sim_attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	const Attr *a;
	SimTruth t;
	int r = sim_device_peek(d->impl, &t);

	if (r < 0)
		return r;
	if (sim_bcache_has(attr))
		return sim_bcache_read(d->impl, &t, attr, buf, size);
	a = attr_find(attr, d->kind, &t.told);
	if (!a)
		return read_tags(d->impl, attr, buf, size);
	if (a->print)
		return a->print(&t.told, d->kind, buf, size);
	return fits(snprintf(buf, size, "%llu", (unsigned long long)t.told.value[a->reg]), size);
}

static int parse_attr(const Device *d, const SimTruth *t, const char *attr, const char *value,
		      SimChange *ret)
{
	const Attr *a = attr_find(attr, d->kind, &t->told);

	if (!a || !a->parse)
		return a ? -EACCES : -ENOENT;
	ret->reg = a->reg;
	return a->parse(&t->told, d->kind, value, &ret->value);
}

int sim_attr_write(Device *d, const char *attr, const char *value)
{
	SimChange c = { 0 };
	SimTruth t;
	int r = sim_device_ready(d->impl, &t);

	if (r >= 0)
		r = sim_bcache_has(attr) ? sim_bcache_parse(d->impl, attr, value, &c)
					 : parse_attr(d, &t, attr, value, &c);
	return r < 0 ? r : sim_device_write(d->impl, &t, &c, SIM_SYSFS_US);
}
