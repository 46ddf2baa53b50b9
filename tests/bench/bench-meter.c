/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the eBPF meter costs: nanoseconds per IO by the kernel's own count, and fio's IOPS on a loop
 * device with the meter beside those without: bench-meter [--json=FILE]. Exit status 77 where that
 * cannot be measured. */

#include <errno.h>
#include <string.h>

#include "../unit/bpf-info.h"
#include "../unit/loopdev.h"
#include "base/log.h"
#include "base/text.h"
#include "bench.h"
#include "meter/meter.h"

#define SIZE   (256ULL << 20)
#define CANNOT 77
#define ROUNDS 5 /* each once without and once with, so that a drift of the machine meets both */

typedef struct Cost {
	double off_iops, on_iops; /* means */
	double ns_per_io;         /* while the kernel takes the time of each run, which slows it */
	uint64_t runs, misses;
} Cost;

/* fio's terse format 3: field 8 is the read IOPS. */
static int fio_iops(const LoopDev *l, double *ret)
{
	_cleanup_free_ char *command = text_printf(
		"fio --name=bench --filename=%s --ioengine=libaio --direct=1 --iodepth=16 "
		"--rw=randread --bs=4k --size=%llu --time_based --runtime=2 --minimal "
		"--allow_file_create=0 | cut -d';' -f8",
		l->path, SIZE);
	FILE *p = command ? popen(command, "re") : NULL;
	int n;

	if (!p)
		return -ENOMEM;
	n = fscanf(p, "%lf", ret);
	return pclose(p) == 0 && n == 1 && *ret > 0 ? 0 : -EIO;
}

static int metered_iops(const LoopDev *l, double *ret_iops, BpfFigures *ret_figures)
{
	Device d = { .name = (char *)l->name, .devnum = l->devnum, .ops = &(DeviceOps){ 0 } };
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;
	int r = meter_open(true, &m, &why_not);

	if (r < 0)
		return r;
	if (why_not) {
		log_error("bench-meter: %s", why_not);
		return -EOPNOTSUPP;
	}
	r = meter_add(m, &d);
	if (r == 0)
		r = fio_iops(l, ret_iops);
	return r < 0 ? r : bpf_figures("storpower_meter", ret_figures);
}

/* The kernel times the runs for as long as the descriptor is open. */
static int time_each_run(const LoopDev *l, Cost *c)
{
	_cleanup_close_ int timing = bpf_enable_stats(BPF_STATS_RUN_TIME);
	BpfFigures figures = { 0 };
	double iops;
	int r;

	if (timing < 0)
		return -errno;
	r = metered_iops(l, &iops, &figures);
	if (r < 0 || !figures.runs)
		return r < 0 ? r : -ENODATA;
	c->ns_per_io = (double)figures.run_ns / (double)figures.runs;
	c->runs = figures.runs;
	c->misses = figures.misses;
	return 0;
}

static int bench(const LoopDev *l, Cost *c)
{
	BpfFigures figures;
	double iops;
	int r;

	for (int i = 0; i < ROUNDS; i++) {
		r = fio_iops(l, &iops);
		if (r < 0)
			return r;
		c->off_iops += iops / ROUNDS;
		r = metered_iops(l, &iops, &figures);
		if (r < 0)
			return r;
		c->on_iops += iops / ROUNDS;
	}
	return time_each_run(l, c);
}

int main(int argc, char **argv)
{
	FILE *json = bench_json(&argc, argv);
	Cost c = { 0 };
	LoopDev l;
	int r = loopdev_create(&l, SIZE);

	if (r == 0) {
		r = bench(&l, &c);
		loopdev_detach(&l);
	}
	if (r < 0) {
		log_error_errno(r, "bench-meter: needs root, loop devices, fio and eBPF");
		return CANNOT;
	}
	printf("eBPF meter: %.0f ns per IO (%llu runs, %llu skipped); fio 4 KiB random read at "
	       "depth 16: %.0f IOPS without, %.0f with it (%.1f %%)\n",
	       c.ns_per_io, (unsigned long long)c.runs, (unsigned long long)c.misses, c.off_iops,
	       c.on_iops, 100 * c.on_iops / c.off_iops);
	fprintf(json,
		"{\"bench\":\"meter\",\"ns_per_io\":%.0f,\"runs\":%llu,\"skipped\":%llu,"
		"\"iops_off\":%.0f,\"iops_on\":%.0f,\"kept\":%.4f}\n",
		c.ns_per_io, (unsigned long long)c.runs, (unsigned long long)c.misses, c.off_iops,
		c.on_iops, c.on_iops / c.off_iops);
	return fclose(json) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
