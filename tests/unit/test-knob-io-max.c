/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* io.max on a device whose cgroup files are this test's: they answer as block/blk-throttle.c does
 * up to 6.12. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "knob/cgroup-io.h"
#include "knob/mechanisms.h"

#define CGROUPS_MAX 8

typedef struct FakeCgroup {
	const char *name;
	char max[128];
	char stat[128];
} FakeCgroup;

typedef struct FakeTree {
	const char *controllers, *subtree;
	FakeCgroup at[CGROUPS_MAX];
	const Profile *profile;
	Mix mix;          /* the workload */
	double highest_w; /* of all together, over every write */
	unsigned writes;
	int fail;
} FakeTree;

static FakeCgroup *find(FakeTree *t, const char *file)
{
	for (FakeCgroup *c = t->at; c->name; c++)
		if (strncmp(file, c->name, strlen(c->name)) == 0 && file[strlen(c->name)] == '/')
			return c;
	return NULL;
}

static int cgroup_read(Device *d, const char *file, char *buf, size_t size)
{
	FakeTree *t = d->impl;
	const FakeCgroup *c = find(t, file);
	const char *text = streq(file, "cgroup.controllers")       ? t->controllers
			   : streq(file, "cgroup.subtree_control") ? t->subtree
			   : c && strstr(file, "/io.max")          ? c->max
			   : c && strstr(file, "/io.stat")         ? c->stat
								   : NULL;

	if (!t->controllers)
		return -EOPNOTSUPP;
	if (!text)
		return -ENOENT;
	snprintf(buf, size, "%s", text);
	return 0;
}

static void note_total(FakeTree *t)
{
	IoLimits sum = {};

	for (const FakeCgroup *c = t->at; c->name; c++) {
		IoLimits l;

		assert_int_equal(io_limits_parse(c->max, &l), 0);
		for (int k = 0; k < _IO_LIMIT_MAX; k++)
			sum.at[k] += l.at[k];
	}
	t->highest_w = MAX(t->highest_w, io_limits_watts(t->profile, &sum));
}

/* A line of which nothing is left disappears. */
static int cgroup_write(Device *d, const char *file, const char *line)
{
	FakeTree *t = d->impl;
	FakeCgroup *c = find(t, file);
	IoLimits l;

	if (t->fail)
		return t->fail;
	if (!c)
		return -ENOENT;
	assert_int_equal(io_limits_parse(line, &l), 0);
	for (int k = 0; k < _IO_LIMIT_MAX; k++)
		if (l.at[k] < 2)
			return -EINVAL;
	snprintf(c->max, sizeof(c->max), "%s", io_limits_any(&l) ? line : "");
	t->writes++;
	note_total(t);
	return 0;
}

static int cgroup_list(Device *d, char ***ret)
{
	const FakeTree *t = d->impl;
	char **names = calloc(CGROUPS_MAX + 1, sizeof(*names));

	assert_non_null(names);
	for (size_t i = 0; t->at[i].name; i++)
		names[i] = strdup(t->at[i].name);
	*ret = names;
	return 0;
}

static const DeviceOps fake_ops = {
	.cgroup_read = cgroup_read,
	.cgroup_write = cgroup_write,
	.cgroup_list = cgroup_list,
};

/* 2 and 4 mJ an IO, less when sequential, 20 and 40 uJ a page. */
static const Profile profile = {
	.rated_w = 25,
	.energy = { [READ_IO] = { { 2e-3, 20e-6 }, { 1e-3, 20e-6 } },
		    [WRITE_IO] = { { 4e-3, 40e-6 }, { 2e-3, 40e-6 } } },
};

static FakeTree tree(void)
{
	return (FakeTree){
		.controllers = "cpu io",
		.subtree = "io",
		.at = { { .name = "init.scope" },
			{ .name = "system.slice" },
			{ .name = "user.slice" } },
		.profile = &profile,
		.mix = MIX_UNKNOWN,
	};
}

