/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/tally-cgroups.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* What of a device's span is its cgroups': they share its joules above idle, and all that follows
 * from these, as eBPF's joules are shared. */
static const Amount shared[] = { AMOUNT_ENERGY_UJ,   AMOUNT_MEASURED_UJ, AMOUNT_ERROR_UJ,
				 AMOUNT_PRICED_UJ,   AMOUNT_COST_NANO,   AMOUNT_WEIGHED_UJ,
				 AMOUNT_MARGINAL_UJ, AMOUNT_CO2_UG };

/* One look at them. */
typedef struct CgroupLook {
	const TallyDevices *devices;
	int64_t time_s;
	LedgerEntries *to;
	Amounts all; /* the sum of the entries */
} CgroupLook;

static int compare(const void *a, const void *b)
{
	const CgroupSeen *x = a, *y = b;

	if (x->devnum != y->devnum)
		return x->devnum < y->devnum ? -1 : 1;
	return x->id == y->id ? 0 : x->id < y->id ? -1 : 1;
}

static int compare_names(const void *a, const void *b)
{
	const CgroupSeen *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static void forget(CgroupSeen *seen, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ledger_thing_unref(seen[i].thing);
	free(seen);
}

static int new_thing(const char *name, LedgerThing **ret)
{
	const LedgerThing like = { .kind = THING_CGROUP, .id = (char *)name, .name = (char *)name };

	return ledger_thing_new(&like, ret);
}

int tally_cgroups_init(TallyCgroups *t)
{
	int r = new_thing("(idle)", &t->idle);

	return r < 0 ? r : new_thing("(not attributed)", &t->nobody);
}

void tally_cgroups_done(TallyCgroups *t)
{
	forget(t->seen, t->n);
	ledger_thing_unref(t->idle);
	ledger_thing_unref(t->nobody);
	*t = (TallyCgroups){};
}

static CgroupSeen *find_in(CgroupSeen *seen, size_t n, const CgroupSeen *like)
{
	return n ? bsearch(like, seen, n, sizeof(*seen), compare) : NULL;
}

/* A cgroup that is gone is counted under the name that it had. */
static void take_over_names(const TallyCgroups *t, CgroupSeen *now, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const CgroupSeen *before = find_in(t->seen, t->n, &now[i]);

		if (!before)
			continue;
		now[i].name = before->name;
		now[i].thing = before->thing ? ledger_thing_ref(before->thing) : NULL;
	}
}

/* All that eBPF tells of them now, in order. */
static int read_all(const TallyCgroups *t, Meter *m, CgroupSeen **ret, size_t *ret_n)
{
	_cleanup_free_ MeterCgroup *rows = NULL;
	size_t n;
	int r = meter_cgroups(m, &rows, &n);
	CgroupSeen *seen;

	if (r < 0)
		return r;
	seen = calloc(n + 1, sizeof(*seen));
	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		seen[i] = (CgroupSeen){ .devnum = rows[i].devnum,
					.id = rows[i].id,
					.name = rows[i].name,
					.counters = rows[i].counters };
	qsort(seen, n, sizeof(*seen), compare);
	take_over_names(t, seen, n);
	*ret = seen;
	*ret_n = n;
	return 0;
}

static void add_counters(DeviceCounters *to, const DeviceCounters *c)
{
	for (Direction d = 0; d < _DIRECTION_MAX; d++) {
		to->ios[d] += c->ios[d];
		to->bytes[d] += c->bytes[d];
	}
	to->joules += c->joules;
}

/* Cgroups that went are folded into "(others)" when there are too many: what they had done before
 * is nothing new of the others. */
static void fold_gone(TallyCgroups *t, CgroupSeen *now, size_t n)
{
	for (size_t i = 0; i < t->n; i++) {
		const CgroupSeen others = { .devnum = t->seen[i].devnum, .id = METER_OTHERS };
		CgroupSeen *before;

		if (find_in(now, n, &t->seen[i]))
			continue;
		before = find_in(t->seen, t->n, &others);
		if (before && before != &t->seen[i])
			add_counters(&before->counters, &t->seen[i].counters);
	}
}

/* The cgroup's part of what the device has drawn above idle, by the joules of both. */
static double part_of(const Tallied *device, double joules)
{
	return device->dynamic_j > 0 ? MIN(joules / device->dynamic_j, 1.0) : 0;
}

static void share_out(const Tallied *device, double part, Amounts *to)
{
	const int64_t *of = device->span.of;
	double energy = (double)of[AMOUNT_ENERGY_UJ];
	double above = energy > 0 ? 1 - (double)of[AMOUNT_IDLE_UJ] / energy : 0;

	for (size_t i = 0; i < ELEMENTSOF(shared); i++)
		to->of[shared[i]] = (int64_t)floor((double)of[shared[i]] * above * part);
}

static const Tallied *device_of(const TallyDevices *d, dev_t devnum)
{
	for_each_tallied(const Tallied, t, d) if (devnum && t->device->devnum == devnum) return t;
	return NULL;
}

static void take_row(const TallyCgroups *t, const CgroupLook *look, const CgroupSeen *now,
		     Amounts *ret)
{
	static const DeviceCounters zero;
	const Tallied *device = device_of(look->devices, now->devnum);
	const CgroupSeen *seen = find_in(t->seen, t->n, now);
	const DeviceCounters *then = seen ? &seen->counters : &zero, *c = &now->counters;

	*ret = (Amounts){};
	if (!device)
		return;
	share_out(device, part_of(device, MAX(c->joules - then->joules, 0.0)), ret);
	tally_count_io(then, c, ret);
}

