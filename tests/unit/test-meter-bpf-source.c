/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the figures come from, and what is said when that is not eBPF. */

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "meter/meter-bpf.h"
#include "meter/meter.h"

#define NOBODY 65534

static int own_counters(Device *d, DeviceCounters *ret)
{
	(void)d;
	*ret = (DeviceCounters){ .time_us = 1, .ios = { 11, 22 } };
	return 0;
}

static const DeviceOps with_counters = { .counters = own_counters };
static const DeviceOps without_counters;

static Device *make_device(const DeviceOps *ops, dev_t devnum)
{
	Device *d = device_new("test", "test", "test", KIND_NVME, ops, NULL);

	assert_non_null(d);
	d->devnum = devnum;
	return d;
}

static void assert_counts_for_itself(Meter *m, dev_t devnum)
{
	_cleanup_(device_unrefp) Device *d = make_device(&with_counters, devnum);
	DeviceCounters c;

	assert_int_equal(meter_add(m, d), 0);
	assert_string_equal(meter_source(m, d), "device counters");
	assert_int_equal(meter_read(m, d, &c), 0);
	assert_int_equal(c.ios[READ_IO], 11);
	assert_int_equal(c.ios[WRITE_IO], 22);
	assert_false(c.has_pattern);
	assert_false(c.has_joules);
	meter_remove(m, d);
	assert_int_equal(meter_read(m, d, &c), 0);
}

static void switched_off_every_device_counts_for_itself(void **state)
{
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;

	(void)state;
	assert_int_equal(meter_open(false, &m, &why_not), 0);
	assert_non_null(strstr(why_not, "switched off"));
	assert_counts_for_itself(m, makedev(7, 0));
	assert_counts_for_itself(m, 0);
}

static void a_device_without_requests_counts_for_itself(void **state)
{
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;

	(void)state;
	assert_int_equal(meter_open(true, &m, &why_not), 0);
	assert_counts_for_itself(m, 0);
	assert_counts_for_itself(m, makedev(0, 1));
}

static void a_device_that_nobody_can_count_is_refused(void **state)
{
	_cleanup_(device_unrefp) Device *d = make_device(&without_counters, 0);
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;
	DeviceCounters c;

	(void)state;
	assert_int_equal(meter_open(true, &m, &why_not), 0);
	assert_int_equal(meter_add(m, d), -EOPNOTSUPP);
	assert_int_equal(meter_read(m, d, &c), -EOPNOTSUPP);
}

/* Opens the meter in a child that has lost something; 0 when it works on and says `word`. */
static int open_without(int (*lose)(void), const char *word)
{
	Meter *m = NULL;
	char *why_not = NULL;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (lose() < 0 || meter_open(true, &m, &why_not) < 0)
			_exit(2);
		_exit(why_not && strstr(why_not, word) ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int lose_privileges(void)
{
	return setuid(NOBODY);
}

static int lose_btf(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	return mount("none", "/sys/kernel/btf", "tmpfs", 0, NULL);
}

static bool need_root(void)
{
	if (geteuid() == 0 && access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		return true;
	print_message("skipped: needs root and a kernel with BTF to take them away\n");
	return false;
}

static void without_privileges_it_names_the_capabilities(void **state)
{
	(void)state;
	if (!need_root())
		skip();
	assert_int_equal(open_without(lose_privileges, "CAP_BPF and CAP_PERFMON"), 0);
}

static void without_btf_it_names_the_kernel_option(void **state)
{
	(void)state;
	if (!need_root())
		skip();
	assert_int_equal(open_without(lose_btf, "CONFIG_DEBUG_INFO_BTF"), 0);
}

static void every_refusal_has_words_of_its_own(void **state)
{
	_cleanup_free_ char *no_bpf = meter_bpf_refusal(-ENOSYS);
	_cleanup_free_ char *no_hook = meter_bpf_refusal(-ESRCH);
	_cleanup_free_ char *verifier = meter_bpf_refusal(-EACCES);

	(void)state;
	assert_non_null(strstr(no_bpf, "CONFIG_BPF_SYSCALL"));
	if (!need_root())
		skip();
	assert_non_null(strstr(no_hook, "block_rq_complete"));
	assert_non_null(strstr(verifier, "verifier"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switched_off_every_device_counts_for_itself),
		cmocka_unit_test(a_device_without_requests_counts_for_itself),
		cmocka_unit_test(a_device_that_nobody_can_count_is_refused),
		cmocka_unit_test(without_privileges_it_names_the_capabilities),
		cmocka_unit_test(without_btf_it_names_the_kernel_option),
		cmocka_unit_test(every_refusal_has_words_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
