/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/block-attr.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/text.h"

#define ATTR_MAX    4096
#define SECTOR_SIZE 512ULL /* of sysfs, whatever the device's own */

static char *block_path(const Device *d, const char *attr)
{
	return text_printf("%s/%s", (const char *)d->impl, attr);
}

/* An attribute that is not there, or the whole device? */
static int gone_or(const Device *d, int error)
{
	return (error == -ENOENT || error == -ENXIO) && access(d->impl, F_OK) < 0 ? -ENODEV : error;
}

static int block_attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	_cleanup_free_ char *path = block_path(d, attr);

	return path ? gone_or(d, read_attribute(path, buf, size)) : -ENOMEM;
}

static int block_attr_write(Device *d, const char *attr, const char *value)
{
	_cleanup_free_ char *path = block_path(d, attr);

	return path ? gone_or(d, write_attribute(path, value)) : -ENOMEM;
}

/* Kernel Documentation/block/stat.rst: per direction IOs, merges, sectors of 512 bytes and ms that
 * IOs waited in all; reads first, writes from field 5; then the IOs in flight. */
static int block_counters(Device *d, DeviceCounters *ret)
{
	unsigned long long ios[2], sectors[2], ticks_ms[2], in_flight;
	char text[512];
	int r = block_attr_read(d, "stat", text, sizeof(text));

	if (r < 0)
		return r;
	if (sscanf(text, "%llu %*u %llu %llu %llu %*u %llu %llu %llu", &ios[0], &sectors[0],
		   &ticks_ms[0], &ios[1], &sectors[1], &ticks_ms[1], &in_flight) != 7)
		return -EBADMSG;
	*ret = (DeviceCounters){
		.time_us = clock_now_us(&clock_boottime),
		.ios = { [READ_IO] = ios[0], [WRITE_IO] = ios[1] },
		.bytes = { [READ_IO] = sectors[0] * SECTOR_SIZE,
			   [WRITE_IO] = sectors[1] * SECTOR_SIZE },
		.outstanding = (double)in_flight,
		.latency_us = (double)(ticks_ms[0] + ticks_ms[1]) * USEC_PER_MSEC,
	};
	return 0;
}

static void block_free(Device *d)
{
	free(d->impl);
}

static const DeviceOps block_ops = {
	.attr_read = block_attr_read,
	.attr_write = block_attr_write,
	.counters = block_counters,
	.free = block_free,
};

/* Firmware pads with blanks; the journal and people want one word. */
static char *tidy(char *s)
{
	size_t n = strlen(s), lead;

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	lead = strspn(s, " \t");
	return memmove(s, s + lead, n - MIN(lead, n) + 1);
}

char *block_attribute(const char *sysfs_root, const char *name, const char *attr, char *buf,
		      size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s/%s", sysfs_root, name, attr);

	if (!path || read_attribute(path, buf, size) < 0)
		*buf = '\0';
	return tidy(buf);
}

static bool is_loop(const char *name)
{
	return strncmp(name, "loop", strlen("loop")) == 0;
}

static char *make_id(const char *scheme, char *what)
{
	for (char *c = what; *c; c++)
		if (isspace((unsigned char)*c))
			*c = '_';
	return text_printf("%s:%s", scheme, what);
}

char *block_device_id(const char *sysfs_root, const char *name)
{
	static const struct {
		const char *scheme, *attr;
	} sources[] = {
		{ "wwid", "wwid" },            /* NVMe namespace */
		{ "wwid", "device/wwid" },     /* SCSI, ATA */
		{ "serial", "serial" },        /* virtio */
		{ "serial", "device/serial" }, /* MMC */
		{ "dm", "dm/uuid" },           /* device mapper */
		{ "md", "md/uuid" },           /* software RAID */
	};
	char text[ATTR_MAX];

	if (!*block_attribute(sysfs_root, name, "dev", text, sizeof(text)))
		return NULL;
	if (is_loop(name)) {
		block_attribute(sysfs_root, name, "loop/backing_file", text, sizeof(text));
		return *text ? make_id("loop", text) : NULL;
	}
	for (size_t i = 0; i < ELEMENTSOF(sources); i++)
		if (*block_attribute(sysfs_root, name, sources[i].attr, text, sizeof(text)))
			return make_id(sources[i].scheme, text);
	return text_printf("name:%s", name);
}

static DeviceKind kind_of(const char *sysfs_root, const char *name)
{
	char rotational[ATTR_MAX];

	if (strncmp(name, "nvme", strlen("nvme")) == 0)
		return KIND_NVME;
	block_attribute(sysfs_root, name, "queue/rotational", rotational, sizeof(rotational));
	return streq(rotational, "1") ? KIND_HDD : KIND_SATA_SSD;
}

int block_device_new(const char *sysfs_root, const char *name, Device **ret)
{
	_cleanup_free_ char *id = block_device_id(sysfs_root, name);
	_cleanup_free_ char *folder = text_printf("%s/block/%s", sysfs_root, name);
	char model[ATTR_MAX], dev[ATTR_MAX];
	unsigned major_number, minor_number;
	Device *d;

	if (!id)
		return -ENODEV;
	if (!folder)
		return -ENOMEM;
	if (!*block_attribute(sysfs_root, name, "device/model", model, sizeof(model)))
		snprintf(model, sizeof(model), "%s", is_loop(name) ? "loop" : name);
	block_attribute(sysfs_root, name, "dev", dev, sizeof(dev));
	if (sscanf(dev, "%u:%u", &major_number, &minor_number) != 2)
		return -EBADMSG;
	d = device_new(id, name, model, kind_of(sysfs_root, name), &block_ops, folder);
	if (!d)
		return -ENOMEM;
	folder = NULL; /* the device's own now */
	d->devnum = makedev(major_number, minor_number);
	*ret = d;
	return 0;
}
