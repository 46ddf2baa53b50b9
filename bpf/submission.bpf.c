// SPDX-License-Identifier: GPL-2.0-or-later

/* When bios are submitted, for kernels that do not note it: before io.cost or the want of a free
 * tag holds them up. */

#include "vmlinux-min.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "stamp.h"

/* BPF_PROG makes a parameter of each argument of the tracepoint. */
#pragma clang diagnostic ignored "-Wunused-parameter"

char LICENSE[] SEC("license") = "GPL";

/* raw_tp gives an address as a number, with which one may reckon. */
static __always_inline int stamp(__u64 bio)
{
	__u32 place = place_of_stamp(bio);
	struct meter_stamp *s = bpf_map_lookup_elem(&stamps, &place);

	if (s) {
		s->submitted_ns = bpf_ktime_get_ns();
		s->bio = bio;
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