static Device *fake_device(FakeTree *t)
{
	Device *d = device_new("id", "fake0", "fake", KIND_NVME, &fake_ops, t);

	assert_non_null(d);
	d->profile = t->profile;
	return d;
}

static int pace(Device *d, double watts)
{
	const FakeTree *t = d->impl;
	Setting s = { .power_state = -1, .pace_w = watts };
	const KnobValue original = { "max" };
	KnobValue wanted;

	assert_int_equal(knob_want(&knob_io_max, d, &s, &t->mix, &original, &wanted), 0);
	return knob_apply(&knob_io_max, d, &wanted, NULL);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static double random_to(uint64_t *seed, double most)
{
	return most * (double)next_random(seed) / (double)(1ULL << 31);
}

/* What the device draws when its IO is of these counts, sizes and patterns. */
static double workload_watts(const double at[_IO_LIMIT_MAX], const Pattern pattern[])
{
	double watts = 0;

	for (int dir = 0; dir < _DIRECTION_MAX; dir++) {
		const Energy *e = &profile.energy[dir][pattern[dir]];

		watts += at[LIMIT_RIOPS + dir] * e->io_j + at[LIMIT_RBPS + dir] / 4096 * e->page_j;
	}
	return watts;
}

static void no_workload_within_the_limits_exceeds_the_watts(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		Mix mix = { .read_share = random_to(&seed, 1),
			    .random_share = random_to(&seed, 1),
			    .read_kib = random_to(&seed, 1024),
			    .write_kib = random_to(&seed, 1024) };
		double watts = io_limits_least_watts(&profile) + random_to(&seed, 20);
		IoLimits l;

		io_limits_for(&profile, &mix, watts, &l);
		assert_true(io_limits_watts(&profile, &l) <= watts * (1 + 1e-9));
		assert_true(io_limits_watts(&profile, &l) >= watts - 0.01);
		for (int j = 0; j < 100; j++) {
			const Pattern pattern[] = { (Pattern)(next_random(&seed) % 2),
						    (Pattern)(next_random(&seed) % 2) };
			double at[_IO_LIMIT_MAX];

			for (int k = 0; k < _IO_LIMIT_MAX; k++)
				at[k] = j % 3 ? random_to(&seed, l.at[k]) : l.at[k];
			assert_true(workload_watts(at, pattern) <= watts * (1 + 1e-9));
		}
	}
}

/* All four limits bind at once; what is reserved for others apart. */
static void the_present_mix_gets_nearly_all_of_it(void **state)
{
	const Mix mix = { .read_share = 0.5, .random_share = 1, .read_kib = 16, .write_kib = 128 };
	IoLimits l;
	double iops;

	(void)state;
	io_limits_for(&profile, &mix, 5, &l);
	iops = MIN(MIN(2 * l.at[LIMIT_RIOPS], 2 * l.at[LIMIT_WIOPS]),
		   MIN(2 * l.at[LIMIT_RBPS] / (16 * 1024), 2 * l.at[LIMIT_WBPS] / (128 * 1024)));
	assert_true(iops * mix_io_joules(&profile, &mix) > 0.85 * 5);
}

static void neither_direction_nor_size_starves(void **state)
{
	const Mix mix = { .read_share = 1, .random_share = 1, .read_kib = 4 };
	IoLimits l;

	(void)state;
	io_limits_for(&profile, &mix, 5, &l);
	assert_true(l.at[LIMIT_WIOPS] * 4e-3 >= 0.05 * 5 * 0.1);
	assert_true(l.at[LIMIT_WBPS] >= 1 << 20);
	assert_true(l.at[LIMIT_RBPS] / 4096 * 20e-6 >= 0.05 * 5);
}

