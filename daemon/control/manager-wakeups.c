/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which disks woke, why, and by whom. */

#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

static void wakeup_done(Wakeup *w)
{
	free(w->device);
	free(w->cgroup);
	*w = (Wakeup){};
}

static void describe_waker(Wakeup *w, const MeterWake *by)
{
	snprintf(w->process, sizeof(w->process), "%s", by->process);
	w->pid = by->pid;
	w->passed_through = by->passed_through;
	w->direction = by->direction;
	w->bytes = by->bytes;
}

/* "IO of system.slice/db.service (postgres[812], read of 8 KiB)" */
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

void manager_note_wakeup(Manager *m, const ManagedDevice *md, const char *why)
{
	Wakeup w = { .realtime_us = realtime_us(), .why = why }, *slot;
	_cleanup_free_ char *text = NULL;

	w.device = strdup(md->device->name);
	w.cgroup = strdup(md->has_waker && md->waker.name ? md->waker.name : "");
	if (md->has_waker)
		describe_waker(&w, &md->waker);
	if (!w.device || !w.cgroup) {
		wakeup_done(&w);
		return;
	}
	text = waker_text(&w);
	manager_decide(m, md->device->name, text ?: why, "woken");
	log_notice("%s: woken: %s", md->device->name, text ?: why);
	slot = &m->wakeups[m->n_wakeups++ % DECISIONS_KEPT];
	wakeup_done(slot);
	*slot = w;
}

void manager_forget_wakeups(Manager *m)
{
	for (size_t i = 0; i < DECISIONS_KEPT; i++)
		wakeup_done(&m->wakeups[i]);
}

size_t manager_wakeup_count(const Manager *m)
{
	return MIN(m->n_wakeups, (size_t)DECISIONS_KEPT);
}

const Wakeup *manager_wakeup(const Manager *m, size_t index)
{
	size_t n = manager_wakeup_count(m);

	return index < n ? &m->wakeups[(m->n_wakeups - n + index) % DECISIONS_KEPT] : NULL;
}
