/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* fio is run and listened to, on a file of this test's own. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "ctl/calibrate-fio.h"

#define FILE_BYTES (16 << 20)

/* Not in /tmp: a tmpfs may not know direct IO. */
static char path[] = "build/fio:XXXXXX";

static int make_file(void **state)
{
	static char bytes[1 << 16];
	int fd = mkstemp(path);

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; fd >= 0 && i < FILE_BYTES / (int)sizeof(bytes); i++)
		if (write_all(fd, bytes, sizeof(bytes)) < 0)
			return -1;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static FioJob job_of(double reads, Pattern pattern, unsigned depth)
{
	return (FioJob){
		.path = path,
		.at = { .depth = depth, .chunk_kib = 4, .read_share = reads, .pattern = pattern },
		.engine = "libaio",
		.most_s = 30,
		.processors = 2
	};
}

static bool has(char **v, const char *word)
{
	for (; *v; v++)
		if (streq(*v, word))
			return true;
	return false;
}

static void who_only_reads_says_readonly_and_who_writes_does_not(void **state)
{
	static const double shares[] = { 1, 0, 0.7 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(shares); i++) {
		_cleanup_(strv_freep) char **v = NULL;
		FioJob job = job_of(shares[i], RANDOM_IO, 4);

		assert_int_equal(fio_arguments(&job, &v), 0);
		assert_true(has(v, "--readonly") == (shares[i] == 1));
		assert_true(has(v, "--rw=randread") == (shares[i] == 1));
		assert_true(has(v, "--rw=randwrite") == (shares[i] == 0));
		assert_true(has(v, "--rwmixread=70") == (shares[i] == 0.7));
		assert_true(has(v, "--direct=1"));
	}
}

static void the_depth_is_shared_by_jobs_only_where_io_is_small_and_random(void **state)
{
	_cleanup_(strv_freep) char **many = NULL, **one = NULL, **shallow = NULL;
	FioJob job = job_of(1, RANDOM_IO, 64);

	(void)state;
	assert_int_equal(fio_arguments(&job, &many), 0);
	assert_true(has(many, "--numjobs=2") && has(many, "--iodepth=32"));
	job.at.pattern = SEQUENTIAL_IO;
	assert_int_equal(fio_arguments(&job, &one), 0);
	assert_true(has(one, "--numjobs=1") && has(one, "--iodepth=64"));
	job = job_of(1, RANDOM_IO, 1);
	assert_int_equal(fio_arguments(&job, &shallow), 0);
	assert_true(has(shallow, "--numjobs=1") && has(shallow, "--iodepth=1"));
}

static void rounds_are_heard_while_it_runs(void **state)
{
	FioJob job = job_of(1, RANDOM_IO, 4);
	_cleanup_(fio_endp) FioRun *f = NULL;
	double p50, p99, late_p50, late_p99;
	char version[FIO_VERSION_SIZE];
	FioRound round;

	(void)state;
	assert_int_equal(fio_version(version), 0);
	assert_int_equal(strncmp(version, "fio-", 4), 0);
	assert_int_equal(fio_engine(path, &job.engine), 0);
	assert_int_equal(fio_start(&job, &f), 0);
	assert_int_equal(fio_percentiles(f, 0, &p50, &p99), -ENODATA);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fio_round(f, &round), 0);
		assert_true(round.iops > 0 && round.seconds > 0.5);
		assert_float_equal(round.mb_s, round.iops * 4096 / 1e6, 0.02 * round.mb_s);
	}
	assert_int_equal(fio_percentiles(f, 0, &p50, &p99), 0);
	assert_int_equal(fio_percentiles(f, 2, &late_p50, &late_p99), 0);
	assert_true(p50 > 0 && p50 <= p99 && late_p50 > 0 && late_p50 <= late_p99);
	assert_int_equal(fio_percentiles(f, 3, &p50, &p99), -ENODATA);
	/* Little's law, roughly: no more outstanding than asked for */
	assert_true(round.iops * late_p50 / 1e6 < 2 * 4);
}

/* What is ended has ended: no process of ours is left. */
static void what_is_ended_is_gone(void **state)
{
	FioJob job = job_of(1, SEQUENTIAL_IO, 1);
	FioRun *f = NULL;

	(void)state;
	assert_int_equal(fio_start(&job, &f), 0);
	fio_end(f);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void a_job_that_ends_by_itself_says_so(void **state)
{
	FioJob job = job_of(1, RANDOM_IO, 1);
	_cleanup_(fio_endp) FioRun *f = NULL;
	FioRound round;
	int r, rounds = 0;

	(void)state;
	job.most_s = 2;
	assert_int_equal(fio_start(&job, &f), 0);
	while ((r = fio_round(f, &round)) == 0)
		rounds++;
	assert_int_equal(r, -ENODATA);
	assert_in_range(rounds, 1, 3);
}

static void writes_write_and_a_file_that_is_not_there_gives_nothing(void **state)
{
	FioJob job = job_of(0.5, RANDOM_IO, 2);
	_cleanup_(fio_endp) FioRun *f = NULL, *none = NULL;
	_cleanup_free_ char *bytes = NULL;
	FioRound round;
	size_t n;

	(void)state;
	assert_int_equal(fio_start(&job, &f), 0);
	assert_int_equal(fio_round(f, &round), 0);
	assert_true(round.iops > 0);
	f = fio_end(f);
	assert_int_equal(read_bytes(path, &bytes, &n), 0);
	assert_int_equal(n, FILE_BYTES);
	for (size_t i = 0; i <= n; i++) {
		assert_true(i < n); /* somewhere something else was written */
		if (bytes[i] != 'x')
			break;
	}
	job = job_of(1, RANDOM_IO, 1);
	job.path = "/dev/null/file";
	assert_int_equal(fio_engine(job.path, &job.engine), -EIO);
	assert_int_equal(fio_start(&job, &none), 0);
	assert_true(fio_round(none, &round) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_only_reads_says_readonly_and_who_writes_does_not),
		cmocka_unit_test(the_depth_is_shared_by_jobs_only_where_io_is_small_and_random),
		cmocka_unit_test(rounds_are_heard_while_it_runs),
		cmocka_unit_test(what_is_ended_is_gone),
		cmocka_unit_test(a_job_that_ends_by_itself_says_so),
		cmocka_unit_test(writes_write_and_a_file_that_is_not_there_gives_nothing),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
