/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/sysfs.h"

#include <ctype.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/text.h"

/* Firmware pads with blanks; the journal and people want one word. */
static char *tidy(char *s)
{
	size_t n = strlen(s), lead;

	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	lead = strspn(s, " \t");
	return memmove(s, s + lead, n - MIN(lead, n) + 1);
}

char *sysfs_attribute(const char *sysfs_root, const char *folder, const char *attr, char *buf,
		      size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/%s/%s", sysfs_root, folder, attr);

	if (!path || read_attribute(path, buf, size) < 0)
		*buf = '\0';
	return tidy(buf);
}

char *block_attribute(const char *sysfs_root, const char *name, const char *attr, char *buf,
		      size_t size)
{
	_cleanup_free_ char *folder = text_printf("block/%s", name);

	*buf = '\0';
	return folder ? sysfs_attribute(sysfs_root, folder, attr, buf, size) : buf;
}

dev_t sysfs_devnum(const char *sysfs_root, const char *folder)
{
	unsigned major_number, minor_number;
	char text[32];

	sysfs_attribute(sysfs_root, folder, "dev", text, sizeof(text));
	return sscanf(text, "%u:%u", &major_number, &minor_number) == 2
		       ? makedev(major_number, minor_number)
		       : 0;
}

bool is_loop_name(const char *name)
{
	return strncmp(name, "loop", strlen("loop")) == 0;
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *block_make_id(const char *scheme, char *what)
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
	char text[BLOCK_ATTR_MAX];

	if (!*block_attribute(sysfs_root, name, "dev", text, sizeof(text)))
		return NULL;
	if (is_loop_name(name)) {
		block_attribute(sysfs_root, name, "loop/backing_file", text, sizeof(text));
		return *text ? block_make_id("loop", text) : NULL;
	}
	for (size_t i = 0; i < ELEMENTSOF(sources); i++)
		if (*block_attribute(sysfs_root, name, sources[i].attr, text, sizeof(text)))
			return block_make_id(sources[i].scheme, text);
	return text_printf("name:%s", name);
}
