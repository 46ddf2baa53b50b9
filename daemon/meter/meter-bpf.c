/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/meter-bpf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/text.h"
#include "meter.skel.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

struct MeterBpf {
	struct meter_bpf *skeleton;
	int counters, next; /* maps */
	int n_cpus;
};

/* libbpf speaks of every failure, the verifier over many lines; the last ones name the cause. What
 * it means is said by meter_bpf_refusal(). */
static int print_debug(enum libbpf_print_level level, const char *format, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *rest, *line;

	if (level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, format, ap) < 0) {
		text = NULL;
		return 0;
	}
	rest = text;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			log_debug("libbpf: %s", line);
	return 0;
}

char *meter_bpf_refusal(int r)
{
	struct utsname kernel;

	if (r == -EPERM)
		return text_printf("the kernel does not permit eBPF: storpowerd needs CAP_BPF and "
				   "CAP_PERFMON, and a kernel not locked down to confidentiality");
	if (r == -ENOSYS)
		return text_printf("this kernel is built without eBPF (CONFIG_BPF_SYSCALL)");
	if (access(BTF_PATH, R_OK) < 0)
		return text_printf("this kernel does not describe itself: " BTF_PATH
				   " is missing (CONFIG_DEBUG_INFO_BTF)");
	if (r == -ESRCH)
		return text_printf("this kernel lets no eBPF program watch block_rq_complete "
				   "(tp_btf, CONFIG_BPF_EVENTS)");
	uname(&kernel);
	return text_printf("kernel %s refused the eBPF program: %s; log level debug shows the "
			   "verifier's words",
			   kernel.release, strerror(-r));
}

static int load_and_attach(MeterBpf *m)
{
	int r;

	m->n_cpus = libbpf_num_possible_cpus();
	if (m->n_cpus < 0)
		return m->n_cpus;
	m->skeleton = meter_bpf__open();
	if (!m->skeleton)
		return -errno;
	r = meter_bpf__load(m->skeleton);
	if (r < 0)
		return r;
	m->counters = bpf_map__fd(m->skeleton->maps.counters);
	m->next = bpf_map__fd(m->skeleton->maps.single_queue_next);
	return meter_bpf__attach(m->skeleton);
}

int meter_bpf_open(MeterBpf **ret, char **ret_why_not)
{
	_cleanup_(meter_bpf_closep) MeterBpf *m = calloc(1, sizeof(*m));
	int r;

	*ret_why_not = NULL;
	if (!m)
		return -ENOMEM;
	libbpf_set_print(print_debug);
	r = load_and_attach(m);
	if (r < 0) {
		*ret_why_not = meter_bpf_refusal(r);
		return r;
	}
	*ret = TAKE_PTR(m);
	return 0;
}

MeterBpf *meter_bpf_close(MeterBpf *m)
{
	if (!m)
		return NULL;
	meter_bpf__destroy(m->skeleton);
	free(m);
	return NULL;
}

static __u32 key_of(dev_t devnum)
{
	return METER_DEV(major(devnum), minor(devnum));
}

/* Only a disk with request queues of its own has this folder (block/blk-mq-sysfs.c). */
static bool has_requests(dev_t devnum)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/mq", major(devnum), minor(devnum));
	return access(path, F_OK) == 0;
}

void meter_bpf_remove(MeterBpf *m, dev_t devnum)
{
	__u32 key = key_of(devnum);

	bpf_map_delete_elem(m->counters, &key);
	bpf_map_delete_elem(m->next, &key);
}

int meter_bpf_add(MeterBpf *m, dev_t devnum)
{
	_cleanup_free_ struct meter_counters *zero = calloc(m->n_cpus, sizeof(*zero));
	struct meter_next start = { 0 };
	__u32 key = key_of(devnum);
	int r;

	if (!zero)
		return -ENOMEM;
	if (!has_requests(devnum))
		return -EOPNOTSUPP;
	r = bpf_map_update_elem(m->next, &key, &start, BPF_ANY);
	if (r == 0)
		r = bpf_map_update_elem(m->counters, &key, zero, BPF_ANY);
	if (r < 0)
		meter_bpf_remove(m, devnum);
	return r;
}

int meter_bpf_read(const MeterBpf *m, dev_t devnum, struct meter_counters *ret)
{
	_cleanup_free_ struct meter_counters *per_cpu = calloc(m->n_cpus, sizeof(*per_cpu));
	struct meter_counters sum = { 0 };
	__u32 key = key_of(devnum);
	int r;

	if (!per_cpu)
		return -ENOMEM;
	r = bpf_map_lookup_elem(m->counters, &key, per_cpu);
	if (r < 0)
		return r;
	for (int cpu = 0; cpu < m->n_cpus; cpu++) {
		for (int i = 0; i < 4; i++) {
			sum.ios[i / 2][i % 2] += per_cpu[cpu].ios[i / 2][i % 2];
			sum.bytes[i / 2][i % 2] += per_cpu[cpu].bytes[i / 2][i % 2];
		}
		sum.timed_ios += per_cpu[cpu].timed_ios;
		sum.latency_ns += per_cpu[cpu].latency_ns;
	}
	*ret = sum;
	return 0;
}
