/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a simulated node truly does and its profiles do not say: errors of a family, their drift,
 * bursts of all devices at once, and how the overload is counted. */

#include "test-sim.h"

#include <math.h>

#include "sim/sim-device.h"

#define EXACT_HEAD "[node]\nname = test\nseed = 7\n"
#define STEADY_FLASH                                                                               \
	"[devices flash]\nprofile = samsung-pm9a3\nread = 30%\nrandom = 100%\nread_size = 16K\n"   \
	"write_size = 128K\ndepth = 32\ndemand = constant 600\ncount = 2\n"
#define STEADY_DISK                                                                                \
	"[devices disk]\nprofile = seagate-exos-7e2000\nread = 60%\nrandom = 50%\n"                \
	"read_size = 256K\nwrite_size = 256K\ndepth = 8\ndemand = constant 15\n"

static double device_watts(Device *d)
{
	SimDevice *s = d->impl;
	double w;

	sim_device_advance_locked(s);
	w = s->record->truth.rates.watts;
	sim_record_unlock(s->record);
	return w;
}

/* The true watts of a device of that node. */
static double watts_in(const char *node, const char *device)
{
	double w;
	Rig r;

	rig_new(&r);
	rig_open(&r, node);
	w = device_watts(rig_device(&r, device));
	rig_free(&r);
	return w;
}

static void a_family_error_multiplies_the_dynamic_part_alone(void **state)
{
	static const char idle[] = EXACT_HEAD "family_error = +10%\n" NVME_IDLE;
	double exact_w, wrong_w, idle_w;

	(void)state;
	idle_w = watts_in(EXACT_HEAD NVME_IDLE, "nvme0");
	exact_w = watts_in(EXACT_HEAD STEADY_FLASH, "nvme0");
	assert_true(exact_w > idle_w + 2);
	wrong_w = watts_in(EXACT_HEAD "family_error = +10%\n" STEADY_FLASH, "nvme0");
	assert_float_equal(wrong_w - idle_w, 1.1 * (exact_w - idle_w), 1e-9);
	wrong_w = watts_in(EXACT_HEAD "family_error = -20%\n" STEADY_FLASH, "nvme0");
	assert_float_equal(wrong_w - idle_w, 0.8 * (exact_w - idle_w), 1e-9);
	assert_float_equal(watts_in(idle, "nvme0"), idle_w, 1e-12);
}

/* The shared error is added to each drive's own: 1 + b + u. */
static void a_family_error_adds_to_the_devices_own(void **state)
{
	double factor, exact_w, wrong_w;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, EXACT_HEAD "model_error = 4%\n" STEADY_FLASH);
	factor = ((SimDevice *)rig_device(&r, "nvme1")->impl)->nature.watts_factor;
	assert_true(fabs(factor - 1) > 1e-3);
	exact_w = device_watts(rig_device(&r, "nvme1"));
	rig_free(&r);
	exact_w -= watts_in(EXACT_HEAD "model_error = 4%\n" NVME_IDLE "count = 2\n", "nvme1");
	wrong_w = watts_in(EXACT_HEAD "model_error = 4%\nfamily_error = 10%\n" STEADY_FLASH,
			   "nvme1") -
		  watts_in(EXACT_HEAD "model_error = 4%\n" NVME_IDLE "count = 2\n", "nvme1");
	assert_float_equal(wrong_w / exact_w, (factor + 0.1) / factor, 1e-9);
}

static void all_devices_of_a_profile_share_its_error_and_others_keep_theirs(void **state)
{
	static const char node[] = EXACT_HEAD
		"family_error = -5%\ndrift = 5%/h\n" STEADY_FLASH
		"[devices more]\nprofile = samsung-pm9a3\ndemand = constant 100\n" STEADY_DISK
		"family_error = 15%\ndrift = 0%/h\n";
	double shared, until[3];
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, node);
	for (int minutes = 0; minutes < 300; minutes += 7) {
		double error[3];

		rig_pass(&r, 420);
		for (size_t i = 0; i < 3; i++) {
			const SimDevice *s = r.devices[i]->impl;
			uint64_t until_us;

			error[i] = sim_nature_family_error(&s->nature, r.now_us, &until_us);
			until[i] = (double)until_us;
		}
		shared = error[0];
		assert_true(error[1] == shared && error[2] == shared);
		assert_true(until[1] == until[0] && until[2] == until[0]);
	}
	assert_true(shared != -0.05);
	assert_float_equal(((SimDevice *)rig_device(&r, "sda")->impl)->nature.family.error, 0.15,
			   1e-12);
	rig_free(&r);
}

