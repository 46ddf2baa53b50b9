/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which host bus adapters are known to bring a disk back from standby by an IO alone, and which
 * failed to (base/records.h):
 *
 *	storpower-wake-tests 2 #01234567
 *	tested hba="0000:03:00.0 mpt3sas" #01234567
 *	failed hba="0000:00:17.0 ahci" #01234567
 */

#include "base/cleanup.h"

typedef struct WakeRecord WakeRecord;

typedef enum WakeTested { WAKE_UNTESTED, WAKE_TESTED, WAKE_FAILED } WakeTested;

/* path NULL: kept in memory alone. An absent file is an empty record; a damaged line is logged with
 * file:line and left out, and the file as found is kept as PATH.damaged. -EPROTONOSUPPORT: another
 * version wrote the file, which is left alone; -EIO, -EACCES, -ENOMEM. */
int wake_record_open(const char *path, WakeRecord **ret);
WakeRecord *wake_record_close(WakeRecord *r); /* returns NULL */
DEFINE_CLEANUP(WakeRecord *, wake_record_close);

/* hba: Device.hba; "" is always untested. From any thread. */
WakeTested wake_record_get(const WakeRecord *r, const char *hba);
/* Records it and writes the file atomically before it returns; where writing fails it holds for
 * this run all the same. WAKE_UNTESTED forgets the HBA. -EINVAL for "". */
int wake_record_set(WakeRecord *r, const char *hba, WakeTested tested);
