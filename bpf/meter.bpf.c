/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The completion meter: one hook, run once for each finished part of a request. Everything is
 * counted when the request is done and nothing is carried from issue to completion, so that a
 * missed event costs that one event and never leaves a drift. */

#include "vmlinux-min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "meter-counters.h"
#include "operation.h"
#include "stamp.h"

/* BPF_PROG makes a parameter of each argument of the tracepoint. */
#pragma clang diagnostic ignored "-Wunused-parameter"

#define SECTOR_SHIFT    9
#define ISSUE_TIME_MASK ((1ULL << BIO_ISSUE_TIME_BITS) - 1)

char LICENSE[] SEC("license") = "GPL";

/* A device is counted when user space has put it into these two. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, METER_DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct meter_device);
} devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, METER_DEVICES_MAX);
	__type(key, __u32);
	__type(value, struct meter_shared);
} shared SEC(".maps");

/* Filled as cgroups do IO; METER_CGROUP_OTHERS of each device is there from the start. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, METER_CGROUPS_MAX);
	__type(key, struct meter_cgroup_key);
	__type(value, struct meter_counters);
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, METER_RECORDS_BYTES);
} records SEC(".maps");

/* What one completion adds. */
struct completion {
	__u32 direction, sequential;
	__u64 bytes;
	__u64 ios; /* 1: the request is done; 0: a part of it */
	__u64 timed_ios, latency_ns;
	__u64 joules;
	__u64 waits; /* to be added to one of the waits */
	__u32 wait;  /* which of them */
};

/* Where the next IO in this direction would start. One hardware queue completes anywhere, but
 * slowly enough for a value that all CPUs write. Of many queues each completes on its own CPUs,
 * fast. A race can misjudge one IO. */
static __always_inline __u64 *next_sector(const struct request *rq, struct meter_shared *s,
					  struct meter_device *d, __u32 direction)
{
	if (bpf_core_field_exists(rq->q->nr_hw_queues) && rq->q->nr_hw_queues == 1)
		return &s->next[direction];
	return &d->next[direction];
}

static __always_inline __u32 is_sequential(const struct request *rq, __u64 next, __u32 bytes)
{
	__u64 distance = rq->__sector > next ? rq->__sector - next : next - rq->__sector;

	return distance << SECTOR_SHIFT <= (__u64)METER_NEAR_SIZES * bytes;
}

/* The number of bits of the time, in units of METER_WAIT_SHIFT. */
static __always_inline __u32 place_of_wait(__u64 ns)
{
	__u64 units = ns >> METER_WAIT_SHIFT;
	__u32 bits = 0;

	if (units >> (METER_WAITS - 1))
		return METER_WAITS - 1;
	for (__u32 half = METER_WAITS / 2; half; half /= 2) {
		if (units >> half) {
			units >>= half;
			bits += half;
		}
	}
	return bits + (__u32)units;
}

/* 0: it is not of the sample, or another bio has taken its place. One may reckon with the lower
 * half of an address, and compare all of it; to read it as a number with bpf_probe_read_kernel()
 * costs more. */
static __always_inline __u64 take_stamp(const struct request *rq)
{
	const struct bio *bio = rq->bio;
	__u32 place = place_of_stamp((__u32)(__u64)bio);
	struct meter_stamp *s = bpf_map_lookup_elem(&stamps, &place);

	if (!s || !bio || s->bio != (__u64)bio)
		return 0;
	s->bio = 0;
	return s->submitted_ns;
}

/* Up to Linux 6.17 submit_bio_noacct_nocheck() notes the time in each bio before io.cost or the
 * want of a free tag holds it up; the time wraps around. A bio that io.max holds up is stamped
 * behind that. */
static __always_inline __u64 issued_ns(const struct request *rq, __u64 now)
{
	__u64 since = rq->bio ? rq->bio->bi_issue.value & ISSUE_TIME_MASK : 0;

	return since ? now - ((now - since) & ISSUE_TIME_MASK) : rq->start_time_ns;
}

/* From Linux 6.18 on the kernel notes the time for io.latency alone, and submission.bpf.c stamps a
 * sample, of which each counts for as many as it stands for. The request of another one (dm-mpath)
 * has no stamp; of one that was merged the first bio's time is taken. */
static __always_inline void take_wait(const struct request *rq, __u64 now, struct completion *c)
{
	bool all = bpf_core_field_exists(rq->bio->bi_issue);
	__u64 since = all ? issued_ns(rq, now) : take_stamp(rq);

	if (!since)
		return;
	c->waits = all ? 1 : METER_STAMP_ONE_IN;
	c->wait = place_of_wait(now > since ? now - since : 0);
}

/* Since the driver got it; io_start_time_ns is set only where something asked the queue for
 * statistics (QUEUE_FLAG_STATS: writeback throttling, BFQ, Kyber, io.cost). Else since it was made
 * a request, which includes the wait in a scheduler, as /sys/block/X/stat does. With queue/iostats
 * 0 there is neither. Both may lie a little in the future: another CPU's clock. */
