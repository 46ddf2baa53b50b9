/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A simulated node on virtual time, for the tests of it. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "sim/simulated.h"

#define NODES_MAX 128

typedef struct Rig {
	uint64_t now_us; /* virtual; set it back to play a job that ran ahead */
	Clock clock;
	ProfileStore *profiles;
	Inventory *node;
	Device *devices[NODES_MAX]; /* present now, by DEVICE_ADDED */
	size_t n_devices;
	size_t added, removed, reset; /* events seen */
	char folder[32];
	char *node_path, *registers_path;
} Rig;

static inline uint64_t rig_now(void *userdata)
{
	return ((Rig *)userdata)->now_us;
}

static inline void rig_sleep(void *userdata, uint64_t us)
{
	((Rig *)userdata)->now_us += us;
}

static inline void rig_pass(Rig *r, double s)
{
	r->now_us += (uint64_t)(s * USEC_PER_SEC);
}

static inline void rig_event(Device *d, DeviceEvent event, void *userdata)
{
	Rig *r = userdata;

	r->added += event == DEVICE_ADDED;
	r->removed += event == DEVICE_REMOVED;
	r->reset += event == DEVICE_RESET;
	if (event == DEVICE_ADDED) {
		assert_true(r->n_devices < NODES_MAX);
		r->devices[r->n_devices++] = d;
	}
	for (size_t i = 0; event == DEVICE_REMOVED && i < r->n_devices; i++)
		if (r->devices[i] == d)
			r->devices[i] = r->devices[--r->n_devices];
}

static inline void rig_new(Rig *r)
{
	static const char *const profiles[] = { "policies/profiles", NULL };

	memset(r, 0, sizeof(*r));
	r->now_us = 1000 * USEC_PER_SEC;
	r->clock = (Clock){ rig_now, rig_sleep, r };
	snprintf(r->folder, sizeof(r->folder), "/tmp/test-sim-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	r->node_path = text_printf("%s/test.node", r->folder);
	r->registers_path = text_printf("%s/registers", r->folder);
	assert_int_equal(profile_store_read(profiles, &r->profiles), 0);
}

static inline int rig_try(Rig *r, const char *path, const char *registers)
{
	return sim_node_open(path, registers, r->profiles, &r->clock, &r->node);
}

static inline void rig_open_file(Rig *r, const char *path, const char *registers)
{
	assert_int_equal(rig_try(r, path, registers), 0);
	r->n_devices = 0;
	assert_int_equal(inventory_start(r->node, rig_event, r), 0);
}

/* A node file of the given text. */
static inline void rig_write(Rig *r, const char *text)
{
	assert_int_equal(write_file_atomic(r->node_path, text, 0644), 0);
}

static inline void rig_open(Rig *r, const char *text)
{
	rig_write(r, text);
	rig_open_file(r, r->node_path, NULL);
}

static inline void rig_close(Rig *r)
{
	r->node = inventory_free(r->node);
}

static inline void rig_free(Rig *r)
{
	rig_close(r);
	profile_store_free(r->profiles);
	unlink(r->node_path);
	unlink(r->registers_path);
	rmdir(r->folder);
	free(r->node_path);
	free(r->registers_path);
}

static inline Device *rig_device(Rig *r, const char *name)
{
	for (size_t i = 0; i < r->n_devices; i++)
		if (streq(r->devices[i]->name, name))
			return r->devices[i];
	fail_msg("no device %s", name);
	abort(); /* never reached, and the compiler does not know */
}

static inline void expect_attr(Device *d, const char *attr, const char *expected)
{
	char buf[256];

	assert_int_equal(d->ops->attr_read(d, attr, buf, sizeof(buf)), 0);
	assert_string_equal(buf, expected);
}

static inline int set_attr(Device *d, const char *attr, const char *value)
{
	return d->ops->attr_write(d, attr, value);
}

static inline double rig_watts(Rig *r)
{
	return sim_node_true_watts(r->node);
}

#define NODE_HEAD "[node]\nname = test\nseed = 7\nmodel_error = 3%\nsensors = all\n"
#define NVME_SATURATED                                                                             \
	"[devices flash]\nprofile = samsung-pm9a3\nread = 0%\nread_size = 4K\n"                    \
	"write_size = 256K\ndepth = 64\ndemand = saturate\n"
#define NVME_IDLE "[devices flash]\nprofile = samsung-pm9a3\ndemand = idle\n"
#define DISK_IDLE "[devices disk]\nprofile = seagate-exos-7e2000\ndemand = idle\n"
