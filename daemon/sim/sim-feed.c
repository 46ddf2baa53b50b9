/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-feed.h"

#include <errno.h>
#include <string.h>

int sim_feed_add(SimDevice *s, SimDevice *disk)
{
	SimDevice **slot;

	if (s->n_disks == SIM_FEEDS_MAX)
		return -E2BIG;
	slot = ARRAY_GROW(s->disks, s->n_disks);
	if (!slot)
		return -ENOMEM;
	*slot = disk;
	return 0;
}

/* The next step of a disk that the cache has not taken in; NULL when there is none. */
static const SimPoint *next_step(const SimHistory *h, SimFeed *f)
{
	/* the history began anew, or has dropped what we had not seen: what it still has must do */
	if (f->seen > h->n)
		f->seen = 0;
	if (h->n - f->seen > SIM_HISTORY_MAX)
		f->seen = h->n - SIM_HISTORY_MAX;
	return f->seen < h->n ? &h->step[f->seen % SIM_HISTORY_MAX] : NULL;
}

static void sum_feeds(SimDevice *s)
{
	SimTruth *t = &s->record->truth;

	for (int d = 0; d < _DIRECTION_MAX; d++) {
		t->fed_mb_s[d] = 0;
		for (size_t i = 0; i < s->n_disks; i++)
			t->fed_mb_s[d] += s->record->feeds[i].mb_s[d];
	}
}

/* When the earliest of the next steps of all disks is due. */
static uint64_t next_us(SimDevice *s)
{
	uint64_t first_us = UINT64_MAX;

	for (size_t i = 0; i < s->n_disks; i++) {
		SimRecord *disk = s->disks[i]->record;
		const SimPoint *step;

		sim_record_lock(disk);
		step = next_step(&disk->history, &s->record->feeds[i]);
		first_us = step ? MIN(first_us, step->t_us) : first_us;
		sim_record_unlock(disk);
	}
	return first_us;
}

static void take_steps(SimDevice *s, uint64_t until_us)
{
	for (size_t i = 0; i < s->n_disks; i++) {
		SimFeed *f = &s->record->feeds[i];
		SimRecord *disk = s->disks[i]->record;
		const SimPoint *step;

		sim_record_lock(disk);
		while ((step = next_step(&disk->history, f)) && step->t_us <= until_us) {
			for (int d = 0; d < _DIRECTION_MAX; d++)
				f->mb_s[d] = (double)step->fed_mb_s[d];
			f->seen++;
		}
		sim_record_unlock(disk);
	}
	sum_feeds(s);
}

void sim_feed_advance(SimDevice *s, uint64_t now_us)
{
	SimTruth *t = &s->record->truth;
	uint64_t step_us;

	for (size_t i = 0; i < s->n_disks; i++) {
		sim_device_advance_locked(s->disks[i]);
		sim_record_unlock(s->disks[i]->record);
	}
	while ((step_us = next_us(s)) <= now_us) {
		sim_truth_advance(t, &s->nature, &s->cache, &s->record->history, step_us);
		take_steps(s, step_us);
	}
	sim_truth_advance(t, &s->nature, &s->cache, &s->record->history, now_us);
}
