/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The standing claims and their file. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/set-aside.h"
#include "control/limits.h"

/* What cannot be saved is tried again: at first soon, then after as long as it has failed for. */
#define SAVE_RETRY_FIRST_US   USEC_PER_SEC
#define SAVE_RETRY_LONGEST_US (60 * USEC_PER_SEC)

static int claims_clock(const Tools *t, char boot_id[37], ClaimsClock *ret)
{
	int r = read_boot_id(boot_id);

	if (r < 0)
		return r;
	*ret = (ClaimsClock){ .boot_id = boot_id,
			      .boottime_us = t->now_us,
			      .realtime_us = realtime_us() };
	return 0;
}

int limits_load(Limits *l, const Tools *t)
{
	const char *path = t->config->claims_path;
	_cleanup_free_ char *text = NULL;
	char boot_id[37];
	ClaimsClock clock;
	size_t n = 0;
	int r = path ? read_bytes(path, &text, &n) : -ENOENT;

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = claims_clock(t, boot_id, &clock);
	if (r >= 0)
		r = claims_load(l->claims, path, text, n, &clock);
	if (r == -EPROTONOSUPPORT)
		return set_aside(path, "going on without its claims; set them anew");
	if (r < 0)
		return log_error_errno(r, "Standing claims in %s cannot be read", path);
	l->started_us = t->now_us;
	claims_orphan(l->claims, t->now_us + CLAIM_GRACE_US);
	l->lowest_is_old = true;
	l->damaged = r > 0;
	/* in terms of this boot: a second start must not take what is left from the wall clock */
	l->save_due_us = t->now_us;
	return 0;
}

/* Before the first save: what was found may be the only copy of a claim. */
static int keep_damaged(Limits *l, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = l->damaged ? read_bytes(path, &text, &n) : -ENOENT;

	if (r >= 0)
		r = set_aside_copy(path, text, n);
	if (r < 0 && r != -ENOENT)
		return r;
	l->damaged = false;
	return 0;
}

static int save(Limits *l, const Tools *t)
{
	const char *path = t->config->claims_path;
	char boot_id[37];
	ClaimsClock clock;
	int r = path ? keep_damaged(l, path) : 0;

	if (r < 0 || !path)
		return r;
	r = claims_clock(t, boot_id, &clock);
	if (r >= 0)
		r = claims_store_save(&l->store, l->claims, path, &clock);
	return r;
}

/* The first try may be long over: the next one waits as long again as it has failed for. */
static uint64_t next_try_us(const Limits *l, uint64_t now_us)
{
	uint64_t failing_us = now_us - l->unsaved.since_us;

	return now_us + MIN(MAX(failing_us, SAVE_RETRY_FIRST_US), SAVE_RETRY_LONGEST_US);
}

static void note_unsaved(Limits *l, int r, const Tools *t)
{
	if (!l->unsaved.error) {
		l->unsaved.since_us = t->now_us;
		log_about(
			LOG_ERR, r,
			&(LogAbout){ .id = MESSAGE_CLAIMS_UNSAVED, .file = t->config->claims_path },
			"Standing claims cannot be saved in %s: they hold now, but not "
			"over a restart; saving is tried again until it succeeds",
			t->config->claims_path);
	}
	l->unsaved.error = -r;
	l->save_due_us = next_try_us(l, t->now_us);
}

bool limits_save(Limits *l, const Tools *t)
{
	int before = l->unsaved.error, r;

	if (t->now_us < l->save_due_us)
		return false;
	r = save(l, t);
	l->save_due_us = USEC_NEVER;
	l->unsaved.error = r < 0 ? l->unsaved.error : 0;
	if (r < 0)
		note_unsaved(l, r, t);
	else if (before)
		log_about(LOG_NOTICE, 0,
			  &(LogAbout){ .id = MESSAGE_CLAIMS_SAVED, .file = t->config->claims_path },
			  "Standing claims are saved in %s again", t->config->claims_path);
	return l->unsaved.error != before;
}

const char *limits_why_unsaved(const Limits *l)
{
	return l->unsaved.error ? strerrordesc_np(l->unsaved.error) ?: "unknown error" : "";
}
