/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/wake-record.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/records.h"
#include "base/set-aside.h"
#include "base/text.h"

/* What is known of a host adapter. */
typedef struct Adapter {
	char *hba;
	WakeTested tested;
} Adapter;

struct WakeRecord {
	char *path;           /* NULL: in memory alone */
	pthread_mutex_t lock; /* of what follows: workers ask while the daemon's thread records */
	Adapter *adapters;
	size_t n;
};

static Adapter *find_adapter(const WakeRecord *r, const char *hba)
{
	for (size_t i = 0; i < r->n; i++)
		if (streq(r->adapters[i].hba, hba))
			return &r->adapters[i];
	return NULL;
}

static int note(WakeRecord *r, const char *hba, WakeTested tested)
{
	Adapter *known = find_adapter(r, hba);
	char *copy = known ? NULL : strdup(hba);

	if (!known && copy)
		known = ARRAY_GROW(r->adapters, r->n);
	if (!known) {
		free(copy);
		return -ENOMEM;
	}
	*known = (Adapter){ copy ?: known->hba, tested };
	return 0;
}

static void forget(WakeRecord *r, const char *hba)
{
	Adapter *known = find_adapter(r, hba);

	if (!known)
		return;
	free(known->hba);
	r->n--;
	memmove(known, known + 1, (size_t)(r->adapters + r->n - known) * sizeof(*known));
}

static int take_tested(void *adapter, void *record)
{
	return note(record, ((Adapter *)adapter)->hba, WAKE_TESTED);
}

static int take_failed(void *adapter, void *record)
{
	return note(record, ((Adapter *)adapter)->hba, WAKE_FAILED);
}

static const RecordKind tested_kind = {
	.name = "tested",
	.size = sizeof(Adapter),
	.take = take_tested,
	.fields = { FIELD(Adapter, hba, "hba") },
};

static const RecordKind failed_kind = {
	.name = "failed",
	.size = sizeof(Adapter),
	.take = take_failed,
	.fields = { FIELD(Adapter, hba, "hba") },
};

static const RecordsFormat format = {
	.name = "wake-tests",
	.kinds = (const RecordKind *const[]){ &tested_kind, &failed_kind, NULL },
	.loss = "the host adapter that it names counts as untested",
};

/* The old format, which is read once and saved in the new one, has "tested HBA" or "failed HBA" on
 * a line. People wrote such lines by hand, too, so the last line about an HBA counts. No first line
 * says what the file is. */
static const RecordsFormat old_format = {
	.name = "wake-tests",
	.kinds = (const RecordKind *const[]){ &tested_kind, &failed_kind, NULL },
	.loss = "it is neither \"tested HBA\" nor \"failed HBA\"",
	.unsealed = true,
};

/* A new file begins with an 's', which no flipped bit makes one of these. */
static bool is_old(const char *text)
{
	return *text && strchr("tf#\n", *text);
}

static int load(WakeRecord *r)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int q = read_bytes(r->path, &text, &n);

	if (q < 0)
		return q == -ENOENT ? 0 : q;
	q = records_read(is_old(text) ? &old_format : &format, r->path, text, n, r);
	/* a copy that cannot be kept is complained of there; what is known matters more */
	if (q > 0)
		(void)set_aside_copy(r->path, text, n);
	return MIN(q, 0);
}

int wake_record_open(const char *path, WakeRecord **ret)
{
	_cleanup_(wake_record_closep) WakeRecord *r = calloc(1, sizeof(*r));
	int q = 0;

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	if (path) {
		r->path = strdup(path);
		q = r->path ? load(r) : -ENOMEM;
	}
	if (q < 0)
		return q;
	*ret = TAKE_PTR(r);
	return 0;
}

WakeRecord *wake_record_close(WakeRecord *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->n; i++)
		free(r->adapters[i].hba);
	free(r->adapters);
	free(r->path);
	pthread_mutex_destroy(&r->lock);
	free(r);
	return NULL;
}

WakeTested wake_record_get(const WakeRecord *r, const char *hba)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&r->lock; /* asking changes nothing else */
	const Adapter *known;
	WakeTested tested;

	pthread_mutex_lock(lock);
	known = find_adapter(r, hba);
	tested = known ? known->tested : WAKE_UNTESTED;
	pthread_mutex_unlock(lock);
	return tested;
}

static int save(const WakeRecord *r)
{
	_cleanup_free_ char *text = NULL;
	RecordsWriter w;
	size_t n;
	int q = records_begin(&w, format.name);

	if (q < 0)
		return q;
	for (size_t i = 0; i < r->n; i++)
		records_add(&w, r->adapters[i].tested == WAKE_TESTED ? &tested_kind : &failed_kind,
			    &r->adapters[i]);
	q = records_end(&w, &text, &n);
	return q < 0 ? q : write_bytes_atomic(r->path, text, n, 0644);
}

int wake_record_set(WakeRecord *r, const char *hba, WakeTested tested)
{
	int q = 0;

	if (!*hba)
		return -EINVAL;
	pthread_mutex_lock(&r->lock);
	if (tested == WAKE_UNTESTED)
		forget(r, hba);
	else
		q = note(r, hba, tested);
	if (q >= 0 && r->path)
		q = save(r);
	pthread_mutex_unlock(&r->lock);
	return q;
}
