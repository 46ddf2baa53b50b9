/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What goes to an NVMe controller, word by word, and what its answers become. */

#include "fake-nvme.h"
#include "hw/nvme-controller.h"
#include "hw/nvme-device.h"

static NvmeDevice *opened(void)
{
	NvmeDevice *n = NULL;

	assert_int_equal(nvme_device_open((char *[]){ "nvme0", NULL }, &n), 0);
	assert_non_null(n);
	assert_false(fake_is_open());
	return n;
}

static void every_descriptor_is_scaled_to_watts(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	Descriptor d;

	(void)state;
	fake_reset();
	fake_state(5, 700, 3, 1000, 2000); /* 0.1 mW, non-operational */
	fake_state(6, 65535, 1, 0, 0);
	n = opened();
	nvme_device_describe(n, &d);
	assert_int_equal(d.kind, KIND_NVME);
	assert_int_equal(d.n_states, 7);
	assert_float_equal(d.states[0].max_w, 25, 1e-9);
	assert_float_equal(d.states[3].max_w, 14, 1e-9);
	assert_float_equal(d.states[5].max_w, 0.07, 1e-9);
	assert_float_equal(d.states[6].max_w, 6.5535, 1e-9);
	assert_true(d.states[3].operational && !d.states[4].operational);
	assert_true(!d.states[5].operational && d.states[6].operational);
	assert_int_equal(d.states[0].entry_us, 30000);
	assert_int_equal(d.states[5].entry_us, 1000);
	assert_int_equal(d.states[5].exit_us, 2000);
	assert_int_equal(nvme_device_power_states(n), 0x4f);
}

static void npss_is_the_number_of_the_last_state(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *one = NULL, *broken = NULL;
	Descriptor d;

	(void)state;
	fake_reset();
	fake.identify[263] = 0;
	one = opened();
	assert_int_equal(nvme_device_power_states(one), 1);
	fake.identify[263] = 255;
	broken = opened();
	nvme_device_describe(broken, &d);
	assert_int_equal(d.n_states, 32);
}

static void the_model_loses_its_padding_and_is_ascii(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL, *full = NULL;
	Descriptor d;

	(void)state;
	fake_reset();
	n = opened();
	nvme_device_describe(n, &d);
	assert_string_equal(d.model, "Fake Drive");
	memset(fake.identify + 24, 'm', 39);
	fake.identify[24 + 39] = 0xff;
	full = opened();
	nvme_device_describe(full, &d);
	assert_int_equal(strlen(d.model), 40);
	assert_string_equal(d.model + 38, "m?");
}

static void a_power_state_goes_to_the_controller_and_is_never_saved(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	uint32_t value;

	(void)state;
	fake_reset();
	n = opened();
	assert_int_equal(nvme_device_feature_set(n, 0x02, 0x43), 0);
	assert_int_equal(fake_last()->opcode, ADMIN_SET_FEATURES);
	assert_int_equal(fake_last()->nsid, 0);
	assert_int_equal(fake_last()->cdw10, 0x02); /* save bit 31 is 0 */
	assert_int_equal(fake_last()->cdw11, 0x43);
	assert_int_equal(fake_last()->cdw14, 0);
	assert_int_equal(nvme_device_feature_get(n, 0x02, &value), 0);
	assert_int_equal(fake_last()->opcode, ADMIN_GET_FEATURES);
	assert_int_equal(fake_last()->cdw10, 0x02);
	assert_int_equal(value, 0x43);
}

static void what_is_not_advertised_is_not_even_sent(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	uint32_t value;

	(void)state;
	fake_reset();
	fake_ctratt(~(1u << 20 | 1u << 9)); /* all but power limit and UUID list */
	n = opened();
	assert_int_equal(fake.n_commands, 1); /* Identify Controller */
	assert_int_equal(nvme_device_feature_get(n, 0x23, &value), -EOPNOTSUPP);
	assert_int_equal(nvme_device_feature_set(n, 0x23, 2 << 16 | 1200), -EOPNOTSUPP);
	assert_int_equal(nvme_device_feature_get(n, 0xc7, &value), -EOPNOTSUPP);
	assert_int_equal(nvme_device_feature_set(n, 0xc7, 12), -EOPNOTSUPP);
	assert_int_equal(fake.n_commands, 1);
}

