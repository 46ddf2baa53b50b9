/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The table of all knobs. It lies in this room because the knobs that redirect IO are in it. */

#include "journal/journal.h"
#include "knob/knob.h"

extern const Knob knob_redirect_bcache;
extern const Knob knob_redirect_writecache;
extern const Knob knob_redirect_md;
extern const Knob knob_redirect_mergerfs;
extern const Knob knob_redirect_nvmet;

/* All knobs, in the order in which several on one device are restored: a knob that resets another
 * one's value (a scheduler switch) comes before it. NULL-terminated. */
extern const Knob *const knob_registry[];
size_t knob_count(void);
const Knob *knob_find(const char *name);

/* What of the value of the knob survives a reboot, for journal_forget_moot(). */
JournalSurvival knob_survival(const char *name);
/* The same of the removal of the device without a reboot, for journal_forget_gone(). */
JournalSurvival knob_survival_of_removal(const char *name);
