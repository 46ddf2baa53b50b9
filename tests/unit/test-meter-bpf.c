/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The eBPF meter on the running kernel: known IO on a loop device of our own, and what was counted.
 */

#include "test-meter-bpf.h"

#include <json-c/json.h>
#include <pthread.h>

#define THREADS 8

static uint64_t stat_of(const Reading *before, const Reading *after, int field)
{
	return after->stat[field] - before->stat[field];
}

static void assert_within(double a, double b, double relative)
{
	if (fabs(a - b) > relative * fabs(b))
		fail_msg("%g is not within %g %% of %g", a, relative * 100, b);
}

enum { SEQUENTIAL_READS = 64, SEQUENTIAL_WRITES = 32, RANDOM_READS = 50, RANDOM_WRITES = 20 };

/* Each stream starts far from where the one before it in that direction ended. */
static void known_io(Fixture *f)
{
	uint64_t range[2] = { 128 * MIB, MIB };

	for (unsigned i = 0; i < RANDOM_READS; i++)
		io(f, READ_IO, 4 * KIB, i * 37 % RANDOM_READS * 2 * MIB + MIB);
	for (unsigned i = 0; i < RANDOM_WRITES; i++)
		io(f, WRITE_IO, 16 * KIB, i * 7 % RANDOM_WRITES * 4 * MIB + MIB);
	for (unsigned i = 0; i < SEQUENTIAL_READS; i++)
		io(f, READ_IO, 4 * KIB, 200 * MIB + i * 4 * KIB);
	for (unsigned i = 0; i < SEQUENTIAL_WRITES; i++)
		io(f, WRITE_IO, 64 * KIB, 160 * MIB + i * 64 * KIB);
	/* neither moves data: neither is an IO */
	assert_int_equal(fsync(f->loop.fd), 0);
	assert_true(ioctl(f->loop.fd, BLKDISCARD, range) == 0 || errno == EOPNOTSUPP);
}

static double known_joules(const Fixture *f)
{
	const Energy(*e)[_PATTERN_MAX] = f->profile.energy;
	/* the first of a sequential stream is random */
	double random_reads = RANDOM_READS + 1, reads = SEQUENTIAL_READS - 1;
	double writes = SEQUENTIAL_WRITES - 1;

	return random_reads * (e[READ_IO][RANDOM_IO].io_j + e[READ_IO][RANDOM_IO].page_j) +
	       reads * (e[READ_IO][SEQUENTIAL_IO].io_j + e[READ_IO][SEQUENTIAL_IO].page_j) +
	       RANDOM_WRITES * (e[WRITE_IO][RANDOM_IO].io_j + 4 * e[WRITE_IO][RANDOM_IO].page_j) +
	       e[WRITE_IO][RANDOM_IO].io_j + 16 * e[WRITE_IO][RANDOM_IO].page_j +
	       writes * (e[WRITE_IO][SEQUENTIAL_IO].io_j + 16 * e[WRITE_IO][SEQUENTIAL_IO].page_j);
}

static void every_io_is_counted_exactly_as_issued(void **state)
{
	Fixture *f = need(state);
	Reading a, b;

	measure(f, known_io, &a, &b);
	assert_int_equal(b.c.ios[READ_IO] - a.c.ios[READ_IO], RANDOM_READS + SEQUENTIAL_READS);
	assert_int_equal(b.c.ios[WRITE_IO] - a.c.ios[WRITE_IO], RANDOM_WRITES + SEQUENTIAL_WRITES);
	assert_int_equal(b.c.bytes[READ_IO] - a.c.bytes[READ_IO],
			 (RANDOM_READS + SEQUENTIAL_READS) * 4 * KIB);
	assert_int_equal(b.c.bytes[WRITE_IO] - a.c.bytes[WRITE_IO],
			 RANDOM_WRITES * 16 * KIB + SEQUENTIAL_WRITES * 64 * KIB);
	assert_true(a.c.has_pattern && a.c.has_joules);
	assert_int_equal(b.c.sequential_ios - a.c.sequential_ios,
			 SEQUENTIAL_READS - 1 + SEQUENTIAL_WRITES - 1);
	assert_float_equal(b.c.joules - a.c.joules, known_joules(f), 1e-12);
}

