/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The power sensors of a node file: late, biased, noisy and at times silent, as it says. */

#include "test-sim.h"

#include <math.h>

#define STEPPING                                                                                   \
	"[devices flash]\nprofile = samsung-pm9a3\ngroup = a\ndemand = 0:0 10s:1000 20s:0\n"       \
	"repeat = 40s\n[devices disk]\nprofile = seagate-exos-7e2000\ngroup = b\n"                 \
	"demand = constant 20\n"
#define STEADY                                                                                     \
	"[devices flash]\nprofile = samsung-pm9a3\ngroup = a\ndemand = constant 500\n"             \
	"[devices disk]\nprofile = seagate-exos-7e2000\ngroup = b\ndemand = constant 20\n"

typedef struct Sensed {
	Rig rig;
	SensorConfig *sensors;
	size_t n;
} Sensed;

static void sensed_open(Sensed *s, const char *node)
{
	*s = (Sensed){};
	rig_new(&s->rig);
	rig_open(&s->rig, node);
	assert_int_equal(sim_node_sensors(s->rig.node, &s->sensors, &s->n), 0);
}

static void sensed_close(Sensed *s)
{
	for (size_t i = 0; i < s->n; i++)
		sensor_config_done(&s->sensors[i]);
	free(s->sensors);
	rig_free(&s->rig);
}

static int sensed_try(Sensed *s, size_t i, double *ret_w)
{
	return s->sensors[i].read(s->sensors[i].source, ret_w);
}

static double sensed(Sensed *s, size_t i)
{
	double w = NAN;

	assert_int_equal(sensed_try(s, i, &w), 0);
	return w;
}

#define HEAD "[node]\nname = test\nseed = 7\n"

static void a_sensor_measures_the_node_a_group_or_a_device(void **state)
{
	double flash_w;
	Sensed s;

	(void)state;
	sensed_open(&s, HEAD STEADY "[sensor all]\nof = node\n[sensor some]\nof = group b\n"
				    "[sensor one]\nof = device nvme0\n");
	assert_int_equal(s.n, 3);
	assert_string_equal(s.sensors[1].name, "some");
	assert_string_equal(s.sensors[1].target, "b");
	assert_int_equal(s.sensors[2].scope, SENSOR_OF_DEVICE);
	rig_pass(&s.rig, 1);
	assert_float_equal(sensed(&s, 0), rig_watts(&s.rig), 1e-9);
	assert_float_equal(sensed(&s, 1) + sensed(&s, 2), rig_watts(&s.rig), 1e-9);
	flash_w = sensed(&s, 2);
	assert_int_equal(rig_device(&s.rig, "sda")
				 ->ops->condition_set(rig_device(&s.rig, "sda"), CONDITION_IDLE_A),
			 0);
	assert_float_equal(sensed(&s, 2), flash_w, 1e-9);
	sensed_close(&s);
}

static void a_sensor_is_late_by_its_delay(void **state)
{
	double low_w, high_w;
	Sensed s;

	(void)state;
	sensed_open(&s, HEAD STEPPING "[sensor all]\nof = node\ndelay = 500ms\n");
	rig_pass(&s.rig, 9.9);
	low_w = rig_watts(&s.rig);
	rig_pass(&s.rig, 0.2);
	high_w = rig_watts(&s.rig);
	assert_true(high_w > low_w + 2);
	assert_float_equal(sensed(&s, 0), low_w, 1e-9);
	rig_pass(&s.rig, 0.399);
	assert_float_equal(sensed(&s, 0), low_w, 1e-9);
	rig_pass(&s.rig, 0.002);
	assert_float_equal(sensed(&s, 0), high_w, 1e-9);
	sensed_close(&s);
}

static void a_sensor_is_biased_and_spreads_as_told(void **state)
{
	double sum = 0, squares = 0, true_w;
	Sensed s;

	(void)state;
	sensed_open(&s, HEAD STEADY "[sensor a]\nof = node\nbias = +2%\n"
				    "[sensor b]\nof = node\nbias = -3%\nnoise = 1%\n");
	true_w = rig_watts(&s.rig);
	assert_float_equal(sensed(&s, 0), 1.02 * true_w, 1e-9);
	for (int i = 0; i < 2000; i++) {
		double off;

		rig_pass(&s.rig, 1);
		off = sensed(&s, 1) / (0.97 * true_w) - 1;
		sum += off;
		squares += off * off;
	}
	assert_float_equal(sum / 2000, 0, 0.001);
	assert_float_equal(sqrt(squares / 2000), 0.01, 0.001);
	sensed_close(&s);
}

static void a_sensor_is_silent_for_its_share_in_episodes(void **state)
{
	unsigned lost = 0, episodes = 0;
	bool was = false;
	Sensed s;

	(void)state;
	sensed_open(&s, HEAD STEADY "[sensor a]\nof = node\ndropout = 2%\noutage = 10s\n"
				    "[sensor b]\nof = node\n[sensor c]\nof = node\n"
				    "dropout = 100%\n");
	for (int i = 0; i < 50000; i++) {
		double w = NAN;
		int r = sensed_try(&s, 0, &w);

		assert_true(r == 0 || (r == -ENODATA && isnan(w)));
		lost += r < 0;
		episodes += r < 0 && !was;
		was = r < 0;
		rig_pass(&s.rig, 1);
	}
	assert_float_equal(lost, 1000, 20);
	assert_float_equal(episodes, 100, 5);
	sensed(&s, 1);
	assert_int_equal(sensed_try(&s, 2, &(double){ 0 }), -ENODATA);
	sensed_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sensor_measures_the_node_a_group_or_a_device),
		cmocka_unit_test(a_sensor_is_late_by_its_delay),
		cmocka_unit_test(a_sensor_is_biased_and_spreads_as_told),
		cmocka_unit_test(a_sensor_is_silent_for_its_share_in_episodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
