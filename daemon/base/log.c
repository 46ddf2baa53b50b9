/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <systemd/sd-journal.h>

/* Written once at start-up; logging has no other state. */
static int max_level = LOG_INFO;

void log_set_max_level(int level)
{
	max_level = level;
}

static bool to_journal(void)
{
	return getenv("JOURNAL_STREAM") != NULL;
}

int log_full(int level, int error, const char *format, ...)
{
	char text[1024], detail[128] = "";
	va_list ap;

	error = abs(error);
	if (level > max_level)
		return -error;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (error)
		snprintf(detail, sizeof(detail), ": %s", strerror(error));

	if (to_journal())
		sd_journal_send("PRIORITY=%i", level, "MESSAGE=%s%s", text, detail, NULL);
	else
		fprintf(stderr, "<%d>%s%s\n", level, text, detail);
	return -error;
}

void log_change(const char *device, const char *knob, const char *from, const char *to,
		const char *reason)
{
	if (LOG_INFO > max_level)
		return;
	if (to_journal())
		sd_journal_send("PRIORITY=%i", LOG_INFO, "MESSAGE=%s: %s %s -> %s (%s)", device,
				knob, from, to, reason, "DEVICE=%s", device, "KNOB=%s", knob,
				"FROM=%s", from, "TO=%s", to, "REASON=%s", reason, NULL);
	else
		fprintf(stderr, "<%d>%s: %s %s -> %s (%s)\n", LOG_INFO, device, knob, from, to,
			reason);
}
