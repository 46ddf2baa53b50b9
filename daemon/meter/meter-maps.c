/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The maps of bpf/meter.bpf.c. */

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "meter/meter-bpf-internal.h"

#define INSERT_ATTEMPTS 50

__u32 meter_bpf_dev(dev_t devnum)
{
	return METER_DEV(major(devnum), minor(devnum));
}

dev_t meter_bpf_devnum(__u32 dev)
{
	return makedev(dev >> 20, dev & 0xfffff);
}

struct meter_cgroup_key meter_bpf_cgroup_key(dev_t devnum, uint64_t cgroup)
{
	return (struct meter_cgroup_key){ .dev = meter_bpf_dev(devnum), .cgroup = cgroup };
}

/* Only a disk with request queues of its own has this folder (block/blk-mq-sysfs.c). */
static bool has_requests(dev_t devnum)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/mq", major(devnum), minor(devnum));
	return access(path, F_OK) == 0;
}

int meter_bpf_list_cgroups(const MeterBpf *m, struct meter_cgroup_key **ret, size_t *ret_n)
{
	_cleanup_free_ struct meter_cgroup_key *keys = NULL;
	struct meter_cgroup_key key, *previous = NULL;
	size_t n = 0;

	/* where a key is removed meanwhile the kernel starts anew, so the number is bounded */
	while (n < METER_CGROUPS_MAX && bpf_map_get_next_key(m->cgroups, previous, &key) == 0) {
		previous = ARRAY_GROW(keys, n);
		if (!previous)
			return -ENOMEM;
		*previous = key;
	}
	*ret = TAKE_PTR(keys);
	*ret_n = n;
	return 0;
}

void meter_bpf_remove(MeterBpf *m, dev_t devnum)
{
	_cleanup_free_ struct meter_cgroup_key *keys = NULL;
	__u32 key = meter_bpf_dev(devnum);
	size_t n = 0;

	bpf_map_delete_elem(m->shared, &key); /* this comes first, because it ends the counting */
	bpf_map_delete_elem(m->devices, &key);
	meter_bpf_list_cgroups(m, &keys, &n);
	for (size_t i = 0; i < n; i++)
		if (keys[i].dev == key)
			bpf_map_delete_elem(m->cgroups, &keys[i]);
}

/* One zeroed element on each CPU. The kernel takes them from a small store that is refilled in the
 * background (kernel/bpf/memalloc.c): when many are added in a row, it is empty for a moment. */
static int insert_zero(const MeterBpf *m, int map, const void *key, size_t size)
{
	_cleanup_free_ void *zero = calloc(m->n_cpus, size);
	int r = -ENOMEM;

	for (int i = 0; zero && r == -ENOMEM && i < INSERT_ATTEMPTS; i++) {
		if (i)
			usleep(USEC_PER_MSEC);
		r = bpf_map_update_elem(map, key, zero, BPF_ANY);
	}
	return r;
}

int meter_bpf_add(MeterBpf *m, dev_t devnum, const struct meter_terms *terms)
{
	struct meter_cgroup_key others = meter_bpf_cgroup_key(devnum, METER_CGROUP_OTHERS);
	struct meter_shared shared = { .terms = *terms };
	__u32 key = meter_bpf_dev(devnum);
	int r;

	if (!has_requests(devnum))
		return -EOPNOTSUPP;
	meter_bpf_remove(m, devnum);
	r = insert_zero(m, m->cgroups, &others, sizeof(struct meter_counters));
	if (r == 0)
		r = insert_zero(m, m->devices, &key, sizeof(struct meter_device));
	if (r == 0)
		r = bpf_map_update_elem(m->shared, &key, &shared, BPF_ANY);
	if (r < 0)
		meter_bpf_remove(m, devnum);
	return r;
}

/* An update replaces the whole element: an IO that completes between the two calls may be taken for
 * random. */
int meter_bpf_set_terms(MeterBpf *m, dev_t devnum, const struct meter_terms *terms)
{
	struct meter_shared shared;
	__u32 key = meter_bpf_dev(devnum);
	int r = bpf_map_lookup_elem(m->shared, &key, &shared);

	if (r < 0)
		return r;
	shared.terms = *terms;
	shared.window_start_ns = shared.window_spent = 0;
	return bpf_map_update_elem(m->shared, &key, &shared, BPF_EXIST);
}

/* All that is counted are numbers of 64 bits, which add up alike. */
static void sum_up(const __u64 *per_cpu, int n_cpus, size_t n, __u64 *ret)
{
	memset(ret, 0, n * sizeof(*ret));
	for (int cpu = 0; cpu < n_cpus; cpu++)
		for (size_t i = 0; i < n; i++)
			ret[i] += per_cpu[(size_t)cpu * n + i];
}

int meter_bpf_read(const MeterBpf *m, dev_t devnum, struct meter_device *ret)
{
	_cleanup_free_ struct meter_device *per_cpu = calloc(m->n_cpus, sizeof(*per_cpu));
	__u32 key = meter_bpf_dev(devnum);
	int r;

	if (!per_cpu)
		return -ENOMEM;
	r = bpf_map_lookup_elem(m->devices, &key, per_cpu);
	if (r == 0)
		sum_up((__u64 *)per_cpu, m->n_cpus, sizeof(*ret) / sizeof(__u64), (__u64 *)ret);
	return r;
}

static int sum_of_cgroup(const MeterBpf *m, int (*get)(int fd, const void *key, void *value),
			 const struct meter_cgroup_key *key, struct meter_counters *ret)
{
	_cleanup_free_ struct meter_counters *per_cpu = calloc(m->n_cpus, sizeof(*per_cpu));
	int r = per_cpu ? get(m->cgroups, key, per_cpu) : -ENOMEM;

	if (r == 0)
		sum_up((__u64 *)per_cpu, m->n_cpus, sizeof(*ret) / sizeof(__u64), (__u64 *)ret);
	return r;
}

int meter_bpf_read_cgroup(const MeterBpf *m, const struct meter_cgroup_key *key,
			  struct meter_counters *ret)
{
	return sum_of_cgroup(m, bpf_map_lookup_elem, key, ret);
}

int meter_bpf_take_cgroup(MeterBpf *m, const struct meter_cgroup_key *key,
			  struct meter_counters *ret)
{
	return sum_of_cgroup(m, bpf_map_lookup_and_delete_elem, key, ret);
}
