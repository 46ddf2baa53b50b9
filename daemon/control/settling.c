/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/settling.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

/* Of one change: what comes and ends faster than a limit can settle does not pile up. */
#define COOKIES_MOST 8192

static void unsettled_clear(Unsettled *u)
{
	free(u->target);
	free(u->cookies);
}

static Unsettled *find(Settling *s, const Claim *claim)
{
	for (size_t i = 0; i < s->n; i++) {
		Unsettled *u = &s->changes[i];

		if (u->scope == claim->scope && streq(u->target ?: "", claim->target ?: ""))
			return u;
	}
	return NULL;
}

static Unsettled *begin(Settling *s, const Claim *claim)
{
	char *target = claim->target ? strdup(claim->target) : NULL;
	Unsettled *u = target || !claim->target ? ARRAY_GROW(s->changes, s->n) : NULL;

	if (u)
		*u = (Unsettled){ .scope = claim->scope, .target = target };
	else
		free(target);
	return u;
}

static bool names(const Unsettled *u, uint64_t cookie)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->cookies[i] == cookie)
			return true;
	return false;
}

void settling_note(Settling *s, const Claim *claim)
{
	Unsettled *u = find(s, claim) ?: begin(s, claim);
	uint64_t *cookie;

	if (u && (names(u, claim->cookie) || u->n >= COOKIES_MOST))
		return;
	cookie = u ? ARRAY_GROW(u->cookies, u->n) : NULL;
	if (cookie)
		*cookie = claim->cookie;
	else
		log_oom();
}

void settling_remove(Settling *s, size_t index)
{
	unsettled_clear(&s->changes[index]);
	memmove(&s->changes[index], &s->changes[index + 1],
		(s->n - index - 1) * sizeof(*s->changes));
	s->n--;
}

void settling_done(Settling *s)
{
	for (size_t i = 0; i < s->n; i++)
		unsettled_clear(&s->changes[i]);
	free(s->changes);
	*s = (Settling){};
}
