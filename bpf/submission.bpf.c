// SPDX-License-Identifier: GPL-2.0-or-later

/* When a sample of the bios is submitted, for kernels that do not note it: before io.cost or the
 * want of a free tag holds them up. */

#include "vmlinux-min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "stamp.h"

/* BPF_PROG makes a parameter of each argument of the tracepoint. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} random SEC(".maps");

/* At random, so that no pattern of IO can beat with it: Knuth's linear congruence, of which the
 * highest bits are good. bpf_get_prandom_u32() takes longer than all the rest. A program that
 * interrupts this one on its CPU may get the same number, which harms nobody. */
static __always_inline bool is_of_sample(void)
{
	__u32 zero = 0;
	__u64 *state = bpf_map_lookup_elem(&random, &zero);

	if (!state)
		return 0;
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state < ~0ULL / METER_STAMP_ONE_IN;
}

/* What an earlier submission of the same bio may have left is taken away: a bio that was merged
 * into another's request completes unseen. raw_tp gives an address as a number, with which one may
 * reckon. */
static __always_inline int stamp(__u64 bio)
{
	__u32 place = place_of_stamp(bio);
	struct meter_stamp *s = bpf_map_lookup_elem(&stamps, &place);

	if (!s)
		return 0;
	if (is_of_sample()) {
		s->submitted_ns = bpf_ktime_get_ns();
		s->bio = bio;
	} else if (s->bio == bio) {
		s->bio = 0;
	}
	return 0;
}

SEC("raw_tp/block_bio_queue")
int BPF_PROG(storpower_begin, __u64 bio)
{
	return stamp(bio);
}

/* The part that is split off is a bio of its own, which is not queued. */
SEC("raw_tp/block_split")
int BPF_PROG(storpower_split, __u64 bio)
{
	return stamp(bio);
}