static void an_error_drifts_within_its_bound_and_moves_slowly(void **state)
{
	const SimFamily f = { .error = 0.1,
			      .drift = { .most = 0.05, .period_us = 3600 * USEC_PER_SEC },
			      .seed = 3 };
	double least = 1, most = 0, last;
	uint64_t t_us = 0, until_us;

	(void)state;
	last = sim_family_at(&f, 0, &until_us);
	for (; t_us < 200 * 3600 * USEC_PER_SEC; t_us = until_us) {
		double error = sim_family_at(&f, t_us, &until_us);

		assert_true(until_us > t_us);
		assert_true(sim_family_at(&f, until_us - 1, &(uint64_t){ 0 }) == error);
		assert_true(error >= 0.05 - 1e-12 && error <= 0.15 + 1e-12);
		assert_true(fabs(error - last) <= 2 * 0.05 / 60 + 1e-12);
		least = fmin(least, error);
		most = fmax(most, error);
		last = error;
	}
	/* and it makes use of it */
	assert_true(least < 0.06 && most > 0.14);
}

static void the_same_seed_drifts_alike_and_another_does_not(void **state)
{
	static const char *const nodes[] = {
		EXACT_HEAD "drift = 5%/h\n" STEADY_FLASH,
		EXACT_HEAD "drift = 5%/h\n# the same\n" STEADY_FLASH,
		"[node]\nname = test\nseed = 8\ndrift = 5%/h\n" STEADY_FLASH,
	};
	double joules[3];
	Rig r;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		rig_new(&r);
		rig_open(&r, nodes[i]);
		rig_pass(&r, 5000);
		joules[i] = sim_node_joules(r.node);
		rig_free(&r);
	}
	assert_true(joules[0] == joules[1]);
	assert_true(fabs(joules[2] / joules[0] - 1) > 1e-4);
}

/* Seconds of the hour in which the device draws more than watts; *ret_start_s: the first of them.
 */
static double seconds_above(const char *node, const char *device, double watts, double *ret_start_s)
{
	double above = 0;
	Rig r;

	rig_new(&r);
	rig_open(&r, node);
	*ret_start_s = NAN;
	for (int t = 0; t < 3600; t++) {
		if (device_watts(rig_device(&r, device)) > watts) {
			above++;
			*ret_start_s = isnan(*ret_start_s) ? t : *ret_start_s;
		}
		rig_pass(&r, 1);
	}
	rig_free(&r);
	return above;
}

static void bursts_come_to_all_that_are_busy_at_once_and_to_no_other(void **state)
{
	static const char node[] =
		EXACT_HEAD "[burst]\nevery = 10min\nfor = 20s\n" STEADY_FLASH STEADY_DISK
			   "[devices rest]\nprofile = seagate-exos-7e2000\ndemand = idle\n";
	double flash_w = watts_in(EXACT_HEAD STEADY_FLASH, "nvme0");
	double disk_w = watts_in(EXACT_HEAD STEADY_DISK, "sda");
	double start[3], ignored;

	(void)state;
	assert_float_equal(seconds_above(node, "nvme0", flash_w + 1, &start[0]), 120, 6);
	assert_float_equal(seconds_above(node, "nvme1", flash_w + 1, &start[1]), 120, 6);
	assert_float_equal(seconds_above(node, "sda", disk_w + 0.2, &start[2]), 120, 6);
	assert_true(start[0] == start[1] && start[1] == start[2]);
	assert_true(seconds_above(node, "sdb", disk_w, &ignored) == 0);
}

static void a_burst_asks_for_the_share_of_full_speed_that_it_says(void **state)
{
	static const char node[] = EXACT_HEAD
		"[burst]\nevery = 1min\nfor = 1min\ndemand = 50%\ndevices = nvme*\n" NVME_IDLE
			DISK_IDLE;
	SimRegisters as_found;
	const SimDevice *s;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, node);
	s = rig_device(&r, "nvme0")->impl;
	sim_registers_init(&as_found, KIND_NVME);
	/* named, it works although it was idle; the disk was not named */
	assert_float_equal(sim_node_true_mb_s(r.node),
			   0.5 * sim_nature_capacity(&s->nature, &as_found), 1e-6);
	rig_free(&r);
}