static bool is_nothing(const Amounts *a)
{
	for (Amount i = 0; i < _AMOUNT_MAX; i++)
		if (a->of[i])
			return false;
	return true;
}

static int64_t span_us(const TallyDevices *d)
{
	return d->n ? d->all[0].span.of[AMOUNT_SPAN_US] : 0;
}

/* One cgroup on all of its devices: rows of one name. */
static int take_name(CgroupSeen *const *rows, size_t n, const Amounts *sum, CgroupLook *look)
{
	LedgerThing *thing = NULL;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		thing = thing ?: rows[i]->thing;
	if (!thing) {
		r = new_thing(rows[0]->name, &rows[0]->thing);
		thing = rows[0]->thing;
	}
	return r < 0 ? r : ledger_entries_add(look->to, look->time_s, thing, sum);
}

static int take_rows(const TallyCgroups *t, CgroupSeen **rows, size_t n, CgroupLook *look)
{
	int r = 0;

	for (size_t first = 0, i = 0; i < n && r >= 0; first = i) {
		Amounts sum = {}, row;

		for (; i < n && streq(rows[i]->name, rows[first]->name); i++) {
			take_row(t, look, rows[i], &row);
			amounts_add(&sum, &row);
		}
		if (is_nothing(&sum))
			continue;
		amounts_add(&look->all, &sum);
		sum.of[AMOUNT_SPAN_US] = span_us(look->devices);
		r = take_name(rows + first, i - first, &sum, look);
	}
	return r;
}

static int take_by_name(const TallyCgroups *t, CgroupSeen *now, size_t n, CgroupLook *look)
{
	_cleanup_free_ CgroupSeen **rows = calloc(n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i] = &now[i];
	qsort(rows, n, sizeof(*rows), compare_names);
	return take_rows(t, rows, n, look);
}

/* What the devices have drawn without IO. */
static Amounts idle_of(const TallyDevices *d)
{
	Amounts idle = {};

	for_each_tallied(const Tallied, t, d)
	{
		const int64_t *of = t->span.of;
		double part = of[AMOUNT_ENERGY_UJ] > 0
				      ? (double)of[AMOUNT_IDLE_UJ] / (double)of[AMOUNT_ENERGY_UJ]
				      : 0;

		for (size_t i = 0; i < ELEMENTSOF(shared); i++)
			idle.of[shared[i]] += (int64_t)floor((double)of[shared[i]] * part);
		idle.of[AMOUNT_IDLE_UJ] += of[AMOUNT_IDLE_UJ];
	}
	return idle;
}

/* What is left of the devices' sums. */
static Amounts left_of(const TallyDevices *d, const Amounts *told)
{
	static const Amount moved[] = { AMOUNT_READS, AMOUNT_WRITES, AMOUNT_READ_BYTES,
					AMOUNT_WRITTEN_BYTES };
	Amounts left = {}, all = {};

	for_each_tallied(const Tallied, t, d) amounts_add(&all, &t->span);
	for (size_t i = 0; i < ELEMENTSOF(shared); i++)
		left.of[shared[i]] = MAX(all.of[shared[i]] - told->of[shared[i]], 0);
	for (size_t i = 0; i < ELEMENTSOF(moved); i++)
		left.of[moved[i]] = MAX(all.of[moved[i]] - told->of[moved[i]], 0);
	return left;
}

static int add_rest(const TallyCgroups *t, CgroupLook *look)
{
	Amounts idle = idle_of(look->devices), left;
	int r;

	amounts_add(&look->all, &idle);
	left = left_of(look->devices, &look->all);
	idle.of[AMOUNT_SPAN_US] = left.of[AMOUNT_SPAN_US] = span_us(look->devices);
	r = ledger_entries_add(look->to, look->time_s, t->idle, &idle);
	return r < 0 ? r : ledger_entries_add(look->to, look->time_s, t->nobody, &left);
}

static void adopt(TallyCgroups *t, CgroupSeen *now, size_t n, bool known)
{
	forget(t->seen, t->n);
	t->seen = now;
	t->n = n;
	t->known = known;
}

int tally_cgroups_take(TallyCgroups *t, Meter *m, const TallyDevices *devices, int64_t time_s,
		       LedgerEntries *to)
{
	CgroupLook look = { .devices = devices, .time_s = time_s, .to = to };
	CgroupSeen *now = NULL;
	size_t n = 0;
	int r = read_all(t, m, &now, &n);
	bool told = r >= 0;

	if (r == -ENOMEM)
		return r;
	fold_gone(t, now, n);
	r = t->known ? take_by_name(t, now, n, &look) : 0;
	if (r >= 0)
		r = add_rest(t, &look);
	adopt(t, now, n, told);
	return r;
}

int tally_cgroups_skip(TallyCgroups *t, Meter *m)
{
	CgroupSeen *now = NULL;
	size_t n = 0;
	int r = read_all(t, m, &now, &n);

	if (r == -ENOMEM)
		return r;
	adopt(t, now, n, r >= 0);
	return 0;
}
