/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One storage device, real or simulated, behind one set of operations. Whoever holds a Device
 * cannot tell which, and must not ask. */

#include <stdatomic.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/waits.h"
#include "model/predict.h"

typedef struct Device Device;

/* Cumulative since the device appeared; only differences mean anything. Index by Direction. */
typedef struct DeviceCounters {
	uint64_t time_us; /* boot time of the reading */
	uint64_t ios[_DIRECTION_MAX];
	uint64_t bytes[_DIRECTION_MAX];
	uint64_t sequential_ios; /* both directions; valid when has_pattern */
	double latency_us;       /* sum over IOs; also the integral of depth over time */
	double outstanding;      /* not cumulative: IOs in the device now */
	double joules;           /* modelled, above idle; valid when has_joules */
	/* of the IOs, from submission to completion, what held them up before the device included;
	 * valid when has_waits */
	uint64_t waits[WAITS_MAX];
	/* of all the above, what came from the root cgroup, which io.cost does not see; valid when
	 * has_uncontrolled */
	uint64_t uncontrolled_ios, uncontrolled_bytes;
	double uncontrolled_joules;
	bool has_pattern, has_joules, has_uncontrolled, has_waits;
} DeviceCounters;

/* Of what lies on a disk behind a cache, since that was set up: the reads that the cache served,
 * and those that reached the disk. */
typedef struct CacheReads {
	uint64_t hits, misses;
} CacheReads;

/* What a device can be asked. An operation that a device does not have is NULL. All may block and
 * are called from worker threads, one at a time per device (power and counters: from any thread at
 * any time). All return 0 or -errno; -ENODEV: the device is gone. */
typedef struct DeviceOps {
	/* sysfs attributes, by path below /sys/block/NAME: "queue/nr_requests",
	 * "sda1/bcache/cache_mode"; "host/NAME" is one of the SCSI host's
	 * (/sys/class/scsi_host/hostN/NAME) or, where there is one only, of the NVMe controller's
	 * (/sys/class/nvme/nvmeN/NAME). -ENXIO: the device is there, and the block device is
	 * gone that the attribute was of; cgroup_... alike */
	int (*attr_read)(Device *d, const char *attr, char *buf, size_t size);
	int (*attr_write)(Device *d, const char *attr, const char *value);
	/* -EACCES: its driver never lets it be changed. NULL: what can be read can be written. */
	int (*attr_writable)(Device *d, const char *attr);
	/* NVMe Get/Set Features, never with the save bit; value is CDW11 / completion dword 0 */
	int (*feature_get)(Device *d, uint8_t feature, uint32_t *ret_value);
	int (*feature_set)(Device *d, uint8_t feature, uint32_t value);
	/* ATA or SCSI power condition; reading never wakes the disk */
	int (*condition_get)(Device *d, Condition *ret);
	int (*condition_set)(Device *d, Condition c);
	/* May it be put to sleep now, as far as those are concerned that it serves? -EBUSY with why
	 * not, in words (malloc'd): "md0 is being resynced". Never wakes it. */
	int (*may_sleep)(Device *d, char **ret_why_not);
	/* Puts it to standby, whether tested or not, and reads one block, past the page cache: does
	 * that alone bring it back? 0: yes, after *ret_seconds; -EREMOTEIO: no (it was then woken
	 * by a command, if that works); anything else: it could not be tried, nothing is learned.
	 * *ret_text: what happened, in words (malloc'd), with any result; NULL when out of memory.
	 * Takes up to a minute or two. */
	int (*wake_test)(Device *d, double *ret_seconds, char **ret_text);
	/* What is known of its HBA has changed (device/wake-record.h): sets conditions and
	 * wake_untested anew. Sends it nothing and does not block: the loop may call it itself
	 * while no worker has the device. */
	int (*wake_tested)(Device *d);
	/* The tree of sysfs in which what lies on the disk is found by the disk's kernel name:
	 * "/sys" or a made-up one; "": there is none, and what lies on it is found among its
	 * attributes alone. NULL: nothing that lies on it can be steered. */
	int (*sysfs_root)(Device *d, const char **ret);
	/* this device's line of a cgroup file, without the MAJ:MIN; "io.cost.model" of the root
	 * cgroup, "system.slice/io.max" of one below it; "" where there is no line */
	int (*cgroup_read)(Device *d, const char *file, char *buf, size_t size);
	int (*cgroup_write)(Device *d, const char *file, const char *line);
	/* names of the cgroups directly below the root one; a NULL-terminated array */
	int (*cgroup_list)(Device *d, char ***ret);
	/* never wakes a sleeping device */
	int (*counters)(Device *d, DeviceCounters *ret);
	/* Of all those devices with a cache that lie on it, which are a copy of `behind`. -ENODATA:
	 * nobody counts them. Never wakes it. */
	int (*cache_reads)(Device *d, const char *behind, CacheReads *ret);
	int (*power)(Device *d, double *ret_w); /* a sensor of this device alone */
	void (*free)(Device *d);                /* releases impl */
} DeviceOps;

