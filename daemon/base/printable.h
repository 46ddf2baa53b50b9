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
 *	D-Bus arguments				refused by bus/bus-arguments.c
 *	configuration, policies, profiles,
 *	nodes					refused by base/ini.c, with file:line
 *	names of profiles' files		refused by model/profile-read.c
 *	claims that an older version saved	made printable by budget/claims-file.c
 *	models					made printable by device/device.c
 *	what lies on a device: udev, device
 *	mapper, md, mount points, pools		made printable by hw/block-place.c
 *	a command's name as a claim's source	made printable by bus/bus-manager.c
 *	what upsd says of a UPS			made printable by signal/nut-answer.c
 *	what a VTN calls its events		made printable by signal/openadr-wishes.c
 *
 * By ids of devices, cgroups, paths and values of knobs things are found or set again, so that they
 * stay as they are, in the files of journal/ and device/, too: what is shown of them, and of
 * processes, is made printable by bus/, and whatever is logged by base/log.c. The kernel's names of
 * disks and host adapters are ASCII. */

#include <stdbool.h>

#include "base/cleanup.h"

/* What makes a text unfit. */
typedef struct Unfit {
	size_t at;     /* bytes before it */
	char what[64]; /* "the control character U+009B" */
} Unfit;

/* May these n bytes enter as they are? If not, *ret says why not. */
bool is_printable(const char *text, size_t n, Unfit *ret);
/* Is it a name that may be a part of a path, of an object's name and of a command? Letters of any
 * script, digits and "._:+@-", beginning with a letter, a digit or "_". The text is UTF-8. */
bool is_plain_name(const char *text);
#define PLAIN_NAME "a name of letters, digits and \"._:+@-\""
/* Writes "?" for each byte of what is unfit, as org.storpower1.xml has it. Returns text. */
char *make_printable(char *text);
/* The same of a copy, cut to the buffer, which is returned. */
const char *printable_text(char *buf, size_t size, const char *text);
/* The same of a copy; NULL when out of memory. */
char *printable_copy(const char *text);
