/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/meter-bpf.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/text.h"
#include "meter.skel.h"
#include "meter/meter-bpf-internal.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* libbpf reports every failure, and the verifier does so over many lines, of which the last ones
 * name the cause. meter_bpf_refusal() says what it means. */
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

static_assert(sizeof(struct meter_overrun) != sizeof(struct wake_record), "told apart by size");

static int on_record(void *userdata, void *data, size_t size)
{
	MeterBpf *m = userdata;

	if (size == sizeof(struct meter_overrun))
		m->overrun(data, m->userdata);
	else if (size == sizeof(struct wake_record))
		m->woken(data, m->userdata);
	return 0;
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
	m->devices = bpf_map__fd(m->skeleton->maps.devices);
	m->shared = bpf_map__fd(m->skeleton->maps.shared);
	m->cgroups = bpf_map__fd(m->skeleton->maps.cgroups);
	m->records = ring_buffer__new(bpf_map__fd(m->skeleton->maps.records), on_record, m, NULL);
	if (!m->records)
		return -errno;
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
	meter_bpf_open_waits(m);
	*ret = TAKE_PTR(m);
	return 0;
}

MeterBpf *meter_bpf_close(MeterBpf *m)
{
	if (!m)
		return NULL;
	ring_buffer__free(m->records);
	meter_bpf_close_wake(m);
	meter_bpf_close_waits(m);
	meter_bpf__destroy(m->skeleton);
	free(m);
	return NULL;
}

int meter_bpf_fd(const MeterBpf *m)
{
	return ring_buffer__epoll_fd(m->records);
}

int meter_bpf_process(MeterBpf *m, MeterBpfOverrun overrun, MeterBpfWoken woken, void *userdata)
{
	m->overrun = overrun;
	m->woken = woken;
	m->userdata = userdata;
	return ring_buffer__consume(m->records);
}