struct Device {
	atomic_uint n_ref;
	char *id;    /* stable over restarts: names the same hardware again (the journal's key) */
	char *name;  /* kernel name: nvme0, sda, loop0 */
	char *model; /* model string made printable, matched against profiles */
	char *group; /* "" for none */
	DeviceKind kind;
	dev_t devnum;          /* 0: no block device of its own */
	bool above_queue;      /* it passes IO on to a queue, and has that queue's attributes */
	uint32_t power_states; /* bit n: selectable NVMe power state n */
	unsigned conditions;   /* bit c: Condition c supported */
	char *node;            /* what a program opens: "/dev/nvme0"; "" for none */
	char *stack;      /* what lies on it, in words: "sda1: md0, vg0-data, /srv"; "" nothing */
	char *pool;       /* what is planned as one: "md0", "vg0", "zpool tank"; "" alone */
	char *protection; /* of its pool's data: "3+1" of RAID 5 over four; "": none, or not known
			   */
	/* Names of devices with a cache: those whose cache it is, and those that lie on it.
	 * "bcache0 dm-3"; "" for none. A disk and its cache have one in common. */
	char *cached_by_it, *behind;
	uint64_t size_bytes; /* 0: not known */
	char *hba;           /* what it hangs on: "0000:00:17.0 ahci"; "" unknown */
	char *redirect; /* the component above that the operator names, or "none"; "" names none */
	char *keep_awake_why; /* NULL, or why it is never put to sleep: "it is the cache of bcache0"
			       */
	bool link_sleeps;     /* a SATA drive that puts its link to sleep by itself (DIPM) */
	bool wake_untested;   /* standby needs a wake test that succeeds on this HBA first */
	char *protected_why;  /* NULL, or why it is never touched: "holds the root file system" */
	bool departing;       /* it serves nobody any more: once what was set on it is given back,
			       * it is forgotten */
	/* what the knob that paces it remembers from one write to the next; malloc'd, and only
	 * that knob knows its type */
	void *knob_memory;
	char *block_why_not; /* NULL, or why nothing of the block layer can be set */
	/* changed by the loop alone, when the profiles are read again, and read by workers, too */
	const Profile *_Atomic profile;
	Profile *own_profile; /* owned: none of the store matched, once */
	const DeviceOps *ops;
	void *impl;
};

/* Copies the strings, the model made printable; one reference. NULL when out of memory. */
Device *device_new(const char *id, const char *name, const char *model, DeviceKind kind,
		   const DeviceOps *ops, void *impl);
Device *device_ref(Device *d);
Device *device_unref(Device *d); /* returns NULL */
DEFINE_CLEANUP(Device *, device_unref);

/* Finds the profile of a device in the store, else makes a generic one, or takes the one that it
 * made before. */
int device_match_profile(Device *d, const ProfileStore *store, const Descriptor *descriptor);
