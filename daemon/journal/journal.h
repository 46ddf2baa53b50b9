/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal of originals: before a knob is first written, its value goes here and is synced.
 * Whatever happens to the daemon, replaying the journal puts the machine back. */

#include <stddef.h>

#include "base/cleanup.h"
#include "base/knob-value.h"

typedef struct Journal Journal;

/* Opens or creates the file, locks it and reads what an earlier run left. A torn last line (the
 * machine died while writing it) is dropped: its knob was not written yet. Any other line that
 * cannot be read is logged with file and line and left out, all others count: whatever is still
 * known is still put back. The file as found is then kept as PATH.damaged. -EBUSY: another process
 * has the journal open. -EPROTONOSUPPORT: written by a newer version; the file is left alone. Both
 * are logged. */
int journal_open(const char *path, const char *boot_id, Journal **ret);
Journal *journal_close(Journal *j); /* keeps the file; returns NULL */
DEFINE_CLEANUP(Journal *, journal_close);

/* Records originals, not yet synced. Recording a knob already recorded changes nothing (the first
 * original is the one to go back to). */
int journal_record(Journal *j, const char *device_id, const char *knob, const KnobValue *original);
/* Makes all records durable; must succeed before the knobs are written. Cheap when nothing is new.
 */
int journal_sync(Journal *j);
/* The recorded original, NULL when there is none. */
const KnobValue *journal_original(const Journal *j, const char *device_id, const char *knob);
/* Forgets a restored knob, -ENOENT when it is not recorded. The file is rewritten atomically once
 * it is worth it, and emptied when nothing is recorded any more. */
int journal_forget(Journal *j, const char *device_id, const char *knob);
size_t journal_size(const Journal *j);
size_t journal_size_of(const Journal *j, const char *device_id); /* of the device */
/* The device of the record at that place, in the order of the ids; NULL past the end. */
const char *journal_device_at(const Journal *j, size_t index);
/* How many lines were damaged that may have held an original, which nobody can put back now. What
 * can be read of each was logged when the journal was opened. */
size_t journal_lost(const Journal *j);

/* What of a knob's value is still so after a reboot. */
typedef enum JournalSurvival {
	SURVIVES_NOT,     /* it lives in the kernel, which has its own default again */
	SURVIVES_HEAD,    /* of the value the first word alone */
	SURVIVES_WHOLE,   /* it lives in the device */
	SURVIVAL_UNKNOWN, /* this version has no such knob */
} JournalSurvival;

/* Forgets of the records of an earlier boot what did not survive the reboot, whether the device is
 * still there or not. Records of knobs that nobody knows are logged and kept. */
void journal_forget_moot(Journal *j, JournalSurvival (*survival)(const char *knob));
/* The device is gone for good, and so is what lived in the kernel for it: forgets that. Returns how
 * many records it has forgotten. */
size_t journal_forget_gone(Journal *j, const char *device_id,
			   JournalSurvival (*survival)(const char *knob));
