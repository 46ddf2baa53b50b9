/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <systemd/sd-journal.h>
#include <threads.h>

#include "base/printable.h"

/* Logging has no other state. */
static atomic_int max_level = LOG_INFO;
static bool plain; /* written once at start-up */
static thread_local LogWatch *watch;

void log_set_max_level(int level)
{
	max_level = level;
}

void log_set_plain(void)
{
	plain = true;
}

void log_watch(LogWatch *w)
{
	watch = w;
	if (w)
		*w->first = '\0';
}

static void note(int level, const char *text, const char *detail)
{
	if (watch && level <= LOG_WARNING && !*watch->first)
		snprintf(watch->first, sizeof(watch->first), "%s%s", text, detail);
}

static bool to_journal(void)
{
	return !plain && getenv("JOURNAL_STREAM") != NULL;
}

int log_full(int level, int error, const char *format, ...)
{
	char text[1024], detail[128] = "";
	va_list ap;

	error = abs(error);
	if (level > max_level && level > LOG_WARNING)
		return -error;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	make_printable(text);
	if (error)
		snprintf(detail, sizeof(detail), ": %s", strerror(error));

	note(level, text, detail);
	if (level > max_level)
		return -error;
	if (to_journal())
		sd_journal_send("PRIORITY=%i", level, "MESSAGE=%s%s", text, detail, NULL);
	else if (plain)
		fprintf(stderr, "%s%s\n", text, detail);
	else
		fprintf(stderr, "<%d>%s%s\n", level, text, detail);
	return -error;
}

typedef struct Change {
	const char *device, *knob;
	char from[256], to[256], reason[256];
} Change;

static void send_change(const Change *c)
{
	if (to_journal())
		sd_journal_send("PRIORITY=%i", LOG_INFO, "MESSAGE=%s: %s %s -> %s (%s)", c->device,
				c->knob, c->from, c->to, c->reason, "DEVICE=%s", c->device,
				"KNOB=%s", c->knob, "FROM=%s", c->from, "TO=%s", c->to, "REASON=%s",
				c->reason, NULL);
	else
		fprintf(stderr, "<%d>%s: %s %s -> %s (%s)\n", LOG_INFO, c->device, c->knob, c->from,
			c->to, c->reason);
}

void log_change(const char *device, const char *knob, const char *from, const char *to,
		const char *reason)
{
	Change c = { device, knob };

	if (LOG_INFO > max_level)
		return;
	printable_text(c.from, sizeof(c.from), from);
	printable_text(c.to, sizeof(c.to), to);
	printable_text(c.reason, sizeof(c.reason), reason);
	send_change(&c);
}
