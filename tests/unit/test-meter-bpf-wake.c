/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who wakes a disk, on the running kernel: child processes do IO on a loop device of our own. */

#include "test-meter-wake.h"

#include <linux/blkpg.h>

#include "base/file.h"

static void write_16k(Fixture *f)
{
	io(f, WRITE_IO, 16 * KIB, 16 * MIB);
}

static void flush(Fixture *f)
{
	assert_int_equal(fsync(f->loop.fd), 0);
}

static void the_first_io_is_told_with_the_process_that_did_it(void **state)
{
	Fixture *f = need(state);
	uint64_t begin_us;
	pid_t pid;
	Told t;

	watch(f, true);
	assert_false(is_readable(f));
	begin_us = clock_now_us(&clock_boottime);
	pid = by_another(f, write_8k_then_read);
	assert_true(is_readable(f));
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_true(t.last.devnum == f->loop.devnum);
	assert_false(t.last.passed_through);
	assert_int_equal(t.last.direction, WRITE_IO);
	assert_int_equal(t.last.bytes, 8 * KIB);
	assert_string_equal(t.last.process, CHILD);
	assert_int_equal(t.last.pid, pid);
	assert_in_range(t.last.time_us, begin_us, clock_now_us(&clock_boottime));
	watch(f, false);
}

static void a_disk_tells_once_until_it_is_watched_again(void **state)
{
	Fixture *f = need(state);
	Told t;

	watch(f, true);
	by_another(f, write_16k);
	assert_int_equal(process(f).wakes, 1);
	by_another(f, read_4k);
	assert_false(is_readable(f));
	assert_int_equal(process(f).wakes, 0);
	watch(f, true);
	by_another(f, read_4k);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_int_equal(t.last.direction, READ_IO);
	assert_int_equal(t.last.bytes, 4 * KIB);
	watch(f, false);
}

static void what_the_watching_process_does_itself_is_not_told(void **state)
{
	Fixture *f = need(state);
	pid_t pid;
	Told t;

	watch(f, true);
	read_4k(f);
	write_16k(f);
	flush(f);
	assert_false(is_readable(f));
	/* and hides nothing */
	pid = by_another(f, read_4k);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_int_equal(t.last.pid, pid);
	watch(f, false);
}

/* A scheduler hands requests to a kernel thread, which issues them. */
static int set_scheduler(const Fixture *f, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/%s/queue/scheduler", f->loop.name);
	return write_attribute(path, name);
}

static void behind_a_scheduler_it_is_still_the_process(void **state)
{
	Fixture *f = need(state);
	pid_t pid;
	Told t;

	if (set_scheduler(f, "mq-deadline") < 0) {
		print_message("skipped: this kernel has no mq-deadline\n");
		skip();
	}
	watch(f, true);
	write_16k(f);
	assert_false(is_readable(f));
	pid = by_another(f, read_4k);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_int_equal(t.last.pid, pid);
	watch(f, false);
	assert_int_equal(set_scheduler(f, "none"), 0);
}

static void a_flush_alone_is_told(void **state)
{
	Fixture *f = need(state);
	Told t;

	watch(f, true);
	by_another(f, flush);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_int_equal(t.last.direction, WRITE_IO);
	assert_int_equal(t.last.bytes, 0);
	watch(f, false);
}

/* Through the page cache; the process itself then sees to it that it is written. */
static void dirty_and_leave(Fixture *f)
{
	_cleanup_close_ int fd = open(f->loop.path, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, f->buffer, 4 * KIB, 32 * MIB), 4 * KIB);
	assert_int_equal(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE), 0);
}

static void a_buffered_write_is_told_when_it_reaches_the_disk(void **state)
{
	Fixture *f = need(state);
	Told t;

	watch(f, true);
	by_another(f, dirty_and_leave);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_int_equal(t.last.direction, WRITE_IO);
	assert_int_equal(t.last.bytes, 4 * KIB);
	assert_string_equal(t.last.process, CHILD);
	watch(f, false);
}

