// SPDX-License-Identifier: GPL-2.0-or-later

/* Who wakes a disk: the first IO and the first passed-through command to each device that user
 * space has armed. Attached only while there is such a device. */

#include "vmlinux-min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "meter-counters.h"
#include "operation.h"
#include "wake.h"

/* BPF_PROG makes a parameter of each argument of the tracepoint. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

/* The watching process: what it does itself is not told. */
const volatile __u32 own_pid;

/* WAKE_ bits of each watched device */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, METER_DEVICES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} armed SEC(".maps");

/* The meter's own: user space puts it in the place of this. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, METER_RECORDS_BYTES);
} records SEC(".maps");

static __always_inline __u32 dev_of(const struct gendisk *disk)
{
	return METER_DEV(disk->major, disk->first_minor);
}

static __always_inline __u32 current_pid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* In the hierarchy that has the IO controller; NULL: there is none. */
static __always_inline struct cgroup *cgroup_of_current(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct cgroup_subsys_state *css = NULL;
	void *at;

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, io_cgrp_id))
		return NULL;
	at = (void *)BPF_CORE_READ(task, cgroups) + bpf_core_field_offset(struct css_set, subsys) +
	     sizeof(css) * bpf_core_enum_value(enum cgroup_subsys_id, io_cgrp_id);
	bpf_probe_read_kernel(&css, sizeof(css), at);
	return BPF_CORE_READ(css, cgroup);
}

static __always_inline struct cgroup *cgroup_of_bio(const struct bio *bio)
{
	if (!bpf_core_field_exists(bio->bi_blkg))
		return NULL;
	return BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
}

/* IO belongs to the nearest cgroup above the process that has the IO controller, by default on a
 * systemd machine the root. In version 2 one hierarchy has all controllers: when the process is
 * below that cgroup, its own says more. */
static __always_inline __u64 cgroup_id(struct cgroup *c)
{
	__u64 id = BPF_CORE_READ(c, kn, id);

	if (!id)
		return METER_CGROUP_ROOT;
	if (BPF_CORE_READ(c, root, hierarchy_id) == 0 &&
	    bpf_get_current_ancestor_cgroup_id(BPF_CORE_READ(c, level)) == id)
		return bpf_get_current_cgroup_id();
	return id;
}

/* Of all CPUs one takes the bit. */
static __always_inline bool take(__u32 *bits, __u32 bit)
{
	return *bits & bit && __sync_fetch_and_and(bits, ~bit) & bit;
}

/* Where there is no room for the record, the next one is told. */
static __always_inline void tell(__u32 *bits, __u32 bit, struct wake_record *r)
{
	r->pid = current_pid();
	r->time_ns = bpf_ktime_get_boot_ns();
	bpf_get_current_comm(r->process, sizeof(r->process));
	if (bpf_ringbuf_output(&records, r, sizeof(*r), 0) < 0)
		__sync_fetch_and_or(bits, bit);
}

static __always_inline void tell_io(__u32 dev, __u32 *bits, __u32 flags, __u32 bytes,
				    const struct bio *bio)
{
	struct wake_record r = { .dev = dev, .is_write = flags & 1 /* op_is_write() */ };

	if (!take(bits, WAKE_IO))
		return;
	if (direction_of(flags) >= 0)
		r.bytes = bytes;
	r.cgroup = cgroup_id(cgroup_of_bio(bio));
	tell(bits, WAKE_IO, &r);
}

/* A bio becomes a request. Whoever submits it is still running, but for what the kernel held back
 * (io.max, a zone's writes), and the disk is that of the request: bios that a stacked driver
 * redirects without a copy pass block_bio_queue only once, above. */
SEC("tp_btf/block_getrq")
int BPF_PROG(storpower_wake, struct bio *bio)
{
	__u32 dev = dev_of(bio->bi_bdev->bd_disk);
	__u32 *bits = bpf_map_lookup_elem(&armed, &dev);

	if (!bits || !(*bits & WAKE_IO))
		return 0;
	if (current_pid() == own_pid)
		__sync_fetch_and_or(bits, WAKE_OWN);
	else
		tell_io(dev, bits, bio->bi_opf, bio->bi_iter.bi_size, bio);
	return 0;
}

/* A request goes to the driver. Passed-through commands are seen here alone, and requests that a
 * request-based device mapper hands down. All else was told above, but IO of our own: that may be
 * issued by a kernel thread, and is not to be taken for another's. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(storpower_issue, struct request *rq)
{
	__u32 dev = dev_of(rq->q->disk);
	__u32 *bits = bpf_map_lookup_elem(&armed, &dev);
	struct wake_record r = { .dev = dev, .passed_through = 1 };

	if (!bits || current_pid() == own_pid)
		return 0;
	if (!is_passed_through(rq->cmd_flags)) {
		if (!(*bits & WAKE_OWN))
			tell_io(dev, bits, rq->cmd_flags, rq->__data_len, rq->bio);
		return 0;
	}
	if (!take(bits, WAKE_PASSED_THROUGH))
		return 0;
	r.bytes = rq->__data_len;
	r.cgroup = cgroup_id(cgroup_of_current());
	tell(bits, WAKE_PASSED_THROUGH, &r);
	return 0;
}