static void an_advertised_power_limit_is_dword_11(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	uint32_t value;

	(void)state;
	fake_reset();
	fake_ctratt(1u << 20);
	n = opened();
	assert_int_equal(nvme_device_feature_set(n, 0x23, 2 << 16 | 1200), 0);
	assert_int_equal(fake_last()->cdw10, 0x23);
	assert_int_equal(fake_last()->cdw11, 2 << 16 | 1200);
	assert_int_equal(fake_last()->cdw14, 0);
	assert_int_equal(nvme_device_feature_get(n, 0x23, &value), 0);
	assert_int_equal(value, 2 << 16 | 1200);
}

static void ocp_watts_carry_the_index_of_its_uuid(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	uint32_t value;

	(void)state;
	fake_reset();
	fake_ctratt(1u << 9);
	fake_ocp(3);
	n = opened();
	assert_int_equal(nvme_device_feature_set(n, 0xc7, 12), 0);
	assert_int_equal(fake_last()->cdw10, 0xc7);
	assert_int_equal(fake_last()->cdw11, 12);
	assert_int_equal(fake_last()->cdw14, 3);
	assert_int_equal(nvme_device_feature_get(n, 0xc7, &value), 0);
	assert_int_equal(fake_last()->cdw14, 3);
	assert_int_equal(value, 12);
	/* and nothing else does */
	assert_int_equal(nvme_device_feature_set(n, 0x02, 1), 0);
	assert_int_equal(fake_last()->cdw14, 0);
}

static void a_drive_of_other_uuids_or_of_a_broken_list_is_not_ocp(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *other = NULL, *broken = NULL;

	(void)state;
	fake_reset();
	fake_ctratt(1u << 9);
	memset(fake.uuids, 0x22, sizeof(fake.uuids));
	other = opened();
	assert_int_equal(nvme_device_feature_set(other, 0xc7, 12), -EOPNOTSUPP);
	fake_ocp(1);
	fake.status_of_cns = 0x4002;
	broken = opened();
	assert_int_equal(nvme_device_feature_set(broken, 0xc7, 12), -EOPNOTSUPP);
	assert_int_equal(nvme_device_feature_set(broken, 0x02, 1), 0);
}

static void every_answer_is_an_error_and_words(void **state)
{
	static const struct {
		unsigned status;
		int error;
		const char *words;
	} answers[] = {
		{ 0x4001, -EOPNOTSUPP, "Invalid Command Opcode" },
		{ 0x0002, -EINVAL, "Invalid Field" },
		{ 0x4002, -EINVAL, "Invalid Field" }, /* do not retry */
		{ 0x000b, -EINVAL, "Invalid Namespace" },
		{ 0x4015, -EPERM, "Operation Denied" },
		{ 0x001d, -EBUSY, "Sanitize In Progress" },
		{ 0x0021, -EAGAIN, "Interrupted" },
		{ 0x410e, -EPERM, "Feature Not Changeable" },
		{ 0x410f, -EINVAL, "Feature Not Namespace Specific" },
		{ 0x413e, -ERANGE, "Invalid Power Limit" },
		{ 0x0006, -EIO, "Internal" },
		{ 0x0370, -EAGAIN, "Host Pathing Error" },
		{ 0x07ff, -EIO, "" },
	};
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;

	(void)state;
	fake_reset();
	n = opened();
	for (size_t i = 0; i < ELEMENTSOF(answers); i++) {
		_cleanup_(controller_close) Controller c = CONTROLLER_CLOSED;

		fake.status = answers[i].status;
		assert_int_equal(nvme_device_feature_set(n, 0x02, 1), answers[i].error);
		assert_false(fake_is_open());
		assert_int_equal(controller_open("nvme0", &c), 0);
		assert_int_equal(controller_feature_set(&c, 0x02, 0, 1), answers[i].error);
		assert_non_null(strcasestr(controller_answer(&c), answers[i].words));
	}
}