static __always_inline void take_latency(const struct request *rq, __u64 now, struct completion *c)
{
	__u64 start = rq->io_start_time_ns;

	if (!start)
		start = rq->start_time_ns;
	if (!start)
		return;
	c->timed_ios = 1;
	if (now > start)
		c->latency_ns = now - start;
	take_wait(rq, now, c);
}

/* A request's bios are of one cgroup (block/blk-merge.c: blk_cgroup_mergeable()), and the first is
 * still there: the tracepoint comes before it is advanced. A read through a pointer that has become
 * invalid gives 0, which is METER_CGROUP_OTHERS. */
static __always_inline __u64 cgroup_of(const struct request *rq)
{
	const struct bio *bio = rq->bio;

	if (!bpf_core_field_exists(bio->bi_blkg) || !bio || !bio->bi_blkg)
		return METER_CGROUP_ROOT;
	return bio->bi_blkg->blkcg->css.cgroup->kn->id;
}

/* Where the map is full, or memory is short for the moment, it is the others' IO: the sum over the
 * cgroups of a device stays the device's. */
static __always_inline struct meter_counters *counters_of_cgroup(__u32 dev, __u64 cgroup)
{
	struct meter_cgroup_key key = { .dev = dev, .cgroup = cgroup };
	struct meter_counters *c = bpf_map_lookup_elem(&cgroups, &key), zero = {};

	if (c)
		return c;
	bpf_map_update_elem(&cgroups, &key, &zero, BPF_NOEXIST);
	c = bpf_map_lookup_elem(&cgroups, &key);
	if (c)
		return c;
	key.cgroup = METER_CGROUP_OTHERS;
	return bpf_map_lookup_elem(&cgroups, &key);
}

/* The kernel does not run a program again on a CPU that it has interrupted in it, and does not move
 * it: plain additions to per-CPU values lose nothing. */
static __always_inline void add(struct meter_counters *to, const struct completion *c)
{
	to->ios[c->direction][c->sequential] += c->ios;
	to->bytes[c->direction][c->sequential] += c->bytes;
	to->timed_ios += c->timed_ios;
	to->latency_ns += c->latency_ns;
	to->joules += c->joules;
	if (c->waits)
		to->waits[c->wait & (METER_WAITS - 1)] += c->waits;
}

/* Windows begin with the first IO after the end of the one before. All CPUs add to one sum, and the
 * one whose addition crosses the limit tells. What others add just while a window is begun may
 * count to neither. */
static __always_inline void watch_window(struct meter_shared *s, __u32 dev, __u64 now, __u64 joules)
{
	__u64 limit = s->terms.window_joules, start, spent;
	struct meter_overrun overrun = { .dev = dev };

	if (limit == METER_NO_LIMIT)
		return;
	start = s->window_start_ns;
	if ((__s64)(now - start) >= (__s64)s->terms.window_ns &&
	    __sync_val_compare_and_swap(&s->window_start_ns, start, now) == start)
		s->window_spent = 0;
	spent = __sync_fetch_and_add(&s->window_spent, joules);
	if (spent > limit || spent + joules <= limit)
		return;
	overrun.joules = spent + joules;
	overrun.window_ns = s->terms.window_ns;
	bpf_ringbuf_output(&records, &overrun, sizeof(overrun), 0);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(storpower_meter, struct request *rq, int error, unsigned int nr_bytes)
{
	struct completion c = { .bytes = nr_bytes };
	int direction = direction_of(rq->cmd_flags);
	struct meter_counters *of_cgroup;
	struct meter_device *d;
	struct meter_shared *s;
	__u64 *next, now;
	__u32 dev;

	/* no data: an empty flush, or the end of one that carried data and was counted with it
	 * (block/blk-flush.c) */
	if (direction < 0 || !nr_bytes)
		return 0;
	dev = METER_DEV(rq->q->disk->major, rq->q->disk->first_minor);
	s = bpf_map_lookup_elem(&shared, &dev);
	if (!s)
		return 0;
	d = bpf_map_lookup_elem(&devices, &dev);
	if (!d)
		return 0;

	c.direction = direction & 1;
	next = next_sector(rq, s, d, c.direction);
	c.sequential = is_sequential(rq, *next, nr_bytes);
	c.joules = c.bytes * s->terms.page[c.direction][c.sequential] >> METER_PAGE_SHIFT;
	now = bpf_ktime_get_ns();
	/* else the driver finished a part only: the rest comes as a completion of its own */
	if (nr_bytes >= rq->__data_len) {
		c.ios = 1;
		c.joules += s->terms.io[c.direction][c.sequential];
		*next = rq->__sector + (nr_bytes >> SECTOR_SHIFT);
		take_latency(rq, now, &c);
	}
	add(&d->counters, &c);
	of_cgroup = counters_of_cgroup(dev, cgroup_of(rq));
	if (of_cgroup)
		add(of_cgroup, &c);
	watch_window(s, dev, now, c.joules);
	return 0;
}
