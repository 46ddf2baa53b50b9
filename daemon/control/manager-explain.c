/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <string.h>

#include "control/manager-internal.h"

static void decision_done(Decision *d)
{
	free(d->device);
	free(d->what);
	free(d->why);
	*d = (Decision){};
}

void manager_decide(Manager *m, const char *device, const char *why, const char *format, ...)
{
	Decision d = { .realtime_us = realtime_us(), .device = strdup(device) };
	Decision *slot = &m->decisions[m->n_decisions % DECISIONS_KEPT];
	va_list ap;

	d.why = *device && *m->why ? text_printf("%s; %s", why, m->why) : strdup(why);
	va_start(ap, format);
	if (vasprintf(&d.what, format, ap) < 0)
		d.what = NULL;
	va_end(ap);
	if (!d.device || !d.why || !d.what) {
		decision_done(&d);
		return;
	}
	decision_done(slot);
	*slot = d;
	m->n_decisions++;
}

void manager_forget_decisions(Manager *m)
{
	for (size_t i = 0; i < DECISIONS_KEPT; i++)
		decision_done(&m->decisions[i]);
}

size_t manager_decision_count(const Manager *m)
{
	return MIN(m->n_decisions, (size_t)DECISIONS_KEPT);
}

const Decision *manager_decision(const Manager *m, size_t index)
{
	size_t n = manager_decision_count(m);

	return index < n ? &m->decisions[(m->n_decisions - n + index) % DECISIONS_KEPT] : NULL;
}
