/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
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

/* The fields of a message, each malloc'd. */
typedef struct Fields {
	struct iovec list[16];
	int n;
} Fields;

static void add_field(Fields *f, const char *format, ...) _printf_(2, 3);
static void add_field(Fields *f, const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n >= 0 && f->n < (int)ELEMENTSOF(f->list))
		f->list[f->n++] = (struct iovec){ text, (size_t)n };
}

static void add_text(Fields *f, const char *name, const char *value)
{
	char shown[512];

	if (value)
		add_field(f, "%s=%s", name, printable_text(shown, sizeof(shown), value));
}

static void add_watts(Fields *f, const char *name, double watts)
{
	if (watts > 0 && !isinf(watts))
		add_field(f, "%s=%.1f", name, watts);
}

static void add_about(Fields *f, const LogAbout *a)
{
	add_text(f, "MESSAGE_ID", a->id);
	if (a->claim)
		add_field(f, "STORPOWER_CLAIM=%llu", (unsigned long long)a->claim);
	add_text(f, "STORPOWER_DEVICE", a->device);
	add_text(f, "STORPOWER_SENSOR", a->sensor);
	add_text(f, "STORPOWER_FILE", a->file);
	add_text(f, "STORPOWER_POLICY", a->policy);
	add_text(f, "STORPOWER_LIMIT", a->limit);
	add_watts(f, "STORPOWER_LIMIT", a->limit_w);
	add_watts(f, "STORPOWER_DRAWN", a->drawn_w);
	add_watts(f, "STORPOWER_MISSING", a->missing_w);
}

static void send_message(int level, int error, const LogAbout *about, const char *text,
			 const char *detail)
{
	Fields f = {};

	add_field(&f, "PRIORITY=%i", level);
	add_field(&f, "MESSAGE=%s%s", text, detail);
	if (error)
		add_field(&f, "ERRNO=%i", error);
	if (about)
		add_about(&f, about);
	sd_journal_sendv(f.list, f.n);
	for (int i = 0; i < f.n; i++)
		free(f.list[i].iov_base);
}

static void print_message(int level, const char *text, const char *detail)
{
	if (plain)
		fprintf(stderr, "%s%s\n", text, detail);
	else
		fprintf(stderr, "<%d>%s%s\n", level, text, detail);
}

static int log_va(int level, int error, const LogAbout *about, const char *format, va_list ap)
{
	char text[1024], detail[128] = "";

	error = abs(error);
	if (level > max_level && level > LOG_WARNING)
		return -error;
	vsnprintf(text, sizeof(text), format, ap);
	make_printable(text);
	if (error)
		snprintf(detail, sizeof(detail), ": %s", strerror(error));
	note(level, text, detail);
	if (level > max_level)
		return -error;
	if (to_journal())
		send_message(level, error, about, text, detail);
	else
		print_message(level, text, detail);
	return -error;
}

int log_full(int level, int error, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = log_va(level, error, NULL, format, ap);
	va_end(ap);
	return r;
}

int log_about(int level, int error, const LogAbout *about, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = log_va(level, error, about, format, ap);
	va_end(ap);
	return r;
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