static void limits_are_divided_by_what_each_cgroup_did_lately(void **state)
{
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);
	IoLimits first, system, user;
	KnobValue sum;

	(void)state;
	snprintf(t.at[1].stat, sizeof(t.at[1].stat), "rbytes=409600 wbytes=0 rios=900 wios=0");
	snprintf(t.at[2].stat, sizeof(t.at[2].stat), "rbytes=409600 wbytes=4096 rios=100 wios=1");
	assert_int_equal(pace(d, 5), 0);
	assert_int_equal(io_limits_parse(t.at[1].max, &system), 0);
	assert_int_equal(io_limits_parse(t.at[2].max, &user), 0);
	assert_true(system.at[LIMIT_RIOPS] > 5 * user.at[LIMIT_RIOPS]);
	assert_true(fabs(system.at[LIMIT_RBPS] - user.at[LIMIT_RBPS]) <= 1);
	assert_true(user.at[LIMIT_WIOPS] > 5 * system.at[LIMIT_WIOPS]);
	assert_int_equal(io_limits_parse(t.at[0].max, &first), 0);
	assert_true(first.at[LIMIT_RIOPS] >= 2 && first.at[LIMIT_RBPS] > 65536);

	/* since then only the other one did any */
	snprintf(t.at[2].stat, sizeof(t.at[2].stat), "rbytes=409600 wbytes=4096 rios=600 wios=1");
	assert_int_equal(pace(d, 4), 0);
	assert_int_equal(io_limits_parse(t.at[1].max, &system), 0);
	assert_int_equal(io_limits_parse(t.at[2].max, &user), 0);
	assert_true(user.at[LIMIT_RIOPS] > 5 * system.at[LIMIT_RIOPS]);

	/* to the last unit */
	assert_int_equal(knob_io_max.read(d, &sum), 0);
	assert_int_equal(io_limits_parse(sum.text, &first), 0);
	io_limits_for(&profile, &t.mix, 4, &system);
	assert_memory_equal(&first, &system, sizeof(first));
}

static void all_together_never_may_do_more_on_the_way(void **state)
{
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);

	(void)state;
	assert_int_equal(pace(d, 5), 0);
	snprintf(t.at[1].stat, sizeof(t.at[1].stat), "rbytes=4096000 wbytes=9 rios=900 wios=90");
	t.highest_w = 0;
	t.mix.read_share = 0.2;
	assert_int_equal(pace(d, 5), 0);
	assert_true(t.writes > 3);
	assert_true(t.highest_w > 4.9 && t.highest_w <= 5);
	t.highest_w = 0;
	assert_int_equal(pace(d, 2), 0);
	assert_true(t.highest_w <= 5);
}

static void a_drifting_mix_is_not_worth_a_write(void **state)
{
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);
	const Setting s = { .power_state = -1, .pace_w = 5 },
		      less = { .power_state = -1, .pace_w = 4 };
	KnobValue original = { "max" }, found, wanted;

	(void)state;
	assert_int_equal(pace(d, 5), 0);
	assert_int_equal(knob_io_max.read(d, &found), 0);
	t.mix.read_share += 0.05;
	assert_int_equal(knob_want(&knob_io_max, d, &s, &t.mix, &original, &wanted), 0);
	assert_string_not_equal(wanted.text, found.text);
	assert_true(knob_fulfils(&knob_io_max, d, &wanted, &found));
	t.mix.read_share = 0.1;
	assert_int_equal(knob_want(&knob_io_max, d, &s, &t.mix, &original, &wanted), 0);
	assert_false(knob_fulfils(&knob_io_max, d, &wanted, &found));
	assert_int_equal(knob_want(&knob_io_max, d, &less, &t.mix, &original, &wanted), 0);
	assert_false(knob_fulfils(&knob_io_max, d, &wanted, &found));
	assert_false(knob_fulfils(&knob_io_max, d, &original, &found));
}

static void a_cgroup_that_came_unlimited_is_noticed(void **state)
{
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);
	const Setting s = { .power_state = -1, .pace_w = 5 };
	KnobValue original = { "max" }, found, wanted;

	(void)state;
	assert_int_equal(pace(d, 5), 0);
	t.at[3].name = "machine.slice";
	assert_int_equal(knob_want(&knob_io_max, d, &s, &t.mix, &original, &wanted), 0);
	assert_int_equal(knob_io_max.read(d, &found), 0);
	assert_false(knob_fulfils(&knob_io_max, d, &wanted, &found));
	assert_int_equal(pace(d, 5), 0);
	assert_true(*t.at[3].max);
}

