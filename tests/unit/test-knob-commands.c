/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The knobs that speak NVMe, ATA or cgroupfs, on a drive that answers like the specifications and
 * block/blk-iocost.c say. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "own-knobs.h"

typedef struct FakeDrive {
	uint32_t feature[256];
	Condition condition;
	unsigned condition_writes;
	char qos[256], model[256];
	char order[64]; /* of the cgroup files written */
	int fail;
} FakeDrive;

static int feature_get(Device *d, uint8_t feature, uint32_t *ret)
{
	*ret = ((FakeDrive *)d->impl)->feature[feature];
	return 0;
}

static int feature_set(Device *d, uint8_t feature, uint32_t value)
{
	FakeDrive *f = d->impl;

	if (!f->fail)
		f->feature[feature] = value;
	return f->fail;
}

static int condition_get(Device *d, Condition *ret)
{
	*ret = ((FakeDrive *)d->impl)->condition;
	return 0;
}

static int condition_set(Device *d, Condition c)
{
	FakeDrive *f = d->impl;

	f->condition_writes++;
	f->condition = c;
	return 0;
}

static int attr_read(Device *d, const char *attr, char *buf, size_t size)
{
	(void)d;
	snprintf(buf, size, "[none] bfq");
	return streq(attr, "queue/scheduler") ? 0 : -ENOENT;
}

static int cgroup_read(Device *d, const char *file, char *buf, size_t size)
{
	FakeDrive *f = d->impl;

	if (strncmp(file, "cgroup.", strlen("cgroup.")) == 0) {
		snprintf(buf, size, "cpu io memory");
		return 0;
	}
	snprintf(buf, size, "%s", streq(file, "io.cost.qos") ? f->qos : f->model);
	return f->fail;
}

/* The kernel makes both lines once either is written, and has numbers of its own under "auto". */
static int cgroup_write(Device *d, const char *file, const char *line)
{
	FakeDrive *f = d->impl;
	bool qos = streq(file, "io.cost.qos");

	if (!*f->qos)
		snprintf(f->qos, sizeof(f->qos),
			 "enable=0 ctrl=auto rpct=0.00 rlat=25000 wpct=0.00 "
			 "wlat=25000 min=1.00 max=10000.00");
	if (!*f->model)
		snprintf(f->model, sizeof(f->model),
			 "ctrl=auto model=linear rbps=488636629 "
			 "rseqiops=8932 rrandiops=8518 wbps=427891549 wseqiops=28755 "
			 "wrandiops=21940");
	strcat(f->order, qos ? "q" : "m");
	if (streq(line, "enable=0 ctrl=auto"))
		snprintf(f->qos, sizeof(f->qos),
			 "enable=0 ctrl=auto rpct=0.00 rlat=25000 wpct=0.00 "
			 "wlat=25000 min=1.00 max=10000.00");
	else
		snprintf(qos ? f->qos : f->model, sizeof(f->qos), "%s", line);
	return 0;
}

static const DeviceOps fake_ops = {
	.attr_read = attr_read,
	.feature_get = feature_get,
	.feature_set = feature_set,
	.condition_get = condition_get,
	.condition_set = condition_set,
	.cgroup_read = cgroup_read,
	.cgroup_write = cgroup_write,
};

/* Two operational states and one that APST parks in; and energies for io.cost: 200 and
 * 400 uJ an IO, 4.096 and 8.192 uJ a page. */
static const Profile profile = {
	.rated_w = 25,
	.states = { { .present = true, .operational = true, .max_w = 25 },
		    { .present = true, .operational = true, .max_w = 12 },
		    { .present = true, .operational = false, .max_w = 5 } },
	.n_states = 3,
	.energy = { [READ_IO] = { { 200e-6, 4.096e-6 }, { 200e-6, 4.096e-6 } },
		    [WRITE_IO] = { { 400e-6, 8.192e-6 }, { 400e-6, 8.192e-6 } } },
};

