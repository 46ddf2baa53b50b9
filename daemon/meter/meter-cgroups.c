/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells which cgroups spend a device's joules. */

#include <errno.h>
#include <string.h>

#include "meter/meter-figures.h"
#include "meter/meter-internal.h"

/* The kernel's map fills with cgroups that come and go. Above this number those that went are
 * forgotten. */
#define CROWDED (METER_CGROUPS_MAX / 2)

static void add_up(struct meter_counters *to, const struct meter_counters *c)
{
	for (int i = 0; i < 4; i++) {
		to->ios[i / 2][i % 2] += c->ios[i / 2][i % 2];
		to->bytes[i / 2][i % 2] += c->bytes[i / 2][i % 2];
	}
	to->timed_ios += c->timed_ios;
	to->latency_ns += c->latency_ns;
	to->joules += c->joules;
	for (int i = 0; i < METER_WAITS; i++)
		to->waits[i] += c->waits[i];
}

const char *meter_cgroup_name(Meter *m, uint64_t id, bool *ret_gone)
{
	static const char unknown[] = "(unknown)";

	*ret_gone = false;
	if (id == METER_CGROUP_ROOT)
		return "/";
	if (id == METER_CGROUP_OTHERS)
		return "(others)";
	if (!m->names)
		return unknown;
	return cgroup_name(m->names, id, ret_gone) ?: unknown;
}

static void forget_gone(Meter *m, const struct meter_cgroup_key *keys, size_t n)
{
	struct meter_counters c;
	bool gone;

	for (size_t i = 0; i < n; i++) {
		Watched *w = meter_find(m, meter_bpf_devnum(keys[i].dev));

		meter_cgroup_name(m, keys[i].cgroup, &gone);
		if (w && gone && meter_bpf_take_cgroup(m->bpf, &keys[i], &c) == 0)
			add_up(&w->retired, &c);
	}
}

/* False: the cgroup has done no IO on a device that is counted. */
static bool read_cgroup_row(Meter *m, const struct meter_cgroup_key *key, MeterCgroup *ret)
{
	const Watched *w = meter_find(m, meter_bpf_devnum(key->dev));
	struct meter_counters c;

	if (!w || meter_bpf_read_cgroup(m->bpf, key, &c) < 0)
		return false;
	if (key->cgroup == METER_CGROUP_OTHERS)
		add_up(&c, &w->retired);
	*ret = (MeterCgroup){ .devnum = w->devnum, .id = key->cgroup };
	ret->counters.time_us = clock_now_us(&clock_boottime);
	meter_figures(&c, w->has_energy, &ret->counters);
	ret->counters.has_waits = meter_bpf_sees_waits(m->bpf);
	ret->name = meter_cgroup_name(m, key->cgroup, &ret->gone);
	return ret->counters.bytes[READ_IO] + ret->counters.bytes[WRITE_IO] > 0;
}

/* Where no hierarchy is mounted, or memory is short, cgroups have numbers alone. */
void meter_begin_names(Meter *m)
{
	if (!m->names)
		cgroup_names_new(NULL, &m->names);
	if (m->names)
		cgroup_names_begin(m->names);
}

int meter_cgroups(Meter *m, MeterCgroup **ret, size_t *ret_n)
{
	_cleanup_free_ struct meter_cgroup_key *keys = NULL;
	_cleanup_free_ MeterCgroup *rows = NULL;
	size_t n, n_rows = 0;
	int r;

	if (!m->bpf)
		return -EOPNOTSUPP;
	r = meter_bpf_list_cgroups(m->bpf, &keys, &n);
	if (r < 0)
		return r;
	meter_begin_names(m);
	if (n > CROWDED)
		forget_gone(m, keys, n);
	rows = calloc(n ?: 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		n_rows += read_cgroup_row(m, &keys[i], &rows[n_rows]);
	*ret = TAKE_PTR(rows);
	*ret_n = n_rows;
	return 0;
}
