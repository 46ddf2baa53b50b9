/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which host bus adapters are known to bring a disk back from standby by an IO alone, and which
 * failed to: a small file, one line each, "tested HBA" or "failed HBA". */

#include "base/cleanup.h"

typedef struct WakeRecord WakeRecord;

typedef enum WakeTested { WAKE_UNTESTED, WAKE_TESTED, WAKE_FAILED } WakeTested;

/* path NULL: kept in memory alone. An absent file is an empty record; lines that are not understood
 * are logged with file:line and kept. -EIO, -EACCES, -ENOMEM. */
int wake_record_open(const char *path, WakeRecord **ret);
WakeRecord *wake_record_close(WakeRecord *r); /* returns NULL */
DEFINE_CLEANUP(WakeRecord *, wake_record_close);

/* hba: Device.hba; "" is always untested. From any thread. */
WakeTested wake_record_get(const WakeRecord *r, const char *hba);
/* Written atomically before it returns; where that fails it holds for this run all the same.
 * WAKE_UNTESTED forgets the HBA. -EINVAL for "". */
int wake_record_set(WakeRecord *r, const char *hba, WakeTested tested);
