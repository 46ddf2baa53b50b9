/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Joules in the kernel, cgroups and overruns, by known IO on a loop device of our own.
 */

#include "test-meter-bpf.h"

#include <bpf/libbpf.h>
#include <poll.h>

#include "meter-counters.h"

enum { READS_4K = 40, WRITES_64K = 24, WRITES_16K = 10 };

/* Far from one another: all random. */
static void random_io(Fixture *f)
{
	for (unsigned i = 0; i < READS_4K; i++)
		io(f, READ_IO, 4 * KIB, (i * 17 % READS_4K) * 4 * MIB + MIB);
	for (unsigned i = 0; i < WRITES_64K; i++)
		io(f, WRITE_IO, 64 * KIB, (i * 7 % WRITES_64K) * 8 * MIB + 4 * MIB);
	for (unsigned i = 0; i < WRITES_16K; i++)
		io(f, WRITE_IO, 16 * KIB, (i * 3 % WRITES_16K) * 16 * MIB + 2 * MIB);
}

static double random_io_joules(const Fixture *f)
{
	const Energy *r = &f->profile.energy[READ_IO][RANDOM_IO],
		     *w = &f->profile.energy[WRITE_IO][RANDOM_IO];

	return READS_4K * (r->io_j + r->page_j) + WRITES_64K * (w->io_j + 16 * w->page_j) +
	       WRITES_16K * (w->io_j + 4 * w->page_j);
}

/* Tenths of a nanojoule, as the kernel counts. */
static int64_t whole(double joules)
{
	return llround(joules * 1e10);
}

static void joules_of_the_kernel_are_those_of_the_counters_exactly(void **state)
{
	Fixture *f = need(state);
	Reading a, b;

	measure(f, random_io, &a, &b);
	assert_int_equal(b.c.sequential_ios, a.c.sequential_ios);
	assert_int_equal(whole(b.c.joules) - whole(a.c.joules), whole(random_io_joules(f)));
}

static void cgroups_add_up_to_the_device(void **state)
{
	_cleanup_free_ MeterCgroup *cgroups = NULL;
	DeviceCounters all = { 0 };
	Fixture *f = need(state);
	double latency_us = 0, joules = 0;
	Reading r;
	size_t n;

	random_io(f);
	r = take(f);
	assert_int_equal(meter_cgroups(f->meter, &cgroups, &n), 0);
	assert_true(n >= 1);
	for (size_t i = 0; i < n; i++) {
		const DeviceCounters *c = &cgroups[i].counters;

		assert_true(cgroups[i].devnum == f->loop.devnum);
		assert_true(*cgroups[i].name || cgroups[i].gone);
		print_message("cgroup %s: %llu IOs, %.6f J\n", cgroups[i].name,
			      (unsigned long long)(c->ios[0] + c->ios[1]), c->joules);
		for (int d = 0; d < _DIRECTION_MAX; d++) {
			all.ios[d] += c->ios[d];
			all.bytes[d] += c->bytes[d];
		}
		all.sequential_ios += c->sequential_ios;
		latency_us += c->latency_us;
		joules += c->joules;
	}
	assert_memory_equal(all.ios, r.c.ios, sizeof(all.ios));
	assert_memory_equal(all.bytes, r.c.bytes, sizeof(all.bytes));
	assert_int_equal(all.sequential_ios, r.c.sequential_ios);
	assert_float_equal(latency_us, r.c.latency_us, 1e-3);
	assert_float_equal(joules, r.c.joules, 1e-9);
	assert_true(r.c.has_uncontrolled);
}

