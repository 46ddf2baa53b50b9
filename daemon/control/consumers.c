/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/consumers.h"

#include <errno.h>
#include <math.h>

#include "control/control-state.h"

/* eBPF's counters are of now, and reading them does not wait; the device's own are of the last
 * look.
 */
static int counters_of(const Control *c, const Managed *md, DeviceCounters *ret)
{
	if (meter_counts(c->tools.meter, md->device))
		return meter_read(c->tools.meter, md->device, ret);
	*ret = md->workload.counters;
	return md->workload.has_counters ? 0 : -ENODATA;
}

static void add_device(const Control *c, const Managed *md, Consumer *rows, size_t *n)
{
	Consumer *row = &rows[*n];

	*row = (Consumer){ .device = md->device->name, .cgroup = "" };
	if (counters_of(c, md, &row->counters) < 0)
		return;
	row->idle_w = md->device->profile->idle_w;
	(*n)++;
}

static void add_cgroup(const Managed *md, const MeterCgroup *g, Consumer *rows, size_t *n)
{
	rows[(*n)++] = (Consumer){
		.device = md->device->name,
		.cgroup = g->name,
		.cgroup_id = g->id,
		.gone = g->gone,
		.uncontrolled = streq(g->name, "/"),
		.idle_w = NAN,
		.counters = g->counters,
	};
}

int control_consumers(const Control *c, Consumer **ret, size_t *ret_n)
{
	_cleanup_free_ MeterCgroup *cgroups = NULL;
	size_t n_cgroups = 0, n = 0;
	Consumer *rows;
	int r = meter_cgroups(c->tools.meter, &cgroups, &n_cgroups);

	if (r < 0 && r != -EOPNOTSUPP)
		return r;
	rows = calloc(c->fleet.n + n_cgroups + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for_each_device(const Managed, md, &c->fleet)
	{
		add_device(c, md, rows, &n);
		for (size_t k = 0; k < n_cgroups; k++)
			if (md->device->devnum && cgroups[k].devnum == md->device->devnum)
				add_cgroup(md, &cgroups[k], rows, &n);
	}
	*ret = rows;
	*ret_n = n;
	return 0;
}
