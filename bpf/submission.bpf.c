// SPDX-License-Identifier: GPL-2.0-or-later

/* Which bios wait before they become requests, and since when: io.cost and the want of a free tag
 * hold up the task that submits. For kernels that do not note the time in the bio. A task's latest
 * submission is remembered, and only a bio that was held up is remembered until it is done. */

#include "vmlinux-min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "meter-counters.h"
#include "operation.h"

/* Less than a drive takes for any IO. */
#define LEAST_DELAY_NS 8192

/* BPF_PROG makes a parameter of each argument of the tracepoint. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} submitted SEC(".maps");

/* The meter's own: user space puts it in the place of this. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, METER_DELAYS_MAX);
	__type(key, __u64);
	__type(value, struct meter_delay);
} delays SEC(".maps");

/* The parts of a bio that is split are not told again: each counts from here. */
SEC("tp_btf/block_bio_queue")
int BPF_PROG(storpower_begin, struct bio *bio)
{
	__u64 *since;

	if (direction_of(bio->bi_opf) < 0)
		return 0;
	since = bpf_task_storage_get(&submitted, bpf_get_current_task_btf(), NULL,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (since)
		*since = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_getrq")
int BPF_PROG(storpower_admit, struct bio *bio)
{
	__u64 key = (__u64)bio, *since;
	struct meter_delay delay;

	if (direction_of(bio->bi_opf) < 0)
		return 0;
	since = bpf_task_storage_get(&submitted, bpf_get_current_task_btf(), NULL, 0);
	if (!since)
		return 0;
	delay.submitted_ns = *since;
	delay.admitted_ns = bpf_ktime_get_ns();
	if (delay.admitted_ns - delay.submitted_ns >= LEAST_DELAY_NS)
		bpf_map_update_elem(&delays, &key, &delay, 0);
	return 0;
}
