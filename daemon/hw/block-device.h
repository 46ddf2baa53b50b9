/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A real device: an NVMe controller with its namespaces, or a block device; one table of
 * operations for all. Below a root other than "/sys" (tests) nothing is sent to any device. */

#include "device/device.h"
#include "device/wake-record.h"

typedef struct BlockDeviceOptions {
	bool wake_tested;        /* it is known to come back from standby by itself */
	const WakeRecord *wakes; /* which HBAs are; outlives the device. NULL: none */
	const char *redirect;    /* Device.redirect; NULL: "" */
	bool departing;          /* a loop device counts without its file, too */
} BlockDeviceOptions;

/* Device.id: names the same hardware again. What is set on a loop device stays with it whatever
 * file is attached, so its id is its name. NULL when it is not there. */
char *block_hardware_id(const char *sysfs_root, const char *name);

/* Makes the device "nvme0" or "sda" by what the device says of itself, without a profile. -ENODEV:
 * it is not there (a loop device without its file is not); -EAGAIN: the NVMe controller is being
 * reset. options NULL: none of them. */
int block_device_new(const char *sysfs_root, const char *name, const BlockDeviceOptions *options,
		     Device **ret);
/* The configuration says otherwise of a device that is there. Returns whether its conditions have
 * changed by that; -ENOMEM. */
int block_device_configure(Device *d, bool wake_tested, const char *redirect);
/* The block device whose settings are the device's; NULL: there is no one. */
const char *block_device_queue(const Device *d);
/* For device_match_profile(); lives as long as the device. */
void block_device_describe(const Device *d, Descriptor *ret);
/* A disk that was asleep when it was found is asked for its power conditions only when it is awake
 * again. True: it has been asked now, and has more to offer. */
bool block_device_wake_up(Device *d);
