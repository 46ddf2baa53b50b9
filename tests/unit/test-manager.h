/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tests of the manager's faults share. */

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/log.h"
#include "control/manager-internal.h"
#include "faulty-device.h"
#include "given-back.h"
#include "sim-fixture.h"

#define EPSILON_W 1e-6

/* Node files for fixture_open_text(): SIM_NODE("balanced") SIM_FLASH "demand = saturate\n" */
#define SIM_NODE(policy)                                                                           \
	"[node]\nname = test\nseed = 1\nmodel_error = 2%\nnoise = 0%\nsensors = none\n"            \
	"policy = " policy "\n"
#define SIM_FLASH                                                                                  \
	"[devices flash]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 4\nread = 40%\n"        \
	"random = 100%\nread_size = 16K\nwrite_size = 128K\ndepth = 64\n"
#define SIM_DISK                                                                                   \
	"[devices disk]\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 60%\n"          \
	"random = 70%\nread_size = 256K\nwrite_size = 256K\ndepth = 16\n"

static inline uint64_t now_us(const Fixture *f)
{
	return clock_now_us(&f->loop->clock);
}

static inline ManagedDevice *managed(const Fixture *f, const char *name)
{
	for (size_t i = 0; i < f->manager->n_devices; i++)
		if (streq(f->manager->devices[i]->device->name, name))
			return f->manager->devices[i];
	fail_msg("there is no device %s", name);
	return NULL;
}

/* The first device of a node file's text, after a while, with faults to be told. */
static inline ManagedDevice *open_faulty(Fixture *f, const char *node, FaultyDevice *faulty)
{
	ManagedDevice *md;

	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
	md = f->manager->devices[0];
	faulty_device_wrap(faulty, md->device, &f->loop->clock);
	return md;
}

/* Operations of the device's own, of which some can be replaced then. What it had is returned, to
 * be given back before the end. */
static inline const DeviceOps *replace_ops(ManagedDevice *md, DeviceOps *ret)
{
	const DeviceOps *own = md->device->ops;

	*ret = *own;
	md->device->ops = ret;
	return own;
}

static inline ManagedKnob *managed_knob(const Fixture *f, const char *device, const char *knob)
{
	ManagedDevice *md = managed(f, device);

	for (size_t i = 0; i < knob_count(); i++)
		if (streq(md->knobs[i].knob->name, knob))
			return &md->knobs[i];
	fail_msg("there is no knob %s", knob);
	return NULL;
}

/* What the device itself says. */
static inline KnobValue value_of(const Fixture *f, const char *device, const char *knob)
{
	KnobValue v;

	assert_int_equal(managed_knob(f, device, knob)->knob->read(managed(f, device)->device, &v),
			 0);
	return v;
}

static inline uint64_t limit(Fixture *f, ClaimScope scope, const char *target, double percent)
{
	Claim c = { .class = CLASS_OPERATOR,
		    .scope = scope,
		    .target = (char *)target,
		    .limit = percent,
		    .unit = LIMIT_PERCENT,
		    .source = "test",
		    .reason = "",
		    .expiry_us = USEC_NEVER };

	return fixture_claim(f, &c);
}

static inline ManagerState state_of(Fixture *f)
{
	ManagerState s;

	manager_state(f->manager, &s);
	return s;
}

static inline void assert_within_budget(Fixture *f)
{
	ManagerState s = state_of(f);

	if (!(s.cap_w <= s.budget_w + EPSILON_W))
		print_error("caps %.3f W, budget %.3f W\n", s.cap_w, s.budget_w);
	assert_true(s.cap_w <= s.budget_w + EPSILON_W);
}

/* Cap of a group, and its rated watts. */
static inline double group_w(const Fixture *f, const char *group, double *ret_rated_w)
{
	double w = 0;

	*ret_rated_w = 0;
	for (size_t i = 0; i < f->manager->n_devices; i++) {
		const ManagedDevice *md = f->manager->devices[i];

		if (!streq(md->device->group, group))
			continue;
		w += md->cap_w;
		*ret_rated_w += md->device->profile->rated_w;
	}
	return w;
}

static inline size_t count_asleep(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->manager->n_devices; i++)
		n += managed_asleep(f->manager->devices[i]);
	return n;
}

/* why NULL: for whatever reason. */
static inline size_t count_wakeups(const Fixture *f, const char *why)
{
	size_t n = 0;
	const Wakeup *w;

	for (size_t i = 0; (w = manager_wakeup(f->manager, i)); i++)
		n += !why || streq(w->why, why);
	return n;
}

static inline size_t count_waking(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->manager->n_devices; i++)
		n += managed_waking(f->manager, f->manager->devices[i]);
	return n;
}

static inline SimAccount account_of(const Fixture *f, const char *device)
{
	SimAccount a;

	assert_int_equal(sim_node_account(f->node, device, &a), 0);
	return a;
}

/* Of all devices. */
static inline SimAccount account_of_all(const Fixture *f)
{
	SimAccount sum = {};

	for (size_t i = 0; i < sim_node_size(f->node); i++) {
		SimAccount a = account_of(f, sim_node_device(f->node, i)->name);

		sim_account_add(&sum, &a);
	}
	return sum;
}

/* Decisions ever made whose text has that part; device NULL: of any. */
static inline size_t count_decisions(const Fixture *f, const char *device, const char *part)
{
	size_t n = 0;

	assert_true(f->manager->n_decisions <= DECISIONS_KEPT);
	for (size_t i = 0; i < manager_decision_count(f->manager); i++) {
		const Decision *d = manager_decision(f->manager, i);

		n += (!device || streq(d->device, device)) && strstr(d->what, part);
	}
	return n;
}

static inline void assert_no_drift(Fixture *f)
{
	for (size_t i = 0; i < manager_device_count(f->manager); i++) {
		_cleanup_free_ KnobState *knobs = NULL;
		size_t n;

		assert_int_equal(manager_verify_device(f->manager, i, &knobs, &n), 0);
		for (size_t k = 0; k < n; k++) {
			if (knobs[k].differs)
				print_error("%s: %s: \"%s\" is held, found \"%s\"\n",
					    f->manager->devices[i]->device->name, knobs[k].name,
					    knobs[k].wanted, knobs[k].found);
			assert_false(knobs[k].differs);
		}
	}
}

static inline void assert_journal_empty(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
}

static inline void assert_as_found(Fixture *f, const char *before)
{
	_cleanup_free_ char *after = fixture_dump(f);

	assert_string_equal(before, after);
}

/* The same, but for disks that sleep on. */
static inline void assert_given_back(Fixture *f, const char *before)
{
	_cleanup_free_ char *after = fixture_dump(f);

	overlook_sleep(after);
	assert_string_equal(before, after);
}

/* A daemon that lives in a child and is killed at the end of it; the node lives on in `dir`. */
static inline void live_and_be_killed(const char *dir, const char *node, void (*life)(Fixture *f))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		Fixture f = {};

		fixture_open_in(&f, node, dir);
		fixture_start(&f);
		life(&f);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
