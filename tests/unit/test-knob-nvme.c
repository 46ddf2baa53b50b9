/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The NVMe knobs on a controller, down to the words of the commands. */

#include "fake-nvme.h"
#include "hw/nvme-device.h"
#include "model/frontier.h"
#include "own-knobs.h"

#define POWER_LIMIT (1u << 20)
#define UUID_LIST   (1u << 9)

static int feature_get(Device *d, uint8_t feature, uint32_t *ret)
{
	return nvme_device_feature_get(d->impl, feature, ret);
}

static int feature_set(Device *d, uint8_t feature, uint32_t value)
{
	return nvme_device_feature_set(d->impl, feature, value);
}

static void release(Device *d)
{
	nvme_device_free(d->impl);
}

static const DeviceOps ops = {
	.feature_get = feature_get,
	.feature_set = feature_set,
	.free = release,
};

/* As the inventory makes it, with a profile from the drive's own descriptors. */
static Device *fake_device(void)
{
	NvmeDevice *n = NULL;
	Descriptor descriptor;
	Device *d;

	assert_int_equal(nvme_device_open((char *[]){ "nvme0", NULL }, &n), 0);
	nvme_device_describe(n, &descriptor);
	d = device_new("id", "nvme0", descriptor.model, KIND_NVME, &ops, n);
	assert_non_null(d);
	d->power_states = nvme_device_power_states(n);
	assert_int_equal(device_match_profile(d, NULL, &descriptor), 0);
	return d;
}

static const Setting as_found = SETTING_AS_FOUND;

static KnobValue read_value(Device *d, const char *name)
{
	KnobValue v;

	assert_int_equal(own_knob(name)->read(d, &v), 0);
	return v;
}

static int turn(Device *d, const char *name, const KnobValue *original, const Setting *s)
{
	const Knob *k = own_knob(name);
	KnobValue wanted;
	int r = knob_want(k, d, s, &MIX_UNKNOWN, original, &wanted);

	return r < 0 ? r : knob_apply(k, d, &wanted, NULL);
}

/* The offer of all NVMe knobs together; returns how many are offered. */
static unsigned probe_all(Device *d, Offer *ret, char *whys, size_t size)
{
	unsigned n = 0;
	size_t at = 0;

	*ret = (Offer){};
	*whys = '\0';
	for (const Knob *const *k = own_knobs; *k; k++) {
		_cleanup_free_ char *why = NULL;

		if (strncmp((*k)->name, "nvme-", 5) != 0)
			continue;
		if ((*k)->probe(d, ret, &why) >= 0)
			n++;
		else
			at += (size_t)snprintf(whys + at, size - at, "%s: %s\n", (*k)->name, why);
	}
	return n;
}

static void a_drive_of_power_states_offers_those_that_do_io(void **state)
{
	_cleanup_(device_unrefp) Device *d = NULL;
	char whys[512];
	Offer o;

	(void)state;
	fake_reset();
	d = fake_device();
	assert_int_equal(probe_all(d, &o, whys, sizeof(whys)), 1);
	assert_int_equal(o.mechanisms, MECHANISM_POWER_STATE);
	assert_int_equal(o.power_states, 0x0f);
	assert_string_equal(whys, "nvme-power-limit: the drive does not advertise feature 23h, "
				  "power limit\n"
				  "nvme-ocp-state: the drive does not advertise feature C7h, "
				  "DSSD power state (OCP)\n");
	assert_int_equal(fake.n_sets, 0); /* asking changes nothing */
}

static void a_drive_of_one_state_says_so(void **state)
{
	_cleanup_(device_unrefp) Device *d = NULL;
	char whys[512];
	Offer o;

	(void)state;
	fake_reset();
	fake.identify[263] = 0;
	d = fake_device();
	assert_int_equal(probe_all(d, &o, whys, sizeof(whys)), 0);
	assert_non_null(strstr(whys, "nvme-power-state: the drive has one power state only\n"));
}

/* Power state 0 is the highest by the specification; of the others drives keep no order. */
static void states_are_judged_by_their_watts_not_their_number(void **state)
{
	static const Mix mix = { .read_share = 1, .random_share = 1, .read_kib = 256, .depth = 64 };
	static const int by_watts[] = { 1, 3, 2, -1 };
	_cleanup_(device_unrefp) Device *d = NULL;
	Candidate c[FRONTIER_MAX];
	char whys[512];
	size_t n;
	Offer o;

	(void)state;
	fake_reset();
	fake_state(1, 1200, 0, 0, 0);
	fake_state(2, 1700, 0, 0, 0);
	fake_state(3, 1400, 0, 0, 0);
	d = fake_device();
	probe_all(d, &o, whys, sizeof(whys));
	frontier_build(d->profile, &mix, &o, 0, CONDITION_ACTIVE, c, &n);
	assert_int_equal(n, ELEMENTSOF(by_watts));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(c[i].setting.power_state, by_watts[i]);
		assert_true(i == 0 || (c[i].cap_w > c[i - 1].cap_w && c[i].mb_s > c[i - 1].mb_s));
	}
	assert_float_equal(c[0].cap_w, 12, 1e-9);
}

