/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel tells of loaded eBPF programs, by name (it keeps the first 15 characters). */

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

typedef struct BpfFigures {
	uint64_t runs, run_ns; /* only while kernel.bpf_stats_enabled is 1 */
	uint64_t misses; /* runs skipped because they would have interrupted one on the same CPU */
} BpfFigures;

/* The sum over all programs of that name: another daemon may be running. -ENOENT when there is
 * none. */
static inline int bpf_figures(const char *name, BpfFigures *ret)
{
	int r = -ENOENT;
	__u32 id = 0;

	*ret = (BpfFigures){ 0 };
	while (bpf_prog_get_next_id(id, &id) == 0) {
		_cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ||
		    strncmp(info.name, name, BPF_OBJ_NAME_LEN - 1) != 0)
			continue;
		ret->runs += info.run_cnt;
		ret->run_ns += info.run_time_ns;
		ret->misses += info.recursion_misses;
		r = 0;
	}
	return r;
}
