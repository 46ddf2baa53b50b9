/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which drive is measured, and whether it may be written to. */

#include "ctl/calibrate.h"

/* "/dev/nvme0n1", "nvme0n1" or the controller "nvme0" as the block device that fio opens, into a
 * buffer of CALIBRATE_TEXT. -ENOENT: there is none; -ENOTUNIQ: the controller has several. */
int calibrate_find_block(const char *sysfs_root, const char *argument, char *ret_name);
/* Model, firmware, serial number and kind of a block device, from sysfs. */
void calibrate_identify(const char *sysfs_root, const char *name, CalibrateSubject *s);
/* "alice at node7", for a profile that others may get; nothing where one of both is not printable
 * or they do not fit. */
void calibrate_who(const char *user, const char *host, CalibrateSubject *s);
/* The power states that `nvme id-ctrl -o json` tells; false: it tells none. */
bool calibrate_parse_states(const char *json, CalibrateSubject *s);
/* Asks nvme(1), of a device that is NVMe; -ENOENT: it is not installed. */
int calibrate_ask_states(CalibrateSubject *s);

typedef struct CalibrateDoor {
	const char *sysfs_root, *name; /* of the block device */
	const char *path;              /* "/dev/NAME" */
	const char *serial;            /* of the device; "": it has none */
	const char *destructive;       /* what the user said; NULL: nothing */
} CalibrateDoor;

/* All that it holds will be lost: may it be written to? Returns 0 and a descriptor that keeps the
 * device from being mounted or taken otherwise for as long as it is open; -EPERM and a reason in
 * words; or another error of looking. */
int calibrate_open_for_writing(const CalibrateDoor *d, int *ret_fd, char **ret_why);
/* Somebody else has it in use, so that reads will be disturbed and disturb. */
bool calibrate_is_in_use(const char *path);
