/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The completion meter: one hook, run once for each finished part of a request. Everything is
 * counted when the request is done and nothing is carried from issue to completion, so that a
 * missed event costs that one event and never leaves a drift. */

#include "vmlinux-min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "meter-counters.h"

/* BPF_PROG makes a parameter of each argument of the tracepoint. */
#pragma clang diagnostic ignored "-Wunused-parameter"

#define REQ_OP_MASK  0xff /* include/linux/blk_types.h */
#define SECTOR_SHIFT 9

char LICENSE[] SEC("license") = "GPL";

/* A device is counted when user space has put it here. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, METER_DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct meter_counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, METER_DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct meter_next);
} single_queue_next SEC(".maps");

/* 0 read, 1 write, negative for all else: discards, flushes and zone commands move no data,
 * commands passed through to the device are not the block layer's. An append is a write whose
 * sector the device picked; the kernel's statistics count it so too (op_stat_group()). */
static __always_inline int direction_of(const struct request *rq)
{
	__u32 op = rq->cmd_flags & REQ_OP_MASK;

	if (op == REQ_OP_READ || op == REQ_OP_WRITE)
		return op;
	if (bpf_core_enum_value_exists(enum req_op, REQ_OP_ZONE_APPEND) &&
	    op == bpf_core_enum_value(enum req_op, REQ_OP_ZONE_APPEND))
		return REQ_OP_WRITE;
	return -1;
}

/* Where the next IO in this direction would start. One hardware queue completes anywhere, but
 * slowly enough for a value that all CPUs write. Of many queues each completes on its own CPUs,
 * fast. A race can misjudge one IO. */
static __always_inline __u64 *next_sector(const struct request *rq, __u32 dev,
					  struct meter_counters *c, int direction)
{
	struct meter_next *shared;

	if (bpf_core_field_exists(rq->q->nr_hw_queues) && rq->q->nr_hw_queues == 1) {
		shared = bpf_map_lookup_elem(&single_queue_next, &dev);
		if (shared)
			return &shared->sector[direction];
	}
	return &c->next[direction];
}

/* Since the driver got it; io_start_time_ns is set only where something asked the queue for
 * statistics (QUEUE_FLAG_STATS: writeback throttling, BFQ, Kyber, io.cost). Else since it was made
 * a request, which includes the wait in a scheduler, as /sys/block/X/stat does. With queue/iostats
 * 0 there is neither. Both may lie a little in the future: another CPU's clock. */
static __always_inline void add_latency(const struct request *rq, struct meter_counters *c)
{
	__u64 start = rq->io_start_time_ns, now = bpf_ktime_get_ns();

	if (!start)
		start = rq->start_time_ns;
	if (!start)
		return;
	c->timed_ios++;
	if (now > start)
		c->latency_ns += now - start;
}

/* The kernel does not run a program again on a CPU that it has interrupted in it, and does not move
 * it: plain additions to per-CPU values lose nothing. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(storpower_meter, struct request *rq, int error, unsigned int nr_bytes)
{
	int direction = direction_of(rq), sequential;
	struct meter_counters *c;
	__u64 *next, distance;
	__u32 dev;

	/* no data: an empty flush, or the end of one that carried data and was counted with it
	 * (block/blk-flush.c) */
	if (direction < 0 || !nr_bytes)
		return 0;
	dev = METER_DEV(rq->q->disk->major, rq->q->disk->first_minor);
	c = bpf_map_lookup_elem(&counters, &dev);
	if (!c)
		return 0;

	next = next_sector(rq, dev, c, direction);
	distance = rq->__sector > *next ? rq->__sector - *next : *next - rq->__sector;
	sequential = distance << SECTOR_SHIFT <= (__u64)METER_NEAR_SIZES * nr_bytes;
	c->bytes[direction][sequential] += nr_bytes;
	/* the driver finished a part only: the rest comes as a completion of its own */
	if (nr_bytes < rq->__data_len)
		return 0;
	c->ios[direction][sequential]++;
	*next = rq->__sector + (nr_bytes >> SECTOR_SHIFT);
	add_latency(rq, c);
	return 0;
}