static Device *fake_device(FakeDrive *f)
{
	Device *d = device_new("id", "fake0", "fake", KIND_NVME, &fake_ops, f);

	assert_non_null(d);
	d->profile = &profile;
	d->power_states = 3;
	d->conditions = 1u << CONDITION_ACTIVE | 1u << CONDITION_IDLE_B | 1u << CONDITION_STANDBY_Z;
	return d;
}

static const Setting as_found = SETTING_AS_FOUND;

static int turn(Device *d, const char *name, const KnobValue *original, const Setting *s)
{
	const Knob *k = own_knob(name);
	KnobValue wanted;
	int r = knob_want(k, d, s, &MIX_UNKNOWN, original, &wanted);

	return r < 0 ? r : knob_apply(k, d, &wanted, NULL);
}

static KnobValue read_original(Device *d, const char *name)
{
	KnobValue v;

	assert_int_equal(own_knob(name)->read(d, &v), 0);
	return v;
}

static void the_workload_hint_is_kept(void **state)
{
	FakeDrive f = { .feature = { [2] = 0x40 } };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "nvme-power-state");
	Setting s = { .power_state = 1 };

	(void)state;
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), 0);
	assert_int_equal(f.feature[2], 0x41);
	assert_int_equal(turn(d, "nvme-power-state", &original, &as_found), 0);
	assert_int_equal(f.feature[2], 0x40);
	s.power_state = 2;
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), -ERANGE);
	s.power_state = 32;
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), -ERANGE);
}

static void a_drive_parked_by_apst_holds_its_state(void **state)
{
	const Knob *k = own_knob("nvme-power-state");
	FakeDrive f = { .feature = { [2] = 2 } };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "nvme-power-state"), one = { "1" }, zero = { "0" };
	Setting s = { .power_state = 1 };

	(void)state;
	assert_true(knob_fulfils(k, d, &one, &original));
	assert_false(knob_fulfils(k, d, &one, &zero));
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), 0);
	/* parked when found: it goes back to the default, not into the parking state */
	assert_int_equal(turn(d, "nvme-power-state", &original, &as_found), 0);
	assert_int_equal(f.feature[2], 0);
}

static void a_refused_command_is_reported(void **state)
{
	FakeDrive f = { .fail = -EIO };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "nvme-power-state");
	Setting s = { .power_state = 1 };

	(void)state;
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), -EIO);
}

static void a_power_limit_is_in_10_milliwatts_and_never_above(void **state)
{
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "nvme-power-limit");
	Setting s = { .power_state = -1, .limit_w = 12.499 };

	(void)state;
	assert_string_equal(original.text, "none");
	assert_int_equal(turn(d, "nvme-power-limit", &original, &s), 0);
	assert_int_equal(f.feature[0x23], 2 << 16 | 1249);
	assert_int_equal(turn(d, "nvme-power-limit", &original, &as_found), 0);
	assert_int_equal(f.feature[0x23], 0);
	s.limit_w = 656;
	assert_int_equal(turn(d, "nvme-power-limit", &original, &s), -ERANGE);
}

static void every_original_power_limit_goes_back_bit_by_bit(void **state)
{
	(void)state;
	for (uint32_t scale = 1; scale <= 2; scale++)
		for (uint32_t value = 1; value <= 0xffff; value += 7) {
			FakeDrive f = { .feature = { [0x23] = scale << 16 | value } };
			_cleanup_(device_unrefp) Device *d = fake_device(&f);
			KnobValue original = read_original(d, "nvme-power-limit");

			f.feature[0x23] = 0;
			assert_int_equal(turn(d, "nvme-power-limit", &original, &as_found), 0);
			assert_int_equal(f.feature[0x23], scale << 16 | value);
		}
}

