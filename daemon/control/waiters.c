/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/waiters.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

int waiters_add(Waiters *w, const Waiter *waiter)
{
	Waiter *slot = ARRAY_GROW(w->list, w->n);

	if (!slot)
		return -ENOMEM;
	*slot = *waiter;
	return 0;
}

void waiters_begin(Waiters *w)
{
	for (size_t i = 0; i < w->n; i++)
		w->list[i].begun = true;
}

static bool is_over(const Waiter *x, uint64_t now_us, bool enforced, uint64_t fresh_us)
{
	if (now_us >= x->until_us)
		return true;
	return x->kind == WAITS_ENFORCED ? enforced : fresh_us >= x->since_us;
}

void waiters_tell(Waiters *w, uint64_t now_us, bool enforced, uint64_t fresh_us)
{
	for (size_t i = 0; i < w->n;) {
		Waiter x = w->list[i];

		if (now_us < USEC_NEVER && (!x.begun || !is_over(&x, now_us, enforced, fresh_us))) {
			i++;
			continue;
		}
		memmove(&w->list[i], &w->list[i + 1], (--w->n - i) * sizeof(*w->list));
		if (x.warns && !enforced)
			log_warning("The emergency is not enforced in full after 1 s: some devices "
				    "do not answer, the others make room");
		x.wait.done(x.wait.userdata);
	}
}

void waiters_done(Waiters *w)
{
	waiters_tell(w, USEC_NEVER, true, USEC_NEVER);
	free(w->list);
	*w = (Waiters){};
}

uint64_t waiters_due_us(const Waiters *w)
{
	uint64_t due_us = USEC_NEVER;

	for (size_t i = 0; i < w->n; i++)
		due_us = MIN(due_us, w->list[i].until_us);
	return due_us;
}
