/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter: the eBPF completion meter, all of libbpf behind one file. */

#include <linux/types.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "meter-counters.h"

typedef struct MeterBpf MeterBpf;

/* Loads and attaches. On failure *ret_why_not says why in words for an operator (malloc'd; NULL
 * when out of memory). */
int meter_bpf_open(MeterBpf **ret, char **ret_why_not);
MeterBpf *meter_bpf_close(MeterBpf *m); /* returns NULL */
DEFINE_CLEANUP(MeterBpf *, meter_bpf_close);

/* What the kernel's refusal to load or attach means; r is a negative errno. */
char *meter_bpf_refusal(int r);

/* Counts a whole disk from zero. -EOPNOTSUPP: its IO does not pass as requests of its own (dm, md,
 * the head of an NVMe multipath device, a partition). */
int meter_bpf_add(MeterBpf *m, dev_t devnum);
void meter_bpf_remove(MeterBpf *m, dev_t devnum);
/* The sum over all CPUs; `next` has no meaning in it. */
int meter_bpf_read(const MeterBpf *m, dev_t devnum, struct meter_counters *ret);
