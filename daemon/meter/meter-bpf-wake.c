/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The programs of bpf/wake.bpf.c: attached while a device is armed. */

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "meter.skel.h"
#include "meter/meter-bpf-internal.h"
#include "wake.skel.h"

void meter_bpf_close_wake(MeterBpf *m)
{
	wake_bpf__destroy(m->wake);
	m->wake = NULL;
	m->n_armed = 0;
}

static int load_programs(MeterBpf *m)
{
	int r;

	m->wake = wake_bpf__open();
	if (!m->wake)
		return -errno;
	m->wake->rodata->own_pid = (__u32)getpid();
	r = bpf_map__reuse_fd(m->wake->maps.records, bpf_map__fd(m->skeleton->maps.records));
	return r < 0 ? r : wake_bpf__load(m->wake);
}

static int attach_programs(MeterBpf *m)
{
	int r = m->wake ? 0 : load_programs(m);

	return r < 0 ? r : wake_bpf__attach(m->wake);
}

static int give_up_watching(MeterBpf *m, int r)
{
	log_warning_errno(r, "This kernel does not let eBPF watch block_getrq and block_rq_issue: "
			     "who wakes a disk is not known (log level debug shows more)");
	meter_bpf_close_wake(m);
	m->wake_refused = true;
	return -EOPNOTSUPP;
}

int meter_bpf_arm(MeterBpf *m, dev_t devnum)
{
	__u32 dev = meter_bpf_dev(devnum), bits = WAKE_IO | WAKE_PASSED_THROUGH;
	int map, r;

	if (m->wake_refused)
		return -EOPNOTSUPP;
	r = m->n_armed ? 0 : attach_programs(m);
	if (r < 0)
		return give_up_watching(m, r);
	map = bpf_map__fd(m->wake->maps.armed);
	r = bpf_map_update_elem(map, &dev, &bits, BPF_NOEXIST);
	if (r == 0)
		m->n_armed++;
	else if (r == -EEXIST)
		r = bpf_map_update_elem(map, &dev, &bits, BPF_EXIST);
	if (!m->n_armed)
		wake_bpf__detach(m->wake);
	return r;
}

void meter_bpf_disarm(MeterBpf *m, dev_t devnum)
{
	__u32 dev = meter_bpf_dev(devnum);

	if (!m->n_armed || bpf_map_delete_elem(bpf_map__fd(m->wake->maps.armed), &dev) < 0)
		return;
	if (--m->n_armed == 0)
		wake_bpf__detach(m->wake);
}
