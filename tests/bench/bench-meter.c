/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the eBPF meter costs: nanoseconds per IO by the kernel's own count, at completion and at
 * submission, without a cap and with one to watch, and while wake-ups are watched for, beside those
 * of biolatency (libbpf-tools) on the same load where that is installed; and fio's IOPS on a loop
 * device with the meter beside those without: bench-meter [--json=FILE]. Exit status 77 where that
 * cannot be measured. The kernel reads the clock for each run of a program: what it counts for a
 * program that does nothing is taken off. */

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
	double nothing_ns; /* of a run of a program that does nothing */
	double ns_per_io, capped_ns_per_io;
	double submission_ns_per_io; /* of these; 0: the kernel notes submissions itself */
	double waking_ns_per_io;     /* more, while any disk's wake-up is watched for */
	double biolatency_ns; /* of insertion, issue and completion together; NAN: not installed */
	uint64_t runs, misses;
} Cost;

/* A program of the meter's kind runs once an IO. */
typedef struct Run {
	double iops, ios;
	BpfFigures meter;
	double meter_ns, submission_ns, waking_ns, biolatency_ns; /* in all */
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

static double run_ns(const char *const *names, double nothing_ns)
{
	BpfFigures figures;
	double ns = 0;

	for (; *names; names++)
		if (bpf_figures(*names, &figures) == 0)
			ns += (double)figures.run_ns - (double)figures.runs * nothing_ns;
	return MAX(ns, 0.0);
}

static double meter_ns(double nothing_ns)
{
	return run_ns((const char *const[]){ "storpower_meter", NULL }, nothing_ns);
}

/* 0 where the kernel itself notes when a bio was submitted. */
static double submission_ns(double nothing_ns)
{
	return run_ns((const char *const[]){ "storpower_begin", "storpower_split", NULL },
		      nothing_ns);
}

static double waking_ns(double nothing_ns)
{
	return run_ns((const char *const[]){ "storpower_wake", "storpower_issue", NULL },
		      nothing_ns);
}

static double biolatency_ns(double nothing_ns)
{
	/* the kernel cuts them: block_rq_issue_btf where it is that */
	return run_ns((const char *const[]){ "block_rq_insert", "block_rq_issue", "block_rq_issue_",
					     "block_rq_complete", NULL },
		      nothing_ns);
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

static int metered_run(const LoopDev *l, double cap_w, bool watch_wake, double nothing_ns, Run *ret)
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
	double before = biolatency_ns(nothing_ns);
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
	ret->meter_ns = meter_ns(nothing_ns);
	ret->submission_ns = submission_ns(nothing_ns);
	ret->waking_ns = waking_ns(nothing_ns);
	ret->biolatency_ns = biolatency_ns(nothing_ns) - before;
	return bpf_figures("storpower_meter", &ret->meter);
}

static int mean_ns(const LoopDev *l, double cap_w, double nothing_ns, Run *run, double *ret)
{
	int r = metered_run(l, cap_w, false, nothing_ns, run);

	if (r < 0 || !run->meter.runs)
		return r < 0 ? r : -ENODATA;
	*ret = (run->meter_ns + run->submission_ns) / (double)run->meter.runs;
	return 0;
}

/* What the kernel counts for a run of a program that does nothing. */
static int time_nothing(const LoopDev *l, double *ret)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	_cleanup_close_ int program = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "bench_nothing",
						    "GPL", nothing, 2, NULL);
	_cleanup_close_ int link =
		program < 0 ? program : bpf_raw_tracepoint_open("block_rq_complete", program);
	BpfFigures figures = { 0 };
	double iops;
	int r = link < 0 ? link : fio_iops(l, &iops);

	if (r == 0)
		r = bpf_figures("bench_nothing", &figures);
	if (r < 0 || !figures.runs)
		return r < 0 ? r : -ENODATA;
	*ret = (double)figures.run_ns / (double)figures.runs;
	return 0;
}

static int time_biolatency(const LoopDev *l, Cost *c)
{
	pid_t pid = start_biolatency(l);
	double beside_ns;
	Run run;
	int r = 0;

	c->biolatency_ns = NAN;
	if (pid > 0)
		r = mean_ns(l, INFINITY, c->nothing_ns, &run, &beside_ns);
	if (pid > 0 && r == 0 && run.biolatency_ns > 0)
		c->biolatency_ns = run.biolatency_ns / run.ios;
	stop(pid);
	return r;
}

/* The kernel times the runs for as long as the descriptor is open. */
static int time_each_run(const LoopDev *l, Cost *c)
{
	_cleanup_close_ int timing = bpf_enable_stats(BPF_STATS_RUN_TIME);
	Run run;
	int r = timing < 0 ? -errno : time_nothing(l, &c->nothing_ns);

	if (r == 0)
		r = mean_ns(l, INFINITY, c->nothing_ns, &run, &c->ns_per_io);
	if (r < 0)
		return r;
	c->submission_ns_per_io = run.submission_ns / (double)run.meter.runs;
	c->runs = run.meter.runs;
	c->misses = run.meter.misses;
	/* never reached, so that each IO is added to the window */
	r = mean_ns(l, 1e6, c->nothing_ns, &run, &c->capped_ns_per_io);
	if (r == 0)
		r = metered_run(l, INFINITY, true, c->nothing_ns, &run);
	if (r < 0)
		return r;
	c->waking_ns_per_io = run.waking_ns / run.ios;
	return time_biolatency(l, c);
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
		r = metered_run(l, INFINITY, false, 0, &run);
		if (r < 0)
			return r;
		c->on_iops += run.iops / ROUNDS;
	}
	return time_each_run(l, c);
}

static void report(const Cost *c, FILE *json)
{
	printf("eBPF meter: %.0f ns per IO, of these %.0f at submission; %.0f with a cap to watch "
	       "(%llu runs, %llu skipped), %.0f more while wake-ups are watched for; "
	       "%.0f more for each run are the counting's own, and left out\n"
	       "fio 4 KiB random read at depth 16: %.0f IOPS (%.0f ns each) without, "
	       "%.0f (%.0f ns) with it (%.1f %%)\n",
	       c->ns_per_io, c->submission_ns_per_io, c->capped_ns_per_io,
	       (unsigned long long)c->runs, (unsigned long long)c->misses, c->waking_ns_per_io,
	       c->nothing_ns, c->off_iops, 1e9 / c->off_iops, c->on_iops, 1e9 / c->on_iops,
	       100 * c->on_iops / c->off_iops);
	if (isnan(c->biolatency_ns))
		printf("biolatency (libbpf-tools) is not installed or does not run here: nothing "
		       "to stand beside it\n");
	else
		printf("biolatency on the same load: %.0f ns per IO\n", c->biolatency_ns);
	fprintf(json,
		"{\"bench\":\"meter\",\"ns_per_io\":%.0f,\"submission_ns_per_io\":%.0f,"
		"\"capped_ns_per_io\":%.0f,\"nothing_ns\":%.0f,"
		"\"waking_ns_per_io\":%.0f,\"biolatency_ns_per_io\":%.0f,\"runs\":%llu,\"skipped\":%llu,"
		"\"iops_off\":%.0f,\"iops_on\":%.0f,\"kept\":%.4f}\n",
		c->ns_per_io, c->submission_ns_per_io, c->capped_ns_per_io, c->nothing_ns,
		c->waking_ns_per_io, isnan(c->biolatency_ns) ? 0 : c->biolatency_ns,
		(unsigned long long)c->runs, (unsigned long long)c->misses, c->off_iops, c->on_iops,
		c->on_iops / c->off_iops);
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
