/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/diary.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/log.h"

static void decision_done(void *entry)
{
	Decision *d = entry;

	free(d->device);
	free(d->what);
	free(d->why);
}

static void wakeup_done(void *entry)
{
	Wakeup *w = entry;

	free(w->device);
	free(w->cgroup);
}

int diary_init(Diary *d)
{
	int r = ring_init(&d->decisions, DIARY_KEPT, sizeof(Decision), decision_done);

	return r < 0 ? r : ring_init(&d->wakeups, DIARY_KEPT, sizeof(Wakeup), wakeup_done);
}

void diary_done(Diary *d)
{
	ring_done(&d->decisions);
	ring_done(&d->wakeups);
}

void diary_because(Diary *d, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(d->why, sizeof(d->why), format, ap);
	va_end(ap);
}

void diary_decide(Diary *d, const char *device, const char *why, const char *format, ...)
{
	Decision entry = { .realtime_us = realtime_us(), .device = strdup(device) };
	va_list ap;

	entry.why = *device && *d->why ? text_printf("%s; %s", why, d->why) : strdup(why);
	va_start(ap, format);
	if (vasprintf(&entry.what, format, ap) < 0)
		entry.what = NULL;
	va_end(ap);
	if (!entry.device || !entry.why || !entry.what)
		decision_done(&entry);
	else
		ring_add(&d->decisions, &entry);
}

static void describe_waker(Wakeup *w, const MeterWake *by)
{
	snprintf(w->process, sizeof(w->process), "%s", by->process);
	w->pid = by->pid;
	w->passed_through = by->passed_through;
	w->direction = by->direction;
	w->bytes = by->bytes;
}

/* "IO: read of 8 KiB by postgres[812], cgroup system.slice/db.service" */
static char *waker_text(const Wakeup *w)
{
	const char *what = w->passed_through         ? "a command"
			   : w->direction == READ_IO ? "a read"
						     : "a write";

	if (!w->pid && !*w->cgroup)
		return strdup(w->why);
	return text_printf("%s: %s of %llu KiB by %s[%d], cgroup %s", w->why, what,
			   (unsigned long long)(w->bytes >> 10), w->process, w->pid, w->cgroup);
}

void diary_wakeup(Diary *d, const Managed *md, const char *why)
{
	const MeterWake *by = md->waking.has_waker ? &md->waking.waker : NULL;
	Wakeup w = { .realtime_us = realtime_us(), .why = why };
	_cleanup_free_ char *text = NULL;

	w.device = strdup(md->device->name);
	w.cgroup = strdup(by && by->name ? by->name : "");
	if (by)
		describe_waker(&w, by);
	if (!w.device || !w.cgroup) {
		wakeup_done(&w);
		return;
	}
	text = waker_text(&w);
	diary_decide(d, md->device->name, text ?: why, "woken");
	log_notice("%s: woken: %s", md->device->name, text ?: why);
	ring_add(&d->wakeups, &w);
}