static void what_the_root_cgroup_did_is_uncontrolled(void **state)
{
	_cleanup_free_ MeterCgroup *cgroups = NULL;
	Fixture *f = need(state);
	DeviceCounters root = { 0 };
	Reading r;
	size_t n;

	r = take(f);
	assert_int_equal(meter_cgroups(f->meter, &cgroups, &n), 0);
	for (size_t i = 0; i < n; i++)
		if (streq(cgroups[i].name, "/"))
			root = cgroups[i].counters;
	assert_int_equal(r.c.uncontrolled_ios, root.ios[READ_IO] + root.ios[WRITE_IO]);
	assert_int_equal(r.c.uncontrolled_bytes, root.bytes[READ_IO] + root.bytes[WRITE_IO]);
	assert_float_equal(r.c.uncontrolled_joules, root.joules, 0);
}

/* The map of cgroups of the meter of this process: others may have meters, too. */
static int map_of_cgroups(void)
{
	for (int fd = 0; fd < 256; fd++) {
		struct bpf_map_info info = { 0 };
		__u32 size = sizeof(info);

		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && streq(info.name, "cgroups") &&
		    info.value_size == sizeof(struct meter_counters))
			return dup(fd);
	}
	fail();
	return -1;
}

/* Cgroups that never were, each with one read of one sector, until no more fit. How many. */
static unsigned fill(const Fixture *f, int map)
{
	int n_cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct meter_counters *per_cpu = calloc(n_cpus, sizeof(*per_cpu));
	struct meter_cgroup_key key = { .dev = METER_DEV(major(f->loop.devnum),
							 minor(f->loop.devnum)) };
	unsigned n = 0;
	int r;

	per_cpu[0].ios[READ_IO][RANDOM_IO] = 1;
	per_cpu[0].bytes[READ_IO][RANDOM_IO] = 512;
	key.cgroup = 1ULL << 60;
	do {
		r = bpf_map_update_elem(map, &key, per_cpu, BPF_NOEXIST);
		n += r == 0;
		key.cgroup += r == 0;
		if (r == -ENOMEM)
			usleep(1000); /* the kernel refills its store in the background */
	} while (r == 0 || r == -ENOMEM);
	assert_int_equal(r, -E2BIG);
	return n;
}