static void the_kernels_own_statistics_agree(void **state)
{
	Fixture *f = need(state);
	Reading a, b;

	measure(f, known_io, &a, &b);
	assert_int_equal(b.c.ios[READ_IO] - a.c.ios[READ_IO], stat_of(&a, &b, READS));
	assert_int_equal((b.c.bytes[READ_IO] - a.c.bytes[READ_IO]) / 512,
			 stat_of(&a, &b, READ_SECTORS));
	assert_int_equal((b.c.bytes[WRITE_IO] - a.c.bytes[WRITE_IO]) / 512,
			 stat_of(&a, &b, WRITE_SECTORS));
	/* stat takes an empty flush for a write */
	assert_in_range(stat_of(&a, &b, WRITES) - (b.c.ios[WRITE_IO] - a.c.ios[WRITE_IO]), 0, 1);
}

static void one_at_a_time(Fixture *f)
{
	for (unsigned i = 0; i < 2000; i++)
		io(f, READ_IO, 4 * KIB, i * 4 * KIB);
}

static void one_at_a_time_is_at_most_depth_one(void **state)
{
	Fixture *f = need(state);
	uint64_t begin_us, end_us, others;
	Reading a, b;

	begin_us = clock_now_us(&clock_boottime);
	measure(f, one_at_a_time, &a, &b);
	end_us = clock_now_us(&clock_boottime);
	assert_true(b.c.latency_us - a.c.latency_us > 0);
	assert_true(b.c.latency_us - a.c.latency_us <= (double)(end_us - begin_us));
	/* somebody else's look at a new disk, which comes in between, makes one of these random */
	others = b.c.ios[READ_IO] - a.c.ios[READ_IO] - 2000;
	assert_in_range(others, 0, 8);
	assert_in_range(b.c.sequential_ios - a.c.sequential_ios, 1999 - others, 1999 + others);
}

/* A sample of the 2000 IOs is a quarter, with a deviation of 19, and each counts four times. No
 * wait is longer than all of it took, but for the factor of two within which it is told. */
static void waits_stand_for_all_ios_and_none_is_stale(void **state)
{
	Fixture *f = need(state);
	uint64_t begin_us = clock_now_us(&clock_boottime), end_us, n = 0;
	Reading a, b;

	measure(f, one_at_a_time, &a, &b);
	end_us = clock_now_us(&clock_boottime);
	assert_true(b.c.has_waits);
	for (int i = 0; i < WAITS_MAX; i++)
		n += b.c.waits[i] - a.c.waits[i];
	assert_in_range(n, 1500, 2500);
	assert_true(waits_percentile_us(a.c.waits, b.c.waits, 1) <=
		    2 * (double)(end_us - begin_us));
}

typedef struct Writer {
	Fixture *f;
	unsigned seed;
	pthread_t thread;
} Writer;

static void *write_for_a_while(void *userdata)
{
	_cleanup_free_ void *buffer = aligned_alloc(4 * KIB, BUFFER);
	uint64_t end = clock_now_us(&clock_boottime) + USEC_PER_SEC;
	Writer *r = userdata;

	while (buffer && clock_now_us(&clock_boottime) < end)
		if (pwrite(r->f->loop.fd, buffer, 16 * KIB,
			   (off_t)((uint64_t)rand_r(&r->seed) % (SIZE / BUFFER) * BUFFER)) < 0)
			return NULL;
	return buffer ? r : NULL;
}

static void many_at_once(Fixture *f)
{
	Writer writers[THREADS];
	void *done;

	for (unsigned i = 0; i < THREADS; i++) {
		writers[i] = (Writer){ .f = f, .seed = i + 1 };
		assert_int_equal(
			pthread_create(&writers[i].thread, NULL, write_for_a_while, &writers[i]),
			0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(writers[i].thread, &done), 0);
		assert_non_null(done);
	}
}

/* Where the queue keeps statistics the meter sees the device's time. The kernel's begins before the
 * issue and ends after the bookkeeping: some microseconds an IO, 40 on an emulated processor. It
 * counts in whole milliseconds. */
static void assert_depth_integral(const Reading *a, const Reading *b)
{
	double metered_us = b->c.latency_us - a->c.latency_us;
	double stat_us = (double)(stat_of(a, b, QUEUE_MS) * USEC_PER_MSEC);

	assert_within(metered_us, stat_us, 0.10);
	assert_true(metered_us <= stat_us + 2 * USEC_PER_MSEC);
}