static void release_leaves_no_line(void **state)
{
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);
	KnobValue v;

	(void)state;
	assert_int_equal(knob_io_max.read(d, &v), 0);
	assert_string_equal(v.text, "max");
	assert_int_equal(pace(d, 5), 0);
	t.fail = -EIO;
	assert_int_equal(pace(d, 0), -EIO);
	t.fail = 0;
	assert_int_equal(pace(d, 0), 0);
	for (size_t i = 0; t.at[i].name; i++)
		assert_string_equal(t.at[i].max, "");
}

static void expect_why_not(FakeTree *t, unsigned mechanisms, const char *words)
{
	_cleanup_(device_unrefp) Device *d = fake_device(t);
	_cleanup_free_ char *why = NULL;
	Offer o = { .mechanisms = mechanisms };

	assert_int_equal(knob_io_max.probe(d, &o, &why), -EOPNOTSUPP);
	if (!strstr(why, words))
		fail_msg("\"%s\" does not say \"%s\"", why, words);
	assert_int_equal(o.mechanisms, mechanisms);
}

static void a_probe_says_why_not(void **state)
{
	static const Profile blank;
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);
	Offer o = { 0 };

	(void)state;
	assert_int_equal(knob_io_max.probe(d, &o, NULL), 0);
	assert_int_equal(o.mechanisms, MECHANISM_PACING);
	assert_true(o.pace_min_w > 0);
	expect_why_not(&t, MECHANISM_PACING, "io.cost");
	snprintf(t.at[1].max, sizeof(t.at[1].max), "rbps=4096 wbps=max riops=max wiops=max");
	expect_why_not(&t, 0, "system.slice already limits it");
	t = tree();
	t.subtree = "memory";
	expect_why_not(&t, 0, "IOAccounting=yes");
	t.controllers = "memory";
	expect_why_not(&t, 0, "no io controller");
	t.controllers = NULL;
	expect_why_not(&t, 0, "no cgroup v2");
	t = tree();
	t.profile = &blank;
	expect_why_not(&t, 0, "profile");
	t = (FakeTree){ .controllers = "io", .subtree = "io", .profile = &profile };
	expect_why_not(&t, 0, "no cgroup below");
}

static void more_cgroups_than_the_limits_can_be_divided_among_are_refused(void **state)
{
	FakeTree t = tree();
	_cleanup_(device_unrefp) Device *d = fake_device(&t);
	KnobValue v = { "rbps=1000 wbps=1000 riops=5 wiops=1000" };

	(void)state;
	assert_int_equal(knob_io_max.write(d, &v), -ERANGE);
	assert_int_equal(t.writes, 0);
	v = (KnobValue){ "rbps=1000 wbps=1000 riops=6 wiops=1000" };
	assert_int_equal(knob_io_max.write(d, &v), 0);
	v = (KnobValue){ "rbps=max wbps=max riops=max wiops=max" };
	assert_int_equal(knob_io_max.write(d, &v), -EINVAL);
	v = (KnobValue){ "rbps=x" };
	assert_int_equal(knob_io_max.write(d, &v), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_workload_within_the_limits_exceeds_the_watts),
		cmocka_unit_test(the_present_mix_gets_nearly_all_of_it),
		cmocka_unit_test(neither_direction_nor_size_starves),
		cmocka_unit_test(limits_are_divided_by_what_each_cgroup_did_lately),
		cmocka_unit_test(all_together_never_may_do_more_on_the_way),
		cmocka_unit_test(a_drifting_mix_is_not_worth_a_write),
		cmocka_unit_test(a_cgroup_that_came_unlimited_is_noticed),
		cmocka_unit_test(release_leaves_no_line),
		cmocka_unit_test(a_probe_says_why_not),
		cmocka_unit_test(more_cgroups_than_the_limits_can_be_divided_among_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