static void a_woken_disk_no_longer_fulfils(void **state)
{
	const Knob *k = own_knob("condition");
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "condition"), wanted, found;
	Setting s = { .power_state = -1, .condition = CONDITION_IDLE_B };

	(void)state;
	assert_int_equal(turn(d, "condition", &original, &s), 0);
	assert_int_equal(f.condition, CONDITION_IDLE_B);
	assert_int_equal(knob_want(k, d, &s, &MIX_UNKNOWN, &original, &wanted), 0);
	f.condition = CONDITION_STANDBY_Z; /* its own timer */
	found = read_original(d, "condition");
	assert_true(knob_fulfils(k, d, &wanted, &found));
	f.condition = CONDITION_ACTIVE; /* an IO */
	found = read_original(d, "condition");
	assert_false(knob_fulfils(k, d, &wanted, &found));
	s.condition = CONDITION_IDLE_C;
	assert_int_equal(turn(d, "condition", &original, &s), -ERANGE);
}

static void release_wakes_what_we_put_to_sleep_and_nothing_else(void **state)
{
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "condition");
	Setting s = { .power_state = -1, .condition = CONDITION_STANDBY_Z };

	(void)state;
	assert_int_equal(turn(d, "condition", &original, &s), 0);
	assert_int_equal(turn(d, "condition", &original, &as_found), 0);
	assert_int_equal(f.condition, CONDITION_ACTIVE);

	f.condition = CONDITION_STANDBY_Z;
	original = read_original(d, "condition"); /* found asleep */
	f.condition = CONDITION_ACTIVE;           /* has work now */
	f.condition_writes = 0;
	assert_int_equal(turn(d, "condition", &original, &as_found), 0);
	assert_int_equal(f.condition, CONDITION_ACTIVE);
	assert_int_equal(f.condition_writes, 0);
}

static void a_watt_budget_becomes_the_numbers_of_the_kernel(void **state)
{
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "io-cost");
	Setting s = { .power_state = -1, .pace_w = 1 };

	(void)state;
	assert_int_equal(turn(d, "io-cost", &original, &s), 0);
	assert_string_equal(f.qos, "enable=1 ctrl=user rpct=0.00 rlat=10000 wpct=0.00 wlat=10000 "
				   "min=100.00 max=100.00");
	/* 1 W / 4.096 uJ = 244140 pages; 1 W / 204.096 uJ = 4899.7 IOs */
	assert_string_equal(f.model, "ctrl=user model=linear rbps=999997440 rseqiops=4899 "
				     "rrandiops=4899 wbps=499998720 wseqiops=2449 wrandiops=2449");
	assert_string_equal(f.order, "mq"); /* priced before it is switched on */
	s.pace_w = 0.5;
	assert_int_equal(turn(d, "io-cost", &original, &s), 0);
	assert_string_equal(f.order, "mqm"); /* another budget: the model alone */
	assert_int_equal(turn(d, "io-cost", &original, &as_found), 0);
	assert_string_equal(f.order, "mqmqm"); /* switched off first */
	assert_memory_equal(f.qos, "enable=0 ctrl=auto", 18);
	assert_string_equal(f.model, "ctrl=auto");
}

static void somebodys_own_io_cost_goes_back(void **state)
{
	static const char *const qos = "enable=1 ctrl=user rpct=95.00 rlat=5000 wpct=95.00 "
				       "wlat=5000 min=50.00 max=150.00";
	static const char *const model = "ctrl=user model=linear rbps=174019176 rseqiops=41708 "
					 "rrandiops=370 wbps=178075866 wseqiops=42705 "
					 "wrandiops=378";
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	Setting s = { .power_state = -1, .pace_w = 1 };
	KnobValue original;

	(void)state;
	snprintf(f.qos, sizeof(f.qos), "%s", qos);
	snprintf(f.model, sizeof(f.model), "%s", model);
	original = read_original(d, "io-cost");
	assert_int_equal(turn(d, "io-cost", &original, &s), 0);
	assert_string_not_equal(f.qos, qos);
	assert_int_equal(turn(d, "io-cost", &original, &as_found), 0);
	assert_string_equal(f.qos, qos);
	assert_string_equal(f.model, model);
}

