/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Logs one line on stderr with a syslog level prefix, or by the journal's own protocol when stderr
 * is connected to it. Log what and why, once, where it was decided. */

#include <stdint.h>
#include <syslog.h>

#include "base/cleanup.h"
#include "base/message-ids.h"

/* Messages above this level are dropped. Default LOG_INFO. */
void log_set_max_level(int level);
/* For commands: to standard error, without levels. */
void log_set_plain(void);

/* The first complaint of this thread since log_watch(), for whoever asked for what went wrong. */
typedef struct LogWatch {
	char first[1024 + 128]; /* a warning or an error; "": there was none */
} LogWatch;
/* NULL: no longer. */
void log_watch(LogWatch *w);

/* Logs and returns -|error|; error 0 means "no errno" and returns 0. */
int log_full(int level, int error, const char *format, ...) _printf_(3, 4);

/* What a message is about, for the journal; nothing of it is in the text by itself. NULL and 0: it
 * says nothing of that. */
typedef struct LogAbout {
	const char *id;     /* MESSAGE_ID= */
	uint64_t claim;     /* STORPOWER_CLAIM= */
	const char *device; /* STORPOWER_DEVICE= */
	const char *sensor; /* STORPOWER_SENSOR= */
	const char *file;   /* STORPOWER_FILE= */
	const char *policy; /* STORPOWER_POLICY= */
	const char *limit;  /* STORPOWER_LIMIT=, as it was given... */
	double limit_w;     /* ...or in watts */
	double drawn_w;     /* STORPOWER_DRAWN= */
	double missing_w;   /* STORPOWER_MISSING= */
} LogAbout;

/* As log_full(). */
int log_about(int level, int error, const LogAbout *about, const char *format, ...) _printf_(4, 5);

/* Logs a change of a device, with the journal's fields DEVICE=, KNOB=, FROM=, TO= and REASON=. */
void log_change(const char *device, const char *knob, const char *from, const char *to,
		const char *reason);

#define log_debug(...)   log_full(LOG_DEBUG, 0, __VA_ARGS__)
#define log_info(...)    log_full(LOG_INFO, 0, __VA_ARGS__)
#define log_notice(...)  log_full(LOG_NOTICE, 0, __VA_ARGS__)
#define log_warning(...) log_full(LOG_WARNING, 0, __VA_ARGS__)
#define log_error(...)   log_full(LOG_ERR, 0, __VA_ARGS__)
/* The errno's text is appended: "MESSAGE: No such device". */
#define log_warning_errno(r, ...) log_full(LOG_WARNING, r, __VA_ARGS__)
#define log_error_errno(r, ...)   log_full(LOG_ERR, r, __VA_ARGS__)
#define log_oom()                 log_full(LOG_ERR, ENOMEM, "Out of memory")
