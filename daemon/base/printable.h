/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Decides which text may enter. D-Bus and JSON carry only valid UTF-8, and what is shown on a
 * terminal or in a log must neither steer it nor change the order in which it is read.
 *
 * Unfit are: bytes that are not UTF-8 (RFC 3629) and noncharacters, which sd-bus does not send;
 * control characters (C0, DEL, C1); U+2028 and U+2029, which end a line; and the bidirectional
 * controls U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 (Unicode, UAX 9).
 *
 * Where text enters:
 *	D-Bus arguments			refused		bus/bus-arguments.c
 *	configuration, policies,
 *	profiles, nodes			refused		base/ini.c, with file:line
 *	claims of the state file	made printable	budget/claims-file.c
 *	ids of devices in journal,
 *	accounts and wake tests		made printable	base/sysfs.c makes the ids; the files'
 *readers do the same to ids of older versions model and HBA of a device	made printable
 *device/device.c, hw/block-device.c
 *	what lies on a device		made printable	hw/block-place.c (udev, device mapper,
 *mounts) a command's name as source	made printable	bus/bus-manager.c By these names things are
 *found again, so that they stay as they are, and only what is shown is made printable: cgroups and
 *processes, and the values of knobs, by bus/; everything that is logged, by base/log.c. Kernel
 *names of disks are ASCII by what their drivers make of them. */

#include <stdbool.h>

#include "base/cleanup.h"

/* What makes a text unfit. */
typedef struct Unfit {
	size_t at;     /* bytes before it */
	char what[64]; /* "the control character U+009B" */
} Unfit;

/* May these n bytes enter as they are? If not, *ret says why not. */
bool is_printable(const char *text, size_t n, Unfit *ret);
/* Writes "?" for each byte of what is unfit, as org.storpower1.xml has it. Returns text. */
char *make_printable(char *text);
/* The same of a copy; NULL when out of memory. */
char *printable_copy(const char *text);
