/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Simulated disks behind a cache, for the tests of them. */

#include "test-sim.h"

#include <math.h>

#include "sim/sim-device.h"

#define GIB 1073741824.0

/* 20 MB/s of writes, all sequential, to a disk with a cache of 100 GiB. */
#define LANDING "[devices landing]\nprofile = samsung-pm9a3\ndemand = idle\n"
#define INGEST_OF(share)                                                                           \
	"[devices ingest]\nprofile = seagate-constellation-es2\nread = 0%\nrandom = " share "\n"   \
	"write_size = 256K\ndepth = 8\ncache = landing\ncache_size = 100G\n"
#define INGEST INGEST_OF("0%")
#define READS                                                                                      \
	"[devices store]\nprofile = seagate-constellation-es2\nread = 100%\nread_size = 256K\n"    \
	"depth = 8\ncache = landing\ncached_reads = "
#define WRITES INGEST "demand = constant 20\n"

static inline const SimTruth *truth_of(Device *d)
{
	return &((SimDevice *)d->impl)->record->truth;
}

/* Now: what is looked at has to be moved on first. */
static inline double dirty_of(Device *d)
{
	DeviceCounters c;

	assert_int_equal(d->ops->counters(d, &c), 0);
	return truth_of(d)->dirty_bytes;
}

static inline SimAccount account_of(Rig *r, const char *name)
{
	SimAccount a = { 0 };

	assert_int_equal(sim_node_account(r->node, name, &a), 0);
	return a;
}

static inline int read_bcache(Device *d, const char *attr, char *buf, size_t size)
{
	_cleanup_free_ char *path = text_printf("bcache/%s", attr);

	return d->ops->attr_read(d, path, buf, size);
}

static inline int write_bcache(Device *d, const char *attr, const char *value)
{
	_cleanup_free_ char *path = text_printf("bcache/%s", attr);

	return d->ops->attr_write(d, path, value);
}

static inline void expect_bcache(Device *d, const char *attr, const char *expected)
{
	char buf[256];

	assert_int_equal(read_bcache(d, attr, buf, sizeof(buf)), 0);
	assert_string_equal(buf, expected);
}

static inline void set_bcache(Device *d, const char *attr, const char *value)
{
	assert_int_equal(write_bcache(d, attr, value), 0);
}

/* What the redirect knob does: nothing is written back, nothing goes past the cache. */
static inline void hold(Device *d)
{
	set_bcache(d, "writeback_running", "0");
	set_bcache(d, "sequential_cutoff", "0");
}

static inline void drain(Device *d)
{
	set_bcache(d, "writeback_percent", "0");
	set_bcache(d, "writeback_running", "1");
}

static inline void sleep_now(Device *d)
{
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
}

static inline Condition condition_of(Device *d)
{
	Condition c = _CONDITION_MAX;

	assert_int_equal(d->ops->condition_get(d, &c), 0);
	return c;
}

static inline uint64_t written_to(Device *d)
{
	DeviceCounters c;

	assert_int_equal(d->ops->counters(d, &c), 0);
	return c.bytes[WRITE_IO];
}
