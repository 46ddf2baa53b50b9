/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/claims-store.h"

#include <string.h>

#include "base/file.h"

#define APPENDED_LEAST 256 /* before a file of few claims is written anew */

void claims_store_done(ClaimsStore *s)
{
	free(s->changed);
	*s = (ClaimsStore){};
}

void claims_store_note(ClaimsStore *s, uint64_t cookie)
{
	uint64_t *changed = s->current ? ARRAY_GROW(s->changed, s->n_changed) : NULL;

	if (changed)
		*changed = cookie;
	else
		s->current = false;
}

/* A file of twice as many lines as claims is written anew, which a claim pays for once in as many
 * changes. */
static bool may_append(const ClaimsStore *s, const Claims *c)
{
	size_t n = s->n_appended + s->n_changed;

	return s->current && (n <= APPENDED_LEAST || claims_get(c, n));
}

static int append(const ClaimsStore *s, const Claims *c, const char *path, const ClaimsClock *clock)
{
	_cleanup_free_ char *text = NULL;
	int r = claims_save_changes(c, s->changed, s->n_changed, clock, &text);

	return r < 0 ? r : append_file_synced(path, text);
}

static int write_anew(const Claims *c, const char *path, const ClaimsClock *clock)
{
	_cleanup_free_ char *text = NULL;
	int r = claims_save(c, clock, &text);

	return r < 0 ? r : write_file_atomic(path, text, 0644);
}

int claims_store_save(ClaimsStore *s, const Claims *c, const char *path, const ClaimsClock *clock)
{
	int r = 0;

	s->current = may_append(s, c) && append(s, c, path, clock) >= 0;
	s->n_appended = s->current ? s->n_appended + s->n_changed : 0;
	s->n_changed = 0;
	if (s->current)
		return 0;
	r = write_anew(c, path, clock);
	s->current = r >= 0;
	return r;
}