static void the_mean_depth_is_the_kernels(void **state)
{
	Fixture *f = need(state);
	double seconds, queue_s;
	MeterRates r;
	Reading a, b;

	measure(f, many_at_once, &a, &b);
	assert_int_equal(meter_rates(&a.c, &b.c, &r), 0);
	seconds = (double)(b.c.time_us - a.c.time_us) / 1e6;
	queue_s = (double)stat_of(&a, &b, QUEUE_MS) / 1e3;
	print_message("depth: eBPF %.3f, stat %.3f; %.0f IOPS, latency %.0f us\n", r.depth,
		      queue_s / seconds, r.iops[WRITE_IO], r.latency_us);
	assert_true(r.depth > 1 && r.depth <= THREADS);
	assert_depth_integral(&a, &b);
	assert_within(r.random_share, 1, 0.02);
}

static int run_fio(const LoopDev *l, struct json_object **ret)
{
	_cleanup_free_ char *command = text_printf(
		"fio --name=test --filename=%s --ioengine=libaio --direct=1 --iodepth=8 --rw=randrw "
		"--bs=16k --size=%llu --io_size=24m --output-format=json --allow_file_create=0 2>&1",
		l->path, SIZE);
	char text[65536];
	size_t n;
	FILE *p = popen(command, "re");

	assert_non_null(p);
	n = fread(text, 1, sizeof(text) - 1, p);
	text[n] = '\0';
	*ret = json_tokener_parse(text);
	return pclose(p);
}

static uint64_t fio_figure(struct json_object *report, const char *direction, const char *key)
{
	struct json_object *jobs, *o, *figure;

	assert_true(json_object_object_get_ex(report, "jobs", &jobs));
	assert_true(json_object_object_get_ex(json_object_array_get_idx(jobs, 0), direction, &o));
	assert_true(json_object_object_get_ex(o, key, &figure));
	return (uint64_t)json_object_get_int64(figure);
}

static void fio_and_the_meter_count_the_same(void **state)
{
	static const char *const names[] = { [READ_IO] = "read", [WRITE_IO] = "write" };
	Fixture *f = need(state);
	struct json_object *report;
	Reading a, b;

	if (system("fio --version >/dev/null 2>&1") != 0) {
		print_message("skipped: fio is not installed\n");
		skip();
	}
	a = take(f);
	assert_int_equal(run_fio(&f->loop, &report), 0);
	b = take(f);
	assert_non_null(report);
	for (int i = 0; i < _DIRECTION_MAX; i++) {
		assert_within((double)(b.c.ios[i] - a.c.ios[i]),
			      (double)fio_figure(report, names[i], "total_ios"), 0.01);
		assert_within((double)(b.c.bytes[i] - a.c.bytes[i]),
			      (double)fio_figure(report, names[i], "io_bytes"), 0.01);
	}
	assert_depth_integral(&a, &b);
	json_object_put(report);
}

static void what_is_not_added_is_not_counted(void **state)
{
	Fixture *f = need(state);
	Reading a, b;
	DeviceCounters c;

	assert_string_equal(meter_source(f->meter, f->device), "ebpf");
	meter_remove(f->meter, f->device);
	assert_string_equal(meter_source(f->meter, f->device), "device counters");
	assert_int_equal(meter_read(f->meter, f->device, &c), -EOPNOTSUPP);
	known_io(f);
	assert_int_equal(meter_add(f->meter, f->device), 0);
	a = take(f);
	assert_int_equal(a.c.ios[READ_IO] + a.c.ios[WRITE_IO] + a.c.bytes[WRITE_IO], 0);
	assert_float_equal(a.c.joules + a.c.latency_us, 0, 0);
	measure(f, known_io, &a, &b);
	assert_int_equal(b.c.ios[READ_IO] - a.c.ios[READ_IO], RANDOM_READS + SEQUENTIAL_READS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_io_is_counted_exactly_as_issued),
		cmocka_unit_test(the_kernels_own_statistics_agree),
		cmocka_unit_test(one_at_a_time_is_at_most_depth_one),
		cmocka_unit_test(waits_stand_for_all_ios_and_none_is_stale),
		cmocka_unit_test(the_mean_depth_is_the_kernels),
		cmocka_unit_test(fio_and_the_meter_count_the_same),
		cmocka_unit_test(what_is_not_added_is_not_counted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
