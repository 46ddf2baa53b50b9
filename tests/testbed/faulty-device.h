/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A device of any kind that fails as no simulated fault does: one attribute alone refuses or hangs,
 * a write takes and cannot be read back, or what was read comes late. */

#include "device/device.h"

#define FAULTY_WRITES_KEPT 64

typedef struct FaultyDevice {
	DeviceOps ops; /* first: a device's ops are its FaultyDevice */
	const DeviceOps *healthy;
	const Clock *clock;
	const char *of; /* part of the name of the attribute, file or operation; NULL: of all */
	bool refuse;    /* writes: -EIO */
	atomic_uint_least64_t hang_us; /* writes take so much longer... */
	bool late;                     /* ...after they have taken effect, not before */
	atomic_uint hanging;           /* writes now on their way */
	uint64_t read_us;              /* reads take so much longer, after they have been done */
	bool blind;                    /* after a write, reads: -EIO */
	atomic_bool unseen;            /* written while blind */
	atomic_uint n_writes;          /* tried */
	uint64_t wrote_us[FAULTY_WRITES_KEPT]; /* when, the first of them */
} FaultyDevice;

/* Healthy until told otherwise. Must outlive the device. */
void faulty_device_wrap(FaultyDevice *f, Device *d, const Clock *clock);