static void too_many_cgroups_are_counted_as_others_and_none_is_lost(void **state)
{
	_cleanup_close_ int map = map_of_cgroups();
	_cleanup_free_ MeterCgroup *cgroups = NULL;
	Fixture *f = need(state);
	unsigned invented;
	Reading r;
	size_t n;

	meter_remove(f->meter, f->device);
	assert_int_equal(meter_add(f->meter, f->device), 0);
	invented = fill(f, map);
	assert_in_range(invented, METER_CGROUPS_MAX / 2, METER_CGROUPS_MAX);
	random_io(f);
	r = take(f);
	assert_int_equal(r.c.ios[READ_IO], READS_4K);
	assert_int_equal(meter_cgroups(f->meter, &cgroups, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(cgroups[0].name, "(others)");
	assert_int_equal(cgroups[0].counters.ios[READ_IO], READS_4K + invented);
	assert_int_equal(cgroups[0].counters.ios[WRITE_IO], WRITES_16K + WRITES_64K);
	/* and there is room again */
	free(TAKE_PTR(cgroups));
	random_io(f);
	take(f);
	assert_int_equal(meter_cgroups(f->meter, &cgroups, &n), 0);
	assert_int_equal(n, 2);
	meter_remove(f->meter, f->device);
	assert_int_equal(meter_add(f->meter, f->device), 0);
}

typedef struct Told {
	unsigned times;
	dev_t devnum;
	double joules, seconds;
} Told;

static void note(dev_t devnum, double joules, double seconds, void *userdata)
{
	Told *t = userdata;

	t->times++;
	t->devnum = devnum;
	t->joules = joules;
	t->seconds = seconds;
}

static bool is_readable(const Fixture *f)
{
	struct pollfd p = { .fd = meter_fd(f->meter), .events = POLLIN };

	assert_true(p.fd >= 0);
	return poll(&p, 1, 200) == 1;
}

static Told process(Fixture *f)
{
	Told t = { 0 };
	int r = meter_process(f->meter, note, NULL, &t);

	assert_true(r >= (int)t.times);
	return t;
}

/* A window of ten minutes holds all of the test's IO. */
#define LONG_US   (600 * USEC_PER_SEC)
#define WINDOW_US (100 * USEC_PER_MSEC)

static void allow(Fixture *f, double joules)
{
	assert_int_equal(meter_set_cap_window(f->meter, f->device, joules / 600, LONG_US), 0);
	process(f);
}

static void a_window_over_its_cap_wakes_once(void **state)
{
	Fixture *f = need(state);
	double joules = random_io_joules(f);
	Told t;

	allow(f, 0.5 * joules);
	random_io(f);
	assert_true(is_readable(f));
	t = process(f);
	assert_int_equal(t.times, 1);
	assert_true(t.devnum == f->loop.devnum);
	/* at the very IO that crossed it */
	assert_true(t.joules > 0.5 * joules && t.joules < 0.5 * joules + 1e-3);
	assert_float_equal(t.seconds, 600, 1e-9);
	random_io(f);
	assert_int_equal(process(f).times, 0);
	assert_false(is_readable(f));
}

static void a_window_within_its_cap_is_silent(void **state)
{
	Fixture *f = need(state);

	allow(f, 1.01 * random_io_joules(f));
	random_io(f);
	assert_false(is_readable(f));
	assert_int_equal(process(f).times, 0);
	/* the next IO is one too many */
	random_io(f);
	assert_int_equal(process(f).times, 1);
}

static void each_window_tells_for_itself(void **state)
{
	uint64_t begin_us = clock_now_us(&clock_boottime);
	Fixture *f = need(state);
	Told t;

	assert_int_equal(meter_set_cap_window(f->meter, f->device, 1e-3, WINDOW_US), 0);
	process(f);
	for (int i = 0; i < 3; i++) {
		random_io(f);
		usleep(2 * WINDOW_US);
	}
	t = process(f);
	/* a round may last longer than one window */
	assert_in_range(t.times, 3, (clock_now_us(&clock_boottime) - begin_us) / WINDOW_US + 1);
	assert_float_equal(t.seconds, 0.1, 1e-9);
}

static void without_a_cap_nothing_is_told(void **state)
{
	Fixture *f = need(state);

	allow(f, 1e-6);
	random_io(f);
	/* what waits is of a cap that is no more */
	assert_int_equal(meter_set_cap_window(f->meter, f->device, INFINITY, WINDOW_US), 0);
	assert_int_equal(process(f).times, 0);
	random_io(f);
	assert_int_equal(process(f).times, 0);
}

static void the_cap_of_what_is_not_counted_is_refused(void **state)
{
	_cleanup_(meter_closep) Meter *m = NULL;
	_cleanup_free_ char *why_not = NULL;
	Fixture *f = need(state);
	MeterCgroup *c;
	size_t n;

	assert_int_equal(meter_open(false, &m, &why_not), 0);
	assert_int_equal(meter_set_cap_window(m, f->device, 1, WINDOW_US), -EOPNOTSUPP);
	assert_int_equal(meter_cgroups(m, &c, &n), -EOPNOTSUPP);
	assert_int_equal(meter_fd(m), -EOPNOTSUPP);
	assert_int_equal(meter_process(m, note, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joules_of_the_kernel_are_those_of_the_counters_exactly),
		cmocka_unit_test(cgroups_add_up_to_the_device),
		cmocka_unit_test(what_the_root_cgroup_did_is_uncontrolled),
		cmocka_unit_test(too_many_cgroups_are_counted_as_others_and_none_is_lost),
		cmocka_unit_test(a_window_over_its_cap_wakes_once),
		cmocka_unit_test(a_window_within_its_cap_is_silent),
		cmocka_unit_test(each_window_tells_for_itself),
		cmocka_unit_test(without_a_cap_nothing_is_told),
		cmocka_unit_test(the_cap_of_what_is_not_counted_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
