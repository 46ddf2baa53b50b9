/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A knob sets one thing on a device. Each mechanism has one file; to add a mechanism, add a file
 * and a line in the table of redirect/knob-registry.c. */

#include "base/knob-value.h"
#include "device/device.h"

/* What a component that holds writes back for a disk has room for. */
typedef struct CacheState {
	uint64_t size_bytes;  /* that can hold written data at all */
	uint64_t dirty_bytes; /* written and not yet on the disk */
	uint64_t room_bytes;  /* that can still be written before the disk must be touched */
} CacheState;

typedef struct Knob {
	const char *name; /* journal key: "nvme-power-state" */
	Mechanism mechanism;
	Exactness exactness;
	bool slow;    /* takes seconds (a spindle): never waited for on the emergency path */
	bool freezes; /* writing it stops the device's queue for a moment: not twice a second */
	bool drifts;  /* others may undo what it holds: it is read again from time to time */
	bool wakes;   /* writing it wakes a sleeping disk */
	bool survives_reboot;      /* the value lives in the device, not in the kernel */
	bool head_survives_reboot; /* of its value the first word alone */

	/* Does this device and kernel offer it? Fills in its part of the offer. -EOPNOTSUPP with
	 * why not, in words for an operator (malloc'd). Never wakes the device. */
	int (*probe)(Device *d, Offer *offer, char **ret_why_not);
	int (*read)(Device *d, KnobValue *ret);
	/* See knob_want(). */
	int (*want)(const Device *d, const Setting *s, const Mix *mix, const KnobValue *original,
		    KnobValue *ret);
	int (*write)(Device *d, const KnobValue *value);
	/* Does what was read back fulfil what was wanted? NULL: same text. */
	bool (*fulfils)(const Device *d, const KnobValue *wanted, const KnobValue *found);
	/* Of a MECHANISM_REDIRECT knob: how full its cache is. May block, never wakes the disk.
	 * NULL: it holds nothing that would have to be written back. */
	int (*cache)(Device *d, CacheState *ret);
} Knob;

/* Finds the value that the knob needs for its part of the setting while the device's workload is
 * the mix; it is the original where the setting says "as found". -ERANGE: the knob cannot do that,
 * or not under this mix. Pure: any thread may ask. */
int knob_want(const Knob *k, const Device *d, const Setting *s, const Mix *mix,
	      const KnobValue *original, KnobValue *ret);
/* Writes, reads back and compares. -EREMOTEIO: the write "succeeded" but the value did not take
 * (*ret_found, when given, is what was read). Retries EAGAIN and EBUSY a few times. */
int knob_apply(const Knob *k, Device *d, const KnobValue *value, KnobValue *ret_found);
bool knob_fulfils(const Knob *k, const Device *d, const KnobValue *wanted, const KnobValue *found);