/* The number of our own cgroup: in the hierarchy of block IO, by its folder. */
static ino_t own_cgroup(void)
{
	_cleanup_free_ char *v1 = NULL, *v2 = NULL, *path = NULL;
	_cleanup_fclose_ FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096];
	struct stat st;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = strrchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, ":blkio:"))
			v1 = text_printf("/sys/fs/cgroup/blkio%s", at + 1);
		else if (strncmp(line, "0::", 3) == 0)
			v2 = text_printf("/sys/fs/cgroup%s", at + 1);
	}
	path = strdup(v1 ?: v2 ?: "");
	assert_non_null(path);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static void the_cgroup_is_that_of_the_process(void **state)
{
	ino_t own = own_cgroup();
	Fixture *f = need(state);
	Told t;

	if (!own) {
		print_message("skipped: the cgroup of this process is not to be found\n");
		skip();
	}
	watch(f, true);
	by_another(f, read_4k);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	print_message("cgroup %llu: %s\n", (unsigned long long)t.last.cgroup, t.last.name);
	assert_int_equal(t.last.cgroup, own);
	assert_string_not_equal(t.last.name, "(unknown)");
	watch(f, false);
}

/* Partition 1, in the kernel alone: nothing is written. */
static int add_partition(const Fixture *f)
{
	struct blkpg_partition part = { .start = MIB, .length = 64 * MIB, .pno = 1 };
	struct blkpg_ioctl_arg arg = { .op = BLKPG_ADD_PARTITION,
				       .datalen = sizeof(part),
				       .data = &part };
	struct loop_info64 info;

	if (ioctl(f->loop.fd, LOOP_GET_STATUS64, &info) < 0)
		return -errno;
	info.lo_flags |= LO_FLAGS_PARTSCAN;
	if (ioctl(f->loop.fd, LOOP_SET_STATUS64, &info) < 0 || ioctl(f->loop.fd, BLKPG, &arg) < 0)
		return -errno;
	return 0;
}

static void read_the_partition(Fixture *f)
{
	char path[48];
	int fd = -1;

	snprintf(path, sizeof(path), "%sp1", f->loop.path);
	for (int i = 0; fd < 0 && i < 100; i++) {
		fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
		if (fd < 0)
			usleep(10000);
	}
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, f->buffer, 4 * KIB, 0), 4 * KIB);
}

static void io_to_a_partition_wakes_the_whole_disk(void **state)
{
	Fixture *f = need(state);
	Told t;
	int r = add_partition(f);

	if (r < 0) {
		print_message("skipped: no partitions on loop devices: %s\n", strerror(-r));
		skip();
	}
	watch(f, true);
	by_another(f, read_the_partition);
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_true(t.last.devnum == f->loop.devnum);
	assert_string_equal(t.last.process, CHILD);
	watch(f, false);
}

enum { CROWD = 16 };

/* All at once, as near as may be: they wait for the same byte. */
static void crowd(Fixture *f)
{
	int gate[2];

	assert_int_equal(pipe(gate), 0);
	for (int i = 0; i < CROWD; i++)
		if (fork() == 0) {
			char byte;

			close(gate[1]);
			_exit(read(gate[0], &byte, 1) == 0 &&
					      pread(f->loop.fd, f->buffer, 4 * KIB, i * MIB) > 0
				      ? 0
				      : 1);
		}
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < CROWD; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

static void of_many_at_once_one_is_the_first(void **state)
{
	Fixture *f = need(state);

	for (int i = 0; i < 20; i++) {
		watch(f, true);
		by_another(f, crowd);
		assert_int_equal(process(f).wakes, 1);
	}
	watch(f, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_io_is_told_with_the_process_that_did_it),
		cmocka_unit_test(a_disk_tells_once_until_it_is_watched_again),
		cmocka_unit_test(of_many_at_once_one_is_the_first),
		cmocka_unit_test(what_the_watching_process_does_itself_is_not_told),
		cmocka_unit_test(behind_a_scheduler_it_is_still_the_process),
		cmocka_unit_test(a_flush_alone_is_told),
		cmocka_unit_test(a_buffered_write_is_told_when_it_reaches_the_disk),
		cmocka_unit_test(the_cgroup_is_that_of_the_process),
		cmocka_unit_test(io_to_a_partition_wakes_the_whole_disk),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
