/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The components above a disk that can keep IO off it: found or declared, never created. What
 * DeviceOps.upper_read() and upper_write() know of each:
 *
 *   bcache      the attributes of the backing device (/sys/block/X/bcache/NAME): "cache_mode",
 *               "writeback_running", "writeback_percent", "sequential_cutoff", "dirty_data",
 *               "state", ...; "set/NAME": of its cache set ("set/congested_read_threshold_us",
 *               "set/bucket_size", "set/cache_available_percent", ...); "cache/NAME": of the first
 *               cache device ("cache/nbuckets"); "backing_devices": how many disks the set
 *               serves. Of the set and the cache device -ENOENT where none is attached.
 *   md          "members": the disk's places in arrays, "md0/dev-sda1 md1/dev-sda2"; "" while those
 *               arrays do not run; "md0/NAME" of such an array ("md0/level", "md0/sync_action");
 *               "md0/dev-sda1/state" of the member, which can be written; "md0/others": the states
 *               of the array's other members, blanks between ("in_sync in_sync,write_mostly").
 *   writecache  "table": the target's parameters as dmsetup table prints them ("s 8:0 252:1 4096
 *               0"); writing it loads and resumes a table of the same devices with other options.
 *               "status" likewise, to be read.
 *   mergerfs    "branches": user.mergerfs.branches of the mount, which can be written; "branch":
 *               the paths in it that are this disk's alone ("/hdd0", "/hdd0/a:/hdd0/b"); "mount" of
 *               the mergerfs; "second": another one that the disk is a branch of, or ""; "create":
 *               its policies for new files; "space": bytes of the other branches that take those,
 *               and how many of them are free, "1000000 250000".
 *   nvmet       "exports": by which ports and in which ANA groups its namespaces are reached, "1/2
 *               2/2"; "1/2/ana_state" of port 1 and group 2, which can be written; "others": what
 *               else a port exports in such a group.
 */

#include "base/cleanup.h"

typedef struct Upper Upper;

/* What lies on the disk (kernel name), looked for at each reading and writing; whether it may be
 * used is the knobs' business (Device.redirect), for what was set is put back in any case. -ENOENT:
 * no such component. -EMLINK: several of the component lie on the disk, and one setting does not
 * fit all. sysfs_root: "/sys" or a fake tree; below a root other than "/sys" the device mapper,
 * extended attributes and mounts are not asked. -ENOMEM. */
int upper_open(const char *sysfs_root, const char *disk, Upper **ret);
Upper *upper_close(Upper *u); /* returns NULL */
DEFINE_CLEANUP(Upper *, upper_close);

int upper_read(Upper *u, const char *component, const char *what, char *buf, size_t size);
int upper_write(Upper *u, const char *component, const char *what, const char *value);
