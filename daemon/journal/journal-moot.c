/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "journal/journal-private.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"

static bool is_of_another_boot(const Journal *j, const JournalRecord *r)
{
	return !streq(r->boot, j->boot_id);
}

static void forget(Journal *j, const JournalRecord *r)
{
	_cleanup_free_ char *device = strdup(r->device), *knob = strdup(r->knob);

	if (device && knob)
		(void)journal_forget(j, device, knob);
}

static void tell_unknown(const Journal *j, const JournalRecord *r)
{
	log_warning(
		"%s: it holds \"%s\" as original of %s of %s, a knob that this version does not "
		"know: kept for one that does",
		j->file.path, r->original.text, r->knob, r->device);
}

static void forget_moot(Journal *j, JournalRecord *r, JournalSurvival survival)
{
	if (survival == SURVIVES_HEAD)
		r->original.text[strcspn(r->original.text, " ")] = '\0';
	else if (survival == SURVIVES_NOT)
		forget(j, r);
}

/* What lives in the kernel is the kernel's own default again after a reboot. */
void journal_forget_moot(Journal *j, JournalSurvival (*survival)(const char *knob))
{
	/* from the end, because forgetting takes the record out of the array */
	for (size_t i = j->n; i > 0; i--) {
		JournalRecord *r = j->records[i - 1];
		JournalSurvival s = survival(r->knob);

		if (s == SURVIVAL_UNKNOWN)
			tell_unknown(j, r);
		else if (is_of_another_boot(j, r))
			forget_moot(j, r, s);
	}
}

size_t journal_forget_gone(Journal *j, const char *device_id,
			   JournalSurvival (*survival)(const char *knob))
{
	size_t before = j->n;

	for (size_t i = j->n; i > 0; i--) {
		const JournalRecord *r = j->records[i - 1];

		if (streq(r->device, device_id) && survival(r->knob) == SURVIVES_NOT)
			forget(j, r);
	}
	return before - j->n;
}
