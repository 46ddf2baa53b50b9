/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The NVMe half of a real device: what the inventory attaches to a Device that is an NVMe
 * subsystem. Watts in descriptors are the subsystem's (NVMe base specification 2.3, Maximum Power),
 * states are each controller's: what is set is set on all of its controllers. It holds no file open
 * (an open /dev/nvme0 keeps its number from being used again, so that a controller that comes back
 * would be called nvme1): a controller that went away and came back is simply there again. Any
 * thread may use it at any time. */

#include "device/device.h"

typedef struct NvmeDevice NvmeDevice;

/* Identifies the controllers "nvme0", ... of one subsystem, PCIe or fabrics, by the first. It
 * blocks while the drive thinks, at most 20 s. -ENODEV: no such controller. -EAGAIN: it is being
 * reset or connected; its NVME_EVENT=connected uevent tells when to try again. */
int nvme_device_open(char *const *controllers, NvmeDevice **ret);
NvmeDevice *nvme_device_free(NvmeDevice *n); /* takes NULL; returns NULL */
DEFINE_CLEANUP(NvmeDevice *, nvme_device_free);

/* Bit n: state n is operational and may be set; for Device.power_states. */
uint32_t nvme_device_power_states(const NvmeDevice *n);
/* For device_match_profile(); ret->model points into n. */
void nvme_device_describe(const NvmeDevice *n, Descriptor *ret);

/* DeviceOps.feature_get, feature_set and power, on controllers (NSID 0) and never saved. Where they
 * differ, the value of the one that allows the most watts counts. All
 * return 0 or
 *   -ENODEV      the controller is gone
 *   -EAGAIN      it is being reset or connected
 *   -EOPNOTSUPP  it does not advertise the feature, which then is not even sent; or it knows no
 *                such command
 *   -EINVAL      Invalid Field: it does not know the feature or the value
 *   -ERANGE      a power limit it cannot keep
 *   -EPERM       Feature Not Changeable, or a security state forbids it
 *   -EBUSY       it cannot now
 *   -ETIMEDOUT   no answer within 10 s; the kernel resets it
 *   -EIO         anything else
 * A refused set is logged in the drive's words, once until it answers something else. */
int nvme_device_feature_get(NvmeDevice *n, uint8_t feature, uint32_t *ret_value);
int nvme_device_feature_set(NvmeDevice *n, uint8_t feature, uint32_t value);
/* What the drive says it draws, mean of about a second; -EOPNOTSUPP where it does not say. */
int nvme_device_power(NvmeDevice *n, double *ret_w);
