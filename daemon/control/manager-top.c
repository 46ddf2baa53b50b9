/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/manager-top.h"

#include <errno.h>
#include <math.h>

#include "control/manager-internal.h"

static void add_device(Manager *m, const ManagedDevice *md, Consumer *rows, size_t *n)
{
	Consumer *c = &rows[*n];

	*c = (Consumer){ .device = md->device->name, .cgroup = "" };
	if (meter_read(m->meter, md->device, &c->counters) < 0)
		return;
	c->idle_w = md->device->profile->idle_w;
	(*n)++;
}

static void add_cgroup(const ManagedDevice *md, const MeterCgroup *g, Consumer *rows, size_t *n)
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

int manager_consumers(Manager *m, Consumer **ret, size_t *ret_n)
{
	_cleanup_free_ MeterCgroup *cgroups = NULL;
	size_t n_cgroups = 0, n = 0;
	Consumer *rows;
	int r = meter_cgroups(m->meter, &cgroups, &n_cgroups);

	if (r < 0 && r != -EOPNOTSUPP)
		return r;
	rows = calloc(m->n_devices + n_cgroups + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedDevice *md = m->devices[i];

		add_device(m, md, rows, &n);
		for (size_t k = 0; k < n_cgroups; k++)
			if (md->device->devnum && cgroups[k].devnum == md->device->devnum)
				add_cgroup(md, &cgroups[k], rows, &n);
	}
	*ret = rows;
	*ret_n = n;
	return 0;
}
