/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Watching for wake-ups: when the programs are there, and what they tell to whom. */

#include "test-meter-wake.h"

#include <sys/resource.h>

/* The limit on descriptors stands for all that can keep the programs from being loaded. */
static void watch_without_descriptors(Fixture *f)
{
	struct rlimit before, none = { 0 };
	DeviceCounters a, b;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(meter_watch_wake(f->meter, f->device, true), -EOPNOTSUPP);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	/* it is not tried again */
	assert_int_equal(meter_watch_wake(f->meter, f->device, true), -EOPNOTSUPP);
	assert_int_equal(meter_watch_wake(f->meter, f->device, false), 0);
	assert_int_equal(meter_read(f->meter, f->device, &a), 0);
	read_4k(f);
	usleep(SETTLE_US);
	assert_int_equal(meter_read(f->meter, f->device, &b), 0);
	assert_int_equal(b.ios[READ_IO], a.ios[READ_IO] + 1);
	assert_int_equal(process(f).wakes, 0);
}

static void where_the_kernel_refuses_the_programs_the_meter_goes_on(void **state)
{
	Fixture *f = need(state);

	/* the first to watch: nothing is loaded yet */
	by_another(f, watch_without_descriptors);
}

static void without_ebpf_nothing_can_be_watched(void **state)
{
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;
	Fixture *f = need(state);

	assert_int_equal(meter_open(false, &m, &why_not), 0);
	assert_int_equal(meter_watch_wake(m, f->device, true), -EOPNOTSUPP);
	assert_int_equal(meter_watch_wake(m, f->device, false), -EOPNOTSUPP);
	assert_int_equal(meter_process(m, note_overrun, note_wake, NULL), 0);
}

/* eBPF programs that this process has attached. */
static unsigned links(void)
{
	char path[64], target[64];
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++) {
		ssize_t size;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		size = readlink(path, target, sizeof(target) - 1);
		if (size < 0)
			continue;
		target[size] = '\0';
		n += strstr(target, "bpf") && strstr(target, "link");
	}
	return n;
}

static void the_hooks_are_there_only_while_a_disk_is_watched(void **state)
{
	Fixture *f = need(state);
	unsigned before = links();

	/* the meter's, and two more where the kernel does not note when a bio is submitted */
	assert_true(before == 1 || before == 3);
	for (int i = 0; i < 3; i++) {
		watch(f, true);
		watch(f, true);
		assert_int_equal(links(), before + 2);
		watch(f, false);
		watch(f, false);
		assert_int_equal(links(), before);
	}
	/* taken away: nothing is left either */
	watch(f, true);
	meter_remove(f->meter, f->device);
	assert_int_equal(links(), before);
	assert_int_equal(meter_watch_wake(f->meter, f->device, true), -EOPNOTSUPP);
	assert_int_equal(meter_add(f->meter, f->device), 0);
	by_another(f, read_4k);
	assert_false(is_readable(f));
}

static void what_is_not_watched_is_not_told(void **state)
{
	LoopDev other;
	Device d = { .name = other.name };
	Fixture *f = need(state);

	assert_int_equal(loopdev_create(&other, MIB), 0);
	d.devnum = other.devnum;
	assert_int_equal(meter_watch_wake(f->meter, &d, true), -EOPNOTSUPP);
	assert_int_equal(meter_add(f->meter, &d), 0);
	assert_int_equal(meter_watch_wake(f->meter, &d, true), 0);
	by_another(f, read_4k);
	assert_false(is_readable(f));
	meter_remove(f->meter, &d);
	loopdev_detach(&other);
}

static void what_waits_of_a_disk_no_longer_watched_is_dropped(void **state)
{
	Fixture *f = need(state);

	watch(f, true);
	by_another(f, read_4k);
	watch(f, false);
	assert_int_equal(process(f).wakes, 0);
	assert_false(is_readable(f));
}

static void overruns_and_wakes_come_by_one_descriptor(void **state)
{
	Fixture *f = need(state);
	Told t;

	assert_int_equal(meter_set_cap_window(f->meter, f->device, 1e-9, 600 * USEC_PER_SEC), 0);
	watch(f, true);
	by_another(f, write_8k_then_read);
	assert_true(is_readable(f));
	t = process(f);
	assert_int_equal(t.wakes, 1);
	assert_int_equal(t.overruns, 1);
	/* nobody listens: nothing waits for ever */
	assert_int_equal(meter_set_cap_window(f->meter, f->device, 2e-9, 600 * USEC_PER_SEC), 0);
	watch(f, true);
	by_another(f, write_8k_then_read);
	assert_int_equal(meter_process(f->meter, NULL, NULL, NULL), 2);
	assert_false(is_readable(f));
	watch(f, false);
	assert_int_equal(meter_set_cap_window(f->meter, f->device, INFINITY, USEC_PER_SEC), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_the_kernel_refuses_the_programs_the_meter_goes_on),
		cmocka_unit_test(without_ebpf_nothing_can_be_watched),
		cmocka_unit_test(the_hooks_are_there_only_while_a_disk_is_watched),
		cmocka_unit_test(what_is_not_watched_is_not_told),
		cmocka_unit_test(what_waits_of_a_disk_no_longer_watched_is_dropped),
		cmocka_unit_test(overruns_and_wakes_come_by_one_descriptor),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
