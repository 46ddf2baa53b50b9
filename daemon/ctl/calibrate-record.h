/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive draws as a record by model and firmware that can be shared, in the form of systemd's
 * hwdb: its match line is that of 90-iocost.hwdb, so that both can be of one file. */

#include "model/profile.h"

/* firmware NULL: of any. */
int calibrate_export(const Profile *p, const char *firmware, char **ret);
/* The text of a profile. -EBADMSG: there is no record, or no property of storpower's in it;
 * -ENOTUNIQ: there are several. */
int calibrate_import(const char *record, char **ret);
