/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What is asked of a disk, by the flags of a request or of a bio (include/linux/blk_types.h). */

#include <bpf/bpf_core_read.h>

#define REQ_OP_MASK 0xff

/* 0 read, 1 write, negative for all else: discards, flushes and zone commands move no data,
 * commands passed through to the device are not the block layer's. An append is a write whose
 * sector the device picked; the kernel's statistics count it so too (op_stat_group()). */
static __always_inline int direction_of(__u32 flags)
{
	__u32 op = flags & REQ_OP_MASK;

	if (op == REQ_OP_READ || op == REQ_OP_WRITE)
		return op;
	if (bpf_core_enum_value_exists(enum req_op, REQ_OP_ZONE_APPEND) &&
	    op == bpf_core_enum_value(enum req_op, REQ_OP_ZONE_APPEND))
		return REQ_OP_WRITE;
	return -1;
}

static __always_inline bool is_passed_through(__u32 flags)
{
	__u32 op = flags & REQ_OP_MASK;

	return op == bpf_core_enum_value(enum req_op, REQ_OP_DRV_IN) ||
	       op == bpf_core_enum_value(enum req_op, REQ_OP_DRV_OUT);
}