static void silence_and_a_reset_are_told_apart(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	uint32_t value;
	double watts;

	(void)state;
	fake_reset();
	n = opened();
	/* the kernel cancels what is under way when it resets a controller: at once ... */
	fake.error = EINTR;
	fake.takes_us = 200000;
	assert_int_equal(nvme_device_feature_set(n, 0x02, 1), -EAGAIN);
	/* ... or because the time is up */
	fake.takes_us = FAKE_MS * USEC_PER_MSEC;
	assert_int_equal(nvme_device_feature_set(n, 0x02, 1), -ETIMEDOUT);
	assert_int_equal(nvme_device_feature_get(n, 0x02, &value), -ETIMEDOUT);
	assert_int_equal(nvme_device_power(n, &watts), -ETIMEDOUT);
	fake.error = 0;
	fake.status = 0x371; /* or as a status: aborted by the host */
	assert_int_equal(nvme_device_feature_set(n, 0x02, 1), -ETIMEDOUT);
	/* a slow drive is only slow */
	fake.status = 0;
	assert_int_equal(nvme_device_feature_set(n, 0x02, 1), 0);
}

static void a_controller_that_comes_back_is_there_again(void **state)
{
	static const struct {
		int open_error, error;
	} gone[] = { { ENOENT, -ENODEV },
		     { ENXIO, -ENODEV },
		     { ENODEV, -ENODEV },
		     { EAGAIN, -EAGAIN },
		     { EACCES, -EACCES } };
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL, *none = NULL;
	uint32_t value;
	double watts;

	(void)state;
	fake_reset();
	n = opened();
	for (size_t i = 0; i < ELEMENTSOF(gone); i++) {
		fake.open_error = gone[i].open_error;
		assert_int_equal(nvme_device_feature_set(n, 0x02, 1), gone[i].error);
		assert_int_equal(nvme_device_feature_get(n, 0x02, &value), gone[i].error);
		assert_int_equal(nvme_device_power(n, &watts), gone[i].error);
		assert_int_equal(nvme_device_open((char *[]){ "nvme0", NULL }, &none),
				 gone[i].error);
		assert_null(none);
	}
	fake.open_error = 0;
	assert_int_equal(nvme_device_feature_set(n, 0x02, 1), 0);
	assert_false(fake_is_open());
}

static void a_controller_that_does_not_say_what_it_is_is_refused(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;

	(void)state;
	fake_reset();
	fake.status = 0x4006;
	assert_int_equal(nvme_device_open((char *[]){ "nvme0", NULL }, &n), -EIO);
	assert_null(n);
	assert_false(fake_is_open());
	/* silent at the second question */
	fake_reset();
	fake_ctratt(1u << 9);
	fake.takes_us = FAKE_MS * USEC_PER_MSEC;
	fake.status_of_cns = 0x371;
	assert_int_equal(nvme_device_open((char *[]){ "nvme0", NULL }, &n), -ETIMEDOUT);
	assert_null(n);
	assert_false(fake_is_open());
}

static void what_is_set_is_set_on_all_controllers_and_the_one_that_allows_most_counts(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	uint32_t value;

	(void)state;
	fake_reset();
	fake_ctratt(1u << 20);
	assert_int_equal(nvme_device_open((char *[]){ "nvme0", "nvme1", NULL }, &n), 0);
	assert_int_equal(nvme_device_feature_set(n, 0x02, 3), 0);
	assert_int_equal(fake.feature[0][0x02], 3);
	assert_int_equal(fake.feature[1][0x02], 3);
	fake.feature[1][0x02] = 1; /* a lower state allows more watts, a lower limit fewer */
	assert_int_equal(nvme_device_feature_get(n, 0x02, &value), 0);
	assert_int_equal(value, 1);
	fake.feature[0][0x23] = 900;
	fake.feature[1][0x23] = 800;
	assert_int_equal(nvme_device_feature_get(n, 0x23, &value), 0);
	assert_int_equal(value, 900);
	/* the second is set although the first refuses, and that it refused is told */
	fake.status_of[ADMIN_SET_FEATURES] = 0x10e;
	fake.n_sets = fake.n_opens = 0;
	assert_int_equal(nvme_device_feature_set(n, 0x02, 2), -EPERM);
	assert_int_equal(fake.n_opens, 2);
}