static void of_two_limits_the_finer_one_is_offered(void **state)
{
	_cleanup_(device_unrefp) Device *both = NULL, *ocp = NULL;
	char whys[512];
	Offer o;

	(void)state;
	fake_reset();
	fake_ctratt(POWER_LIMIT | UUID_LIST);
	fake_ocp(1);
	both = fake_device();
	assert_int_equal(probe_all(both, &o, whys, sizeof(whys)), 2);
	assert_string_equal(whys, "nvme-ocp-state: the drive has a finer limit, "
				  "nvme-power-limit\n");
	fake_ctratt(UUID_LIST);
	ocp = fake_device();
	assert_int_equal(probe_all(ocp, &o, whys, sizeof(whys)), 2);
	assert_int_equal(o.mechanisms, MECHANISM_POWER_STATE | MECHANISM_POWER_LIMIT);
	assert_float_equal(o.limit_min_w, 14, 1e-9);
	assert_float_equal(o.limit_max_w, 25, 1e-9);
}

static void ocp_limits_are_whole_watts_and_never_above(void **state)
{
	Setting s = { .power_state = -1, .limit_w = 17.96 };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;
	char whys[512];
	Offer o;

	(void)state;
	fake_reset();
	fake_ctratt(UUID_LIST);
	fake_ocp(2);
	fake_state(3, 1350, 0, 0, 0); /* 13.5 W: offered from 14 W on */
	d = fake_device();
	probe_all(d, &o, whys, sizeof(whys));
	assert_float_equal(o.limit_min_w, 14, 1e-9);
	original = read_value(d, "nvme-ocp-state");
	assert_string_equal(original.text, "none");
	assert_int_equal(turn(d, "nvme-ocp-state", &original, &s), 0);
	assert_int_equal(fake.feature[0][0xc7], 17);
	assert_int_equal(fake_last()->cdw14, 2);
	assert_int_equal(turn(d, "nvme-ocp-state", &original, &as_found), 0);
	assert_int_equal(fake.feature[0][0xc7], 0);
	s.limit_w = 0.5;
	assert_int_equal(turn(d, "nvme-ocp-state", &original, &s), -ERANGE);
	s.limit_w = 256;
	assert_int_equal(turn(d, "nvme-ocp-state", &original, &s), -ERANGE);
}

static void an_ocp_limit_found_goes_back(void **state)
{
	Setting s = { .power_state = -1, .limit_w = 14 };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original, v = { "12.5W" };

	(void)state;
	fake_reset();
	fake_ctratt(UUID_LIST);
	fake_ocp(1);
	fake.feature[0][0xc7] = 20;
	d = fake_device();
	original = read_value(d, "nvme-ocp-state");
	assert_string_equal(original.text, "20W");
	assert_int_equal(turn(d, "nvme-ocp-state", &original, &s), 0);
	assert_int_equal(fake.feature[0][0xc7], 14);
	assert_int_equal(turn(d, "nvme-ocp-state", &original, &as_found), 0);
	assert_int_equal(fake.feature[0][0xc7], 20);
	assert_int_equal(own_knob("nvme-ocp-state")->write(d, &v), -ERANGE);
	fake.feature[0][0xc7] = 0x100; /* not what the specification says */
	assert_int_equal(own_knob("nvme-ocp-state")->read(d, &v), -EBADMSG);
}

static void a_drive_that_ignores_a_set_is_found_out(void **state)
{
	static const char *const knobs[] = { "nvme-power-state", "nvme-power-limit",
					     "nvme-ocp-state" };
	Setting s = { .power_state = 2, .limit_w = 15 };
	_cleanup_(device_unrefp) Device *d = NULL;

	(void)state;
	fake_reset();
	fake_ctratt(POWER_LIMIT | UUID_LIST);
	fake_ocp(1);
	fake.ignores = true;
	d = fake_device();
	for (size_t i = 0; i < ELEMENTSOF(knobs); i++) {
		KnobValue original = read_value(d, knobs[i]);

		assert_int_equal(turn(d, knobs[i], &original, &s), -EREMOTEIO);
	}
	assert_int_equal(fake.n_sets, 3);
}

static void a_controller_in_reset_is_tried_again(void **state)
{
	Setting s = { .power_state = 3 };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	(void)state;
	fake_reset();
	d = fake_device();
	original = read_value(d, "nvme-power-state");
	fake.n_commands = 0;
	fake.status_of[ADMIN_SET_FEATURES] = 0x370;
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), -EAGAIN);
	assert_int_equal(fake.n_commands, 4);
	/* what is refused for good is sent once */
	fake.status_of[ADMIN_SET_FEATURES] = 0x410e;
	assert_int_equal(turn(d, "nvme-power-state", &original, &s), -EPERM);
	assert_int_equal(fake.n_commands, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_drive_of_power_states_offers_those_that_do_io),
		cmocka_unit_test(a_drive_of_one_state_says_so),
		cmocka_unit_test(states_are_judged_by_their_watts_not_their_number),
		cmocka_unit_test(of_two_limits_the_finer_one_is_offered),
		cmocka_unit_test(ocp_limits_are_whole_watts_and_never_above),
		cmocka_unit_test(an_ocp_limit_found_goes_back),
		cmocka_unit_test(a_drive_that_ignores_a_set_is_found_out),
		cmocka_unit_test(a_controller_in_reset_is_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
