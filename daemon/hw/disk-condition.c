/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/disk-condition.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "hw/disk-power.h"

#define BETWEEN_SECONDS 30 /* until a disk must be where it was sent */
#define BETWEEN_POLL_US (100 * USEC_PER_MSEC)

#define STANDBY (1u << CONDITION_STANDBY_Y | 1u << CONDITION_STANDBY_Z)

struct DiskCondition {
	int fd;
	char *node, *folder;
	const DiskCommands *commands;
	DiskPower power;
	unsigned all;   /* conditions that it has; those of power may be set */
	Condition last; /* seen or set */
	bool stopped;   /* and this was logged */
};

static bool attribute_says(const char *folder, const char *attr, const char *what)
{
	char text[32];

	return streq(sysfs_attribute("", folder, attr, text, sizeof(text)), what);
}

/* A suspended disk must not be asked: the kernel resumes it for any command. */
static bool is_suspended(const char *folder)
{
	return attribute_says(folder, "power/runtime_status", "suspended") ||
	       attribute_says(folder, "power/runtime_status", "suspending");
}

/* Does the kernel spin it down and up when it suspends and resumes it? The attribute got its longer
 * name in 6.6. */
static bool kernel_spins_it(const char *folder)
{
	_cleanup_free_ char *path = text_printf("%s/scsi_disk", folder);
	_cleanup_closedir_ DIR *d = path ? opendir(path) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		_cleanup_free_ char *disk = text_printf("%s/%s", path, e->d_name);

		if (*e->d_name != '.' && disk)
			return attribute_says(disk, "manage_runtime_start_stop", "1") ||
			       attribute_says(disk, "manage_start_stop", "1");
	}
	return false;
}

/* SATA disks, wherever they are attached, have the vendor that SAT gives them, or its page. */
static bool is_sata_disk(const char *folder)
{
	_cleanup_free_ char *page = text_printf("%s/vpd_pg89", folder);

	return attribute_says(folder, "vendor", "ATA") || (page && access(page, F_OK) == 0);
}

DiskCondition *disk_condition_close(DiskCondition *c)
{
	if (!c)
		return NULL;
	closep(&c->fd);
	free(c->node);
	free(c->folder);
	free(c);
	return NULL;
}

static int open_node(const char *node, const char *folder, DiskCondition **ret)
{
	_cleanup_(disk_condition_closep) DiskCondition *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fd = -EBADF;
	c->node = strdup(node);
	c->folder = strdup(folder);
	if (!c->node || !c->folder)
		return -ENOMEM;
	c->commands = is_sata_disk(folder) ? &ata_commands : &scsi_commands;
	/* It is opened for reading alone: when a node that was open for writing is closed, udev
	 * reads the disk anew and so wakes it. */
	c->fd = open(node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (c->fd < 0)
		return errno == ENXIO ? -ENODEV : -errno;
	*ret = TAKE_PTR(c);
	return 0;
}

int disk_condition_open(const char *node, const char *sysfs_device_folder, bool wake_tested,
			DiskCondition **ret, unsigned *ret_conditions)
{
	_cleanup_(disk_condition_closep) DiskCondition *c = NULL;
	int r;

	if (is_suspended(sysfs_device_folder))
		return -EAGAIN;
	r = open_node(node, sysfs_device_folder, &c);
	if (c)
		r = c->commands->describe(c->fd, &c->power);
	if (r < 0 || !c)
		return r == -EBADMSG ? -EOPNOTSUPP : r;
	c->all = c->power.conditions;
	*ret_conditions =
		disk_condition_trust(c, wake_tested || !disk_condition_needs_wake_test(c));
	*ret = TAKE_PTR(c);
	return 0;
}

unsigned disk_condition_trust(DiskCondition *c, bool trusted)
{
	c->power.conditions = trusted ? c->all : c->all & ~STANDBY;
	return c->power.conditions;
}

bool disk_condition_is_trusted(const DiskCondition *c)
{
	return c->power.conditions == c->all;
}

bool disk_condition_needs_wake_test(const DiskCondition *c)
{
	return c->commands == &scsi_commands && c->all & STANDBY;
}

static void note_stopped(DiskCondition *c, bool stopped)
{
	if (stopped && !c->stopped)
		log_warning("%s: somebody stopped this disk, and many HBAs fail the next IO of a "
			    "stopped one; start it: sg_start --start %s",
			    c->node, c->node);
	c->stopped = stopped;
}

int disk_condition_get(DiskCondition *c, Condition *ret)
{
	int r;

	if (is_suspended(c->folder)) {
		/* only IO would have changed it, and resumed it first */
		*ret = kernel_spins_it(c->folder) ? CONDITION_STANDBY_Z : c->last;
		return 0;
	}
	r = c->commands->get(c->fd, ret);
	note_stopped(c, r == -EHOSTDOWN);
	if (r < 0)
		return r == -EHOSTDOWN ? -EIO : r;
	c->last = *ret;
	return 0;
}

/* A disk may answer that it moves and still be on its way. */
static int wait_until_settled(DiskCondition *c)
{
	uint64_t until_us = clock_now_us(&clock_boottime) + BETWEEN_SECONDS * USEC_PER_SEC;
	Condition now;
	int r;

	while ((r = disk_condition_get(c, &now)) == -EBUSY &&
	       clock_now_us(&clock_boottime) < until_us)
		clock_sleep_us(&clock_boottime, BETWEEN_POLL_US);
	return r == -EBUSY ? -ETIMEDOUT : r;
}

int disk_condition_set(DiskCondition *c, Condition condition)
{
	Condition now;
	int r;

	if (!(c->power.conditions >> condition & 1))
		return -ERANGE;
	if (condition != CONDITION_ACTIVE) {
		r = disk_condition_get(c, &now);
		if (r < 0)
			return r;
		if (now == condition)
			return 0;
		/* what sleeps has been flushed, and a flush may wake it */
		if (condition >= CONDITION_STANDBY_Y && now < CONDITION_STANDBY_Y)
			r = c->commands->flush(c->fd, &c->power);
		if (r < 0)
			return r;
	}
	r = c->commands->set(c->fd, &c->power, condition);
	return r < 0 ? r : wait_until_settled(c);
}
