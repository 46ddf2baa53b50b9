/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The eBPF meter on the running kernel, counting a loop device of the test's own. */

#include <errno.h>
#include <linux/fs.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "bpf-info.h"
#include "loopdev.h"
#include "meter/meter.h"

#define KIB       1024ULL
#define MIB       (1024 * KIB)
#define SIZE      (256 * MIB)
#define BUFFER    (64 * KIB)
#define ATTEMPTS  5
#define SETTLE_US 50000 /* the kernel adds to stat after it has woken the one who waited */

enum { READS = 0, READ_SECTORS = 2, READ_MS = 3, WRITES = 4, WRITE_SECTORS = 6, QUEUE_MS = 10 };

typedef struct Fixture {
	LoopDev loop;
	Meter *meter;
	Device *device;
	Profile profile;
	void *buffer;
	char *skip_why;
} Fixture;

typedef struct Reading {
	DeviceCounters c;
	uint64_t stat[17];
	BpfFigures program;
} Reading;

static const DeviceOps ops;

static inline int set_up(void **state)
{
	static Fixture f = { .loop.fd = -1 };
	int r;

	*state = &f;
	f.profile.energy[READ_IO][RANDOM_IO] = (Energy){ 200e-6, 4e-6 };
	f.profile.energy[READ_IO][SEQUENTIAL_IO] = (Energy){ 100e-6, 3e-6 };
	f.profile.energy[WRITE_IO][RANDOM_IO] = (Energy){ 400e-6, 9e-6 };
	f.profile.energy[WRITE_IO][SEQUENTIAL_IO] = (Energy){ 50e-6, 8e-6 };
	f.buffer = aligned_alloc(4 * KIB, BUFFER);
	if (!f.buffer || meter_open(true, &f.meter, &f.skip_why) < 0)
		return -1;
	memset(f.buffer, 0x5a, BUFFER);
	if (f.skip_why)
		return 0;
	r = loopdev_create(&f.loop, SIZE);
	if (r < 0) {
		f.skip_why = text_printf("no loop device to be had: %s", strerror(-r));
		return 0;
	}
	f.device = device_new("test", f.loop.name, "test", KIND_NVME, &ops, NULL);
	if (!f.device)
		return -1;
	f.device->devnum = f.loop.devnum;
	f.device->profile = &f.profile;
	return meter_add(f.meter, f.device);
}

static inline int tear_down(void **state)
{
	Fixture *f = *state;

	device_unref(f->device);
	meter_close(f->meter);
	loopdev_detach(&f->loop);
	free(f->buffer);
	free(f->skip_why);
	return 0;
}

static inline Fixture *need(void **state)
{
	Fixture *f = *state;

	if (f->skip_why) {
		print_message("skipped: %s\n", f->skip_why);
		skip();
	}
	assert_int_equal(loopdev_verify(&f->loop), 0);
	return f;
}

static inline Reading take(Fixture *f)
{
	Reading r;

	usleep(SETTLE_US);
	assert_int_equal(meter_read(f->meter, f->device, &r.c), 0);
	assert_int_equal(loopdev_stat(&f->loop, r.stat), 0);
	assert_int_equal(bpf_figures("storpower_meter", &r.program), 0);
	return r;
}

static inline void io(Fixture *f, Direction direction, size_t size, uint64_t offset)
{
	ssize_t n = direction == READ_IO ? pread(f->loop.fd, f->buffer, size, (off_t)offset)
					 : pwrite(f->loop.fd, f->buffer, size, (off_t)offset);

	assert_int_equal(n, size);
}

/* The kernel skips a run that would interrupt another on the same CPU, and says how many it
 * skipped; only a run without any can be compared to the last IO. */
static inline void measure(Fixture *f, void (*work)(Fixture *), Reading *before, Reading *after)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		*before = take(f);
		work(f);
		*after = take(f);
		if (after->program.misses == before->program.misses)
			return;
	}
	fail_msg("the kernel skipped events in each of %d attempts", ATTEMPTS);
}
