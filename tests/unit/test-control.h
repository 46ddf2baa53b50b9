/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tests of the manager's faults share. */

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/log.h"
#include "control/cache-watch.h"
#include "control/caps.h"
#include "control/control-state.h"
#include "control/gather.h"
#include "control/obedience.h"
#include "control/observe.h"
#include "control/rest.h"
#include "control/trust.h"
#include "control/turn.h"
#include "control/waking.h"
#include "control/workload.h"
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

static inline Managed *managed(const Fixture *f, const char *name)
{
	for (size_t i = 0; i < f->control->fleet.n; i++)
		if (streq(f->control->fleet.devices[i]->device->name, name))
			return f->control->fleet.devices[i];
	fail_msg("there is no device %s", name);
	abort(); /* never reached, and the compiler does not know */
}

/* The first device of a node file's text, after a while, with faults to be told. */
static inline Managed *open_faulty(Fixture *f, const char *node, FaultyDevice *faulty)
{
	Managed *md;

	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
	md = f->control->fleet.devices[0];
	faulty_device_wrap(faulty, md->device, &f->loop->clock);
	return md;
}

/* Operations of the device's own, of which some can be replaced then. What it had is returned, to
 * be given back before the end. */
static inline const DeviceOps *replace_ops(Managed *md, DeviceOps *ret)
{
	const DeviceOps *own = md->device->ops;

	*ret = *own;
	md->device->ops = ret;
	return own;
}

static inline HeldKnob *managed_knob(const Fixture *f, const char *device, const char *knob)
{
	Managed *md = managed(f, device);

	for (size_t i = 0; i < knob_count(); i++)
		if (streq(md->knobs.knobs[i].knob->name, knob))
			return &md->knobs.knobs[i];
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

static inline ControlState state_of(Fixture *f)
{
	ControlState s;

	control_note_asked(f->control);
	control_state(f->control, &s);
	return s;
}

/* "": it has none. */
static inline void assert_problem(const Fixture *f, const char *device, const char *part)
{
	DeviceState d;

	assert_int_equal(control_device_by_name(f->control, device, &d), 0);
	if (*part)
		assert_non_null(strstr(d.problem, part));
	else
		assert_string_equal(d.problem, "");
}

static inline void assert_within_budget(Fixture *f)
{
	ControlState s = state_of(f);

	if (!(s.watts.cap_w <= s.budget_w + EPSILON_W))
		print_error("caps %.3f W, budget %.3f W\n", s.watts.cap_w, s.budget_w);
	assert_true(s.watts.cap_w <= s.budget_w + EPSILON_W);
}

/* Cap of a group, and the watts that are 100 % of it. */
static inline double group_w(const Fixture *f, const char *group, double *ret_operating_w)
{
	double w = 0;

	*ret_operating_w = 0;
	for (size_t i = 0; i < f->control->fleet.n; i++) {
		const Managed *md = f->control->fleet.devices[i];

		if (!streq(md->device->group, group))
			continue;
		w += md->caps.now_w;
		*ret_operating_w += md->trust.operating_w;
	}
	return w;
}

static inline size_t count_asleep(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += managed_asleep(f->control->fleet.devices[i]);
	return n;
}

/* why NULL: for whatever reason. */
static inline size_t count_wakeups(const Fixture *f, const char *why)
{
	size_t n = 0;
	const Wakeup *w;

	for (size_t i = 0; (w = control_wakeup(f->control, i)); i++)
		n += !why || streq(w->why, why);
	return n;
}

static inline size_t count_waking(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += waking_under_way(f->control->fleet.devices[i]);
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

	assert_true(f->control->diary.decisions.n_ever <= DIARY_KEPT);
	for (size_t i = 0; i < control_decision_count(f->control); i++) {
		const Decision *d = control_decision(f->control, i);

		n += (!device || streq(d->device, device)) && strstr(d->what, part);
	}
	return n;
}

/* As if a plan had said so. */
static inline void aim_at(Fixture *f, Managed *md, const Setting *s)
{
	f->control->tools.now_us = now_us(f);
	knob_set_aim(md, s, &f->control->tools);
	turn(f->control);
}

/* As if something had made it doubtful what its knobs say. */
static inline void reread(Fixture *f, Managed *md)
{
	errands_ask(md, ERRAND_REREAD);
	turn(f->control);
}

typedef struct Verified {
	bool done;
	size_t n;
	uint32_t checked;
	char first[KNOB_VALUE_MAX * 3]; /* difference, in words */
} Verified;

static inline void note_verified(const VerifyResult *r, void *userdata)
{
	Verified *v = userdata;

	*v = (Verified){ .done = true, .n = r->n, .checked = r->checked };
	if (r->n)
		snprintf(v->first, sizeof(v->first), "%s: %s: \"%.100s\" is held, found \"%.100s\"",
			 r->differences[0].device, r->differences[0].knob,
			 r->differences[0].wanted.text, r->differences[0].found.text);
}

static inline Verified verify_all(Fixture *f)
{
	Verified v = {};

	assert_int_equal(control_verify(f->control, note_verified, &v), 0);
	assert_false(v.done);
	while (!v.done && virtual_loop_step(f->loop))
		;
	assert_true(v.done);
	return v;
}

static inline void assert_no_drift(Fixture *f)
{
	Verified v = verify_all(f);

	if (v.n)
		print_error("%s\n", v.first);
	assert_int_equal(v.n, 0);
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
