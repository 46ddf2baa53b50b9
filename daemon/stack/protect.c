/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/protect.h"

#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/topology-walk.h"

static const struct {
	const char *mount_point, *why;
} vital[] = {
	{ "/", "holds the root file system" },
	{ "/usr", "holds the system's programs" },
	{ "/boot", "holds the boot files" },
	{ "/boot/efi", "holds the boot files" },
	{ "/efi", "holds the boot files" },
	{ "/var", "holds the system's state and journal" },
	{ "/var/lib", "holds the system's state" },
	{ "/var/lib/storpower", "holds storpower's own journal" },
	{ "/var/log", "holds the system journal" },
	{ "/var/log/journal", "holds the system journal" },
};

static const char *why_vital(const char *mount_point)
{
	for (size_t i = 0; i < ELEMENTSOF(vital); i++)
		if (streq(vital[i].mount_point, mount_point))
			return vital[i].why;
	return NULL;
}

static const char *why_mounted(const Topology *t, const char *disk)
{
	for (size_t i = 0; i < t->n_mounts; i++) {
		const char *why = why_vital(t->mounts[i].point);

		if (why && topology_below_mount(t, &t->mounts[i], disk))
			return why;
	}
	return NULL;
}

static const char *why_swap(const Topology *t, const char *disk)
{
	for (size_t i = 0; i < t->n_swaps; i++) {
		const Swap *s = &t->swaps[i];

		if (s->mount ? topology_below_mount(t, s->mount, disk)
			     : topology_below(t, s->devnum, disk))
			return s->is_file ? "holds a swap file" : "holds swap space";
	}
	return NULL;
}

static int is_multipath(const char *holder, void *userdata)
{
	char uuid[256];

	(void)userdata;
	sysfs_attribute("", holder, "dm/uuid", uuid, sizeof(uuid));
	return strncmp(uuid, "mpath-", strlen("mpath-")) == 0;
}

/* A path of a multipath device must be left alone: a smaller max_sectors_kb below request-based
 * device mapper gives IO errors. */
static const char *why_multipath(const Topology *t, const char *disk)
{
	_cleanup_free_ char *holders = text_printf("%s/block/%s/holders", t->sysfs_root, disk);

	return holders && folder_each(holders, is_multipath, NULL) > 0
		       ? "is a path of a multipath device, which is to be named instead"
		       : NULL;
}

const char *stack_why_protected(const Topology *t, const char *disk)
{
	return why_mounted(t, disk) ?: why_swap(t, disk) ?: why_multipath(t, disk);
}

const char *stack_why_refused(const char *name)
{
	static const struct {
		const char *prefix, *why;
	} kinds[] = {
		{ "zram", "it is memory" },         { "ram", "it is memory" },
		{ "pmem", "it is memory" },         { "fd", "it is a floppy drive" },
		{ "sr", "it is an optical drive" },
	};

	for (size_t i = 0; i < ELEMENTSOF(kinds); i++) {
		size_t n = strlen(kinds[i].prefix);

		if (strncmp(name, kinds[i].prefix, n) == 0 && name[n] >= '0' && name[n] <= '9')
			return kinds[i].why;
	}
	return NULL;
}

static bool is_one(const char *sysfs_root, const char *name, const char *attr)
{
	char text[16];

	return streq(block_attribute(sysfs_root, name, attr, text, sizeof(text)), "1");
}

/* A disk whose watts are not this node's, by the way to it. */
static const char *why_elsewhere(const char *sysfs_root, const char *name)
{
	static const struct {
		const char *part, *why;
	} ways[] = {
		{ "/virtio", "it is virtual" },
		{ "/vmbus", "it is virtual" },
		{ "/session", "it is across a network (iSCSI)" },
		{ "/rport-", "it is across a network (Fibre Channel)" },
		{ "/usb", "it is on USB" },
	};
	_cleanup_free_ char *link = text_printf("%s/block/%s", sysfs_root, name);
	_cleanup_free_ char *real = link ? realpath(link, NULL) : NULL;

	for (size_t i = 0; real && i < ELEMENTSOF(ways); i++)
		if (strstr(real, ways[i].part))
			return ways[i].why;
	return NULL;
}

/* SCSI peripheral device types (SPC-5): 00h and 0Eh disks, 14h zoned disks. */
static bool is_scsi_disk(const char *sysfs_root, const char *name)
{
	char type[16];

	block_attribute(sysfs_root, name, "device/type", type, sizeof(type));
	return streq(type, "0") || streq(type, "14") || streq(type, "20");
}

const char *stack_why_ignored(const char *sysfs_root, const char *name)
{
	if (!is_scsi_disk(sysfs_root, name))
		return "it is no NVMe, SATA or SAS disk";
	if (is_one(sysfs_root, name, "ro"))
		return "it is read-only";
	if (is_one(sysfs_root, name, "removable"))
		return "its medium is removable";
	return why_elsewhere(sysfs_root, name);
}
