/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the eBPF meter costs: nanoseconds per IO by the kernel's own count, without a cap and with
 * one to watch, and while wake-ups are watched for, beside those of biolatency (libbpf-tools) on
 * the same load where that is installed; and fio's IOPS on a loop device with the meter beside
 * those without: bench-meter [--json=FILE]. Exit status 77 where that cannot be measured. */

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

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
	/* while the kernel takes the time of each run, which slows it */
	double ns_per_io, capped_ns_per_io;
	double waking_ns_per_io; /* more, while any disk's wake-up is watched for */
	double biolatency_ns; /* of insertion, issue and completion together; NAN: not installed */
	uint64_t runs, misses;
} Cost;

/* A program of the meter's kind runs once an IO. */
typedef struct Run {
	double iops, ios;
	BpfFigures meter;
	double submission_ns, waking_ns, biolatency_ns; /* in all */
} Run;

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

static double run_ns(const char *const *names)
{
	BpfFigures figures;
	double ns = 0;

	for (; *names; names++)
		if (bpf_figures(*names, &figures) == 0)
			ns += (double)figures.run_ns;
	return ns;
}

/* 0 where the kernel itself notes when a bio was submitted. */
static double submission_ns(void)
{
	return run_ns((const char *const[]){ "storpower_begin", "storpower_split", NULL });
}

static double waking_ns(void)
{
	return run_ns((const char *const[]){ "storpower_wake", "storpower_issue", NULL });
}

static double biolatency_ns(void)
{
	/* the kernel cuts them: block_rq_issue_btf where it is that */
	return run_ns((const char *const[]){ "block_rq_insert", "block_rq_issue", "block_rq_issue_",
					     "block_rq_complete", NULL });
}

/* -1: not installed, or it does not run here. */
static pid_t start_biolatency(const LoopDev *l)
{
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("biolatency", "biolatency", "-d", l->name, "600", "1", NULL);
		_exit(127);
	}
	sleep(3); /* until it has loaded its programs */
	if (pid > 0 && waitpid(pid, NULL, WNOHANG) == pid)
		return -1;
	return pid;
}

static void stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGINT);
	waitpid(pid, NULL, 0);
}

static int metered_run(const LoopDev *l, double cap_w, bool watch_wake, Run *ret)
{
	static const Energy energy = { 200e-6, 4e-6 };
	Profile p = { .energy = { { energy, energy }, { energy, energy } } };
	Device d = { .name = (char *)l->name,
		     .devnum = l->devnum,
		     .profile = &p,
		     .ops = &(DeviceOps){ 0 } };
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;
	DeviceCounters c;
	double before = biolatency_ns();
	int r = meter_open(true, &m, &why_not);

	if (r < 0)
		return r;
	if (why_not) {
		log_error("bench-meter: %s", why_not);
		return -EOPNOTSUPP;
	}
	r = meter_add(m, &d);
	if (r == 0)
		r = meter_set_cap_window(m, &d, cap_w, 100 * USEC_PER_MSEC);
	if (r == 0 && watch_wake)
		r = meter_watch_wake(m, &d, true);
	if (r == 0)
		r = fio_iops(l, &ret->iops);
	if (r == 0)
		r = meter_read(m, &d, &c);
	if (r < 0)
		return r;
	ret->ios = (double)(c.ios[READ_IO] + c.ios[WRITE_IO]);
	ret->submission_ns = submission_ns();
	ret->waking_ns = waking_ns();
	ret->biolatency_ns = biolatency_ns() - before;
	return bpf_figures("storpower_meter", &ret->meter);
}

static int mean_ns(const LoopDev *l, double cap_w, Run *run, double *ret)
{
	int r = metered_run(l, cap_w, false, run);

	if (r < 0 || !run->meter.runs)
		return r < 0 ? r : -ENODATA;
	*ret = ((double)run->meter.run_ns + run->submission_ns) / (double)run->meter.runs;
	return 0;
}

/* The kernel times the runs for as long as the descriptor is open. */
static int time_each_run(const LoopDev *l, Cost *c)
{
	_cleanup_close_ int timing = bpf_enable_stats(BPF_STATS_RUN_TIME);
	double beside_ns;
	pid_t pid;
	Run run;
	int r;

	if (timing < 0)
		return -errno;
	r = mean_ns(l, INFINITY, &run, &c->ns_per_io);
	if (r < 0)
		return r;
	c->runs = run.meter.runs;
	c->misses = run.meter.misses;
	/* never reached, so that each IO is added to the window */
	r = mean_ns(l, 1e6, &run, &c->capped_ns_per_io);
	if (r < 0)
		return r;
	r = metered_run(l, INFINITY, true, &run);
	if (r < 0)
		return r;
	c->waking_ns_per_io = run.waking_ns / run.ios;
	c->biolatency_ns = NAN;
	pid = start_biolatency(l);
	if (pid > 0)
		r = mean_ns(l, INFINITY, &run, &beside_ns);
	if (pid > 0 && r == 0 && run.biolatency_ns > 0)
		c->biolatency_ns = run.biolatency_ns / run.ios;
	stop(pid);
	return r;
}

static int bench(const LoopDev *l, Cost *c)
{
	double iops;
	Run run;
	int r;

	for (int i = 0; i < ROUNDS; i++) {
		r = fio_iops(l, &iops);
		if (r < 0)
			return r;
		c->off_iops += iops / ROUNDS;
		r = metered_run(l, INFINITY, false, &run);
		if (r < 0)
			return r;
		c->on_iops += run.iops / ROUNDS;
	}
	return time_each_run(l, c);
}

static void report(const Cost *c, FILE *json)
{
	printf("eBPF meter: %.0f ns per IO, %.0f with a cap to watch (%llu runs, %llu skipped), "
	       "%.0f more while wake-ups are watched for; "
	       "fio 4 KiB random read at depth 16: %.0f IOPS without, %.0f with it (%.1f %%)\n",
	       c->ns_per_io, c->capped_ns_per_io, (unsigned long long)c->runs,
	       (unsigned long long)c->misses, c->waking_ns_per_io, c->off_iops, c->on_iops,
	       100 * c->on_iops / c->off_iops);
	if (isnan(c->biolatency_ns))
		printf("biolatency (libbpf-tools) is not installed or does not run here: nothing "
		       "to stand beside it\n");
	else
		printf("biolatency on the same load: %.0f ns per IO\n", c->biolatency_ns);
	fprintf(json,
		"{\"bench\":\"meter\",\"ns_per_io\":%.0f,\"capped_ns_per_io\":%.0f,"
		"\"waking_ns_per_io\":%.0f,\"biolatency_ns_per_io\":%.0f,\"runs\":%llu,\"skipped\":%llu,"
		"\"iops_off\":%.0f,\"iops_on\":%.0f,\"kept\":%.4f}\n",
		c->ns_per_io, c->capped_ns_per_io, c->waking_ns_per_io,
		isnan(c->biolatency_ns) ? 0 : c->biolatency_ns, (unsigned long long)c->runs,
		(unsigned long long)c->misses, c->off_iops, c->on_iops, c->on_iops / c->off_iops);
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
	report(&c, json);
	return fclose(json) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