static void the_numbers_of_any_budget_fit_a_value(void **state)
{
	static const double watts[] = { 1e-6, 0.05, 3.7, 25, 1e6, 1e12 };
	const Knob *k = own_knob("io-cost");
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	KnobValue original = read_original(d, "io-cost"), wanted;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(watts); i++) {
		Setting s = { .power_state = -1, .pace_w = watts[i] };

		assert_int_equal(knob_want(k, d, &s, &MIX_UNKNOWN, &original, &wanted), 0);
		assert_null(strstr(wanted.text, "=0 wbps"));
	}
}

static void a_probe_says_what_is_offered_or_why_not(void **state)
{
	static const DeviceOps nothing = { 0 };
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	Offer offer = { 0 };

	(void)state;
	assert_int_equal(own_knob("nvme-power-state")->probe(d, &offer, NULL), 0);
	assert_int_equal(own_knob("nvme-power-limit")->probe(d, &offer, NULL), 0);
	assert_int_equal(own_knob("condition")->probe(d, &offer, NULL), 0);
	assert_int_equal(own_knob("io-cost")->probe(d, &offer, NULL), 0);
	assert_int_equal(offer.mechanisms, MECHANISM_POWER_STATE | MECHANISM_POWER_LIMIT |
						   MECHANISM_CONDITION | MECHANISM_PACING);
	assert_int_equal(offer.power_states, 3);
	assert_true(offer.limit_min_w == 12 && offer.limit_max_w == 25);
	assert_true(offer.pace_min_w > 0.004 && offer.pace_min_w < 0.005);
	assert_int_equal(f.condition_writes, 0);

	d->ops = &nothing;
	for (const Knob *const *k = own_knobs; *k; k++) {
		_cleanup_free_ char *why = NULL;
		KnobValue v = { "1" };

		assert_int_equal((*k)->probe(d, &offer, &why), -EOPNOTSUPP);
		assert_non_null(why);
		assert_true((*k)->read(d, &v) < 0);
		assert_true((*k)->write(d, &v) < 0);
	}
}

static void garbage_is_refused_by_every_knob(void **state)
{
	static const char *const garbage[] = {
		"",
		" ",
		"-1",
		"nan W",
		"99999999999999999999",
		"W",
		"-3W",
		"NaNW",
		"1e9W",
		"x=y",
		" | ",
		"a | b",
		"idle_q",
		"3 queues=0",
		"0 workload=9",
		"enable | ctrl",
	};
	FakeDrive f = { 0 };
	_cleanup_(device_unrefp) Device *d = fake_device(&f);
	Setting s = { .power_state = 1, .limit_w = 12, .depth = 8, .chunk_kib = 64, .pace_w = 1 };

	(void)state;
	for (const Knob *const *k = own_knobs; *k; k++)
		for (size_t i = 0; i < ELEMENTSOF(garbage); i++) {
			KnobValue v, wanted;

			snprintf(v.text, sizeof(v.text), "%s", garbage[i]);
			knob_want(*k, d, &s, &MIX_UNKNOWN, &v, &wanted);
			knob_fulfils(*k, d, &v, &v);
			if ((*k)->mechanism & (MECHANISM_POWER_LIMIT | MECHANISM_CONDITION))
				assert_true((*k)->write(d, &v) < 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_workload_hint_is_kept),
		cmocka_unit_test(a_drive_parked_by_apst_holds_its_state),
		cmocka_unit_test(a_refused_command_is_reported),
		cmocka_unit_test(a_power_limit_is_in_10_milliwatts_and_never_above),
		cmocka_unit_test(every_original_power_limit_goes_back_bit_by_bit),
		cmocka_unit_test(a_woken_disk_no_longer_fulfils),
		cmocka_unit_test(release_wakes_what_we_put_to_sleep_and_nothing_else),
		cmocka_unit_test(a_watt_budget_becomes_the_numbers_of_the_kernel),
		cmocka_unit_test(somebodys_own_io_cost_goes_back),
		cmocka_unit_test(the_numbers_of_any_budget_fit_a_value),
		cmocka_unit_test(a_probe_says_what_is_offered_or_why_not),
		cmocka_unit_test(garbage_is_refused_by_every_knob),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
