/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The commands to an NVMe controller. No other file of the daemon calls libnvme. All commands go to
 * the controller (NSID 0, or all namespaces for a log), never to one namespace, and none is waited
 * for longer than CONTROLLER_TIMEOUT_MS. */

#include "model/profile.h"

/* After this long the kernel gives a command up and resets the controller, which its IO feels:
 * longer than any honest drive takes (power state changes: 0.12 s), shorter than the kernel's own
 * minute. */
#define CONTROLLER_TIMEOUT_MS 10000

/* Features, NVMe base specification 2.3 and OCP Datacenter NVMe SSD specification 2.0 */
#define FEATURE_POWER_MANAGEMENT 0x02
#define FEATURE_POWER_LIMIT      0x23
#define FEATURE_OCP_POWER_STATE  0xc7

/* Log pages */
#define LOG_SMART             0x02
#define LOG_POWER_MEASUREMENT 0x25

typedef struct ControllerIdentity {
	char model[41];      /* without the blanks that pad it */
	bool limits_power;   /* feature 23h */
	bool measures_power; /* log 25h */
	uint8_t ocp_index;   /* of OCP's UUID, which names whose feature C7h is meant; 0: not OCP */
	PowerState states[PROFILE_STATES_MAX];
	unsigned n_states;
} ControllerIdentity;

typedef struct Controller {
	int fd;
	int status; /* of the last command: 0, an NVMe status, or -errno when none came */
} Controller;
#define CONTROLLER_CLOSED ((Controller){ .fd = -EBADF })

/* name: "nvme0". -ENODEV: not there; -EAGAIN: being reset or connected. */
int controller_open(const char *name, Controller *ret);
void controller_close(Controller *c);

/* The same errors for all commands: see nvme-device.h. */
int controller_identify(Controller *c, ControllerIdentity *ret);
int controller_feature_get(Controller *c, uint8_t feature, uint8_t uuid_index, uint32_t *ret);
/* value: command dword 11. Never saved. */
int controller_feature_set(Controller *c, uint8_t feature, uint8_t uuid_index, uint32_t value);
/* The first `size` bytes, a multiple of 4; leaves the events that the page reports pending. */
int controller_log(Controller *c, uint8_t page, void *ret, uint32_t size);

/* What the last command was answered, in words: "Feature Not Changeable: ...". */
const char *controller_answer(const Controller *c);