static void overload_and_what_is_unspent_are_counted_exactly(void **state)
{
	SimOverload o = {};
	double low_w, high_w, limit_w, load;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, EXACT_HEAD "family_error = +10%\n[devices a]\nprofile = samsung-pm9a3\n"
				"demand = 0:0 3s:1000 7s:0\nrepeat = 10s\n");
	low_w = rig_watts(&r);
	rig_pass(&r, 5);
	high_w = rig_watts(&r);
	rig_pass(&r, 5);
	assert_int_equal(sim_node_overload(r.node, high_w, &(SimOverload){}), 0);
	limit_w = 0.9 * high_w;
	assert_true(low_w < limit_w);
	load = high_w / limit_w;
	for (int i = 0; i < 4; i++) {
		rig_pass(&r, 25);
		assert_int_equal(sim_node_overload(r.node, limit_w, &o), 0);
	}
	assert_float_equal(o.seconds, 100, 1e-6);
	assert_float_equal(o.above_s, 40, 1e-6);
	assert_float_equal(o.overload_s, 40 * (load - 1), 1e-6);
	assert_float_equal(o.unspent_j, 60 * (limit_w - low_w), 1e-6);
	assert_float_equal(o.joules, 40 * high_w + 60 * low_w, 1e-6);
	assert_float_equal(o.most_w, high_w, 1e-9);
	/* between two loads the account has time to empty itself */
	assert_true((1 - pow(low_w / limit_w, 2)) * 6 > (load * load - 1) * 4);
	assert_float_equal(o.most_heat_s, 4 * (load * load - 1), 1e-6);
	rig_free(&r);
}

static void refuse(Rig *r, const char *text)
{
	rig_write(r, text);
	assert_int_equal(rig_try(r, r->node_path, NULL), -EINVAL);
}

static void what_makes_no_sense_is_refused(void **state)
{
	Rig r;

	(void)state;
	log_set_max_level(LOG_ERR);
	rig_new(&r);
	refuse(&r, EXACT_HEAD "family_error = 10\n" NVME_IDLE);
	refuse(&r, EXACT_HEAD "family_error = -60%\n" NVME_IDLE);
	refuse(&r, EXACT_HEAD "drift = 5%\n" NVME_IDLE);
	refuse(&r, EXACT_HEAD "drift = 5%/s\n" NVME_IDLE);
	refuse(&r, EXACT_HEAD "drift = -5%/h\n" NVME_IDLE);
	refuse(&r, EXACT_HEAD NVME_IDLE "family_error = 5%\n"
					"[devices more]\nprofile = samsung-pm9a3\n");
	refuse(&r, EXACT_HEAD NVME_IDLE "[burst]\nevery = 10min\n");
	refuse(&r, EXACT_HEAD NVME_IDLE "[burst]\nevery = 10s\nfor = 20s\n");
	refuse(&r, EXACT_HEAD NVME_IDLE "[sensor a]\nnoise = 1%\n");
	refuse(&r, EXACT_HEAD NVME_IDLE "[sensor a]\nof = host\n");
	refuse(&r, EXACT_HEAD NVME_IDLE "[sensor a]\nof = group nowhere\n");
	refuse(&r, EXACT_HEAD NVME_IDLE "[sensor a]\nof = device sda\n");
	rig_write(&r, EXACT_HEAD NVME_IDLE "family_error = 5%\n[devices more]\n"
					   "profile = samsung-pm9a3\nfamily_error = +5%\n");
	assert_int_equal(rig_try(&r, r.node_path, NULL), 0);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_error_multiplies_the_dynamic_part_alone),
		cmocka_unit_test(a_family_error_adds_to_the_devices_own),
		cmocka_unit_test(all_devices_of_a_profile_share_its_error_and_others_keep_theirs),
		cmocka_unit_test(an_error_drifts_within_its_bound_and_moves_slowly),
		cmocka_unit_test(the_same_seed_drifts_alike_and_another_does_not),
		cmocka_unit_test(bursts_come_to_all_that_are_busy_at_once_and_to_no_other),
		cmocka_unit_test(a_burst_asks_for_the_share_of_full_speed_that_it_says),
		cmocka_unit_test(overload_and_what_is_unspent_are_counted_exactly),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
