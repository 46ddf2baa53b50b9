/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "journal/journal-private.h"

#include <errno.h>
#include <string.h>

static JournalRecord *record_free(JournalRecord *r)
{
	if (!r)
		return NULL;
	free(r->device);
	free(r->knob);
	free(r->boot);
	free(r);
	return NULL;
}
DEFINE_CLEANUP(JournalRecord *, record_free);

static JournalRecord *record_new(const char *device, const char *knob, const char *boot,
				 const KnobValue *original)
{
	_cleanup_(record_freep) JournalRecord *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->device = strdup(device);
	r->knob = strdup(knob);
	r->boot = strdup(boot);
	r->original = *original;
	return r->device && r->knob && r->boot ? TAKE_PTR(r) : NULL;
}

static int compare(const JournalRecord *r, const char *device, const char *knob)
{
	int order = strcmp(r->device, device);

	return order ? order : strcmp(r->knob, knob);
}

/* The place of the first record that is not before (device, knob). The knob "" is before all knobs
 * of the device. */
static size_t place_of(const Journal *j, const char *device, const char *knob)
{
	size_t low = 0, high = j->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare(j->records[middle], device, knob) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

JournalRecord *journal_find(const Journal *j, const char *device, const char *knob)
{
	size_t i = place_of(j, device, knob);

	return i < j->n && compare(j->records[i], device, knob) == 0 ? j->records[i] : NULL;
}

int journal_insert(Journal *j, const char *device, const char *knob, const char *boot,
		   const KnobValue *original)
{
	_cleanup_(record_freep) JournalRecord *r = NULL;
	size_t place = place_of(j, device, knob);

	if (journal_find(j, device, knob))
		return -EEXIST;
	r = record_new(device, knob, boot, original);
	if (!r || !ARRAY_GROW(j->records, j->n))
		return -ENOMEM;
	memmove(&j->records[place + 1], &j->records[place],
		(j->n - 1 - place) * sizeof(*j->records));
	j->records[place] = TAKE_PTR(r);
	return 0;
}

int journal_remove(Journal *j, const char *device, const char *knob)
{
	size_t i = place_of(j, device, knob);

	if (!journal_find(j, device, knob))
		return -ENOENT;
	record_free(j->records[i]);
	j->n--;
	memmove(&j->records[i], &j->records[i + 1], (j->n - i) * sizeof(*j->records));
	return 0;
}

const KnobValue *journal_original(const Journal *j, const char *device_id, const char *knob)
{
	const JournalRecord *r = journal_find(j, device_id, knob);

	return r ? &r->original : NULL;
}

size_t journal_size(const Journal *j)
{
	return j->n;
}

const char *journal_device_at(const Journal *j, size_t index)
{
	return index < j->n ? j->records[index]->device : NULL;
}

size_t journal_lost(const Journal *j)
{
	return j->n_lost;
}

size_t journal_size_of(const Journal *j, const char *device_id)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += strcmp(j->records[i]->device, device_id) == 0;
	return n;
}
