/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter: the eBPF completion meter, all of libbpf behind four files:
 * meter-bpf.c loads and listens, meter-maps.c counts, meter-bpf-wake.c watches for wake-ups and
 * meter-bpf-waits.c for what holds IO up before it becomes a request. */

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "meter-counters.h"
#include "wake.h"

typedef struct MeterBpf MeterBpf;

/* Loads and attaches. On failure *ret_why_not says why in words for an operator (malloc'd; NULL
 * when out of memory). */
int meter_bpf_open(MeterBpf **ret, char **ret_why_not);
MeterBpf *meter_bpf_close(MeterBpf *m); /* returns NULL */
DEFINE_CLEANUP(MeterBpf *, meter_bpf_close);

/* Are the waits of struct meter_counters from submission on? Else what held an IO up before it
 * became a request is missing. */
bool meter_bpf_sees_waits(const MeterBpf *m);

/* What the kernel's refusal to load or attach means; r is a negative errno. */
char *meter_bpf_refusal(int r);

typedef void (*MeterBpfOverrun)(const struct meter_overrun *o, void *userdata);
typedef void (*MeterBpfWoken)(const struct wake_record *r, void *userdata);
int meter_bpf_fd(const MeterBpf *m);
/* Calls the handlers for each record that waits. Returns how many there were, or -errno. */
int meter_bpf_process(MeterBpf *m, MeterBpfOverrun overrun, MeterBpfWoken woken, void *userdata);

/* Has the next IO and the next passed-through command to the device reported. -EOPNOTSUPP: this
 * kernel cannot (logged once). */
int meter_bpf_arm(MeterBpf *m, dev_t devnum);
void meter_bpf_disarm(MeterBpf *m, dev_t devnum);

/* Counts a whole disk from zero. -EOPNOTSUPP: its IO does not pass as requests of its own (dm, md,
 * the head of an NVMe multipath device, a partition). */
int meter_bpf_add(MeterBpf *m, dev_t devnum, const struct meter_terms *terms);
void meter_bpf_remove(MeterBpf *m, dev_t devnum);
/* New terms; the present window is forgotten. */
int meter_bpf_set_terms(MeterBpf *m, dev_t devnum, const struct meter_terms *terms);
/* The sum over all CPUs; `next` has no meaning in it. */
int meter_bpf_read(const MeterBpf *m, dev_t devnum, struct meter_device *ret);
dev_t meter_bpf_devnum(__u32 dev);
__u32 meter_bpf_dev(dev_t devnum);

/* Every pair of a device and a cgroup that has done IO on it, METER_CGROUP_OTHERS among them: ret
 * is malloc'd. */
int meter_bpf_list_cgroups(const MeterBpf *m, struct meter_cgroup_key **ret, size_t *ret_n);
struct meter_cgroup_key meter_bpf_cgroup_key(dev_t devnum, uint64_t cgroup);
/* -ENOENT: it has done no IO. */
int meter_bpf_read_cgroup(const MeterBpf *m, const struct meter_cgroup_key *key,
			  struct meter_counters *ret);
/* Reads and forgets the cgroup: the caller has to remember what it did. */
int meter_bpf_take_cgroup(MeterBpf *m, const struct meter_cgroup_key *key,
			  struct meter_counters *ret);