static int power(NvmeDevice *n, double *ret_w)
{
	int r = nvme_device_power(n, ret_w);

	assert_false(fake_is_open());
	return r;
}

static void self_reported_watts_are_scaled_and_zero_is_none(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *n = NULL;
	double watts = -1;

	(void)state;
	fake_reset();
	n = opened();
	assert_int_equal(power(n, &watts), -EOPNOTSUPP);
	fake_put32(fake.smart + 240, 1u << 20 | 2u << 16 | 1234); /* with a measurement type */
	assert_int_equal(power(n, &watts), 0);
	assert_float_equal(watts, 12.34, 1e-9);
	fake_put32(fake.smart + 240, 1u << 16 | 61234);
	assert_int_equal(power(n, &watts), 0);
	assert_float_equal(watts, 6.1234, 1e-9);
	fake_put32(fake.smart + 240, 1234); /* scale 0: not reported */
	assert_int_equal(power(n, &watts), -EOPNOTSUPP);
	fake_put32(fake.smart + 240, 3u << 16 | 1234); /* reserved */
	assert_int_equal(power(n, &watts), -EOPNOTSUPP);
	fake.status_of[ADMIN_GET_LOG] = 0x4006;
	assert_int_equal(power(n, &watts), -EIO);
}

static void a_running_measurement_serves_where_smart_is_silent(void **state)
{
	_cleanup_(nvme_device_freep) NvmeDevice *plain = NULL, *n = NULL;
	double watts = -1;

	(void)state;
	fake_reset();
	fake_put16(fake.power_log + 2, 1);
	fake_put32(fake.power_log + 40, 2u << 16 | 990);
	plain = opened();
	assert_int_equal(power(plain, &watts), -EOPNOTSUPP); /* log 25h is not asked for */
	fake_ctratt(1u << 21);
	n = opened();
	assert_int_equal(power(n, &watts), 0);
	assert_float_equal(watts, 9.9, 1e-9);
	fake_put16(fake.power_log + 2, 0); /* stopped: what it holds is old */
	assert_int_equal(power(n, &watts), -EOPNOTSUPP);
	fake_put32(fake.smart + 240, 2u << 16 | 1100);
	assert_int_equal(power(n, &watts), 0);
	assert_float_equal(watts, 11, 1e-9);
	assert_int_equal(fake.n_sets, 0); /* nobody's measurement is started or stopped */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_descriptor_is_scaled_to_watts),
		cmocka_unit_test(npss_is_the_number_of_the_last_state),
		cmocka_unit_test(the_model_loses_its_padding_and_is_ascii),
		cmocka_unit_test(a_power_state_goes_to_the_controller_and_is_never_saved),
		cmocka_unit_test(what_is_not_advertised_is_not_even_sent),
		cmocka_unit_test(an_advertised_power_limit_is_dword_11),
		cmocka_unit_test(ocp_watts_carry_the_index_of_its_uuid),
		cmocka_unit_test(a_drive_of_other_uuids_or_of_a_broken_list_is_not_ocp),
		cmocka_unit_test(every_answer_is_an_error_and_words),
		cmocka_unit_test(silence_and_a_reset_are_told_apart),
		cmocka_unit_test(a_controller_that_comes_back_is_there_again),
		cmocka_unit_test(a_controller_that_does_not_say_what_it_is_is_refused),
		cmocka_unit_test(
			what_is_set_is_set_on_all_controllers_and_the_one_that_allows_most_counts),
		cmocka_unit_test(self_reported_watts_are_scaled_and_zero_is_none),
		cmocka_unit_test(a_running_measurement_serves_where_smart_is_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
