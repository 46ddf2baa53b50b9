/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is kept free of a budget because the model and the sensor may err: the online fit of
 * energies narrows it where it knows the draw better than the last seconds do, and widens it where
 * it says that these are off. */

#include "test-control.h"

#include "control/correct.h"
#include "control/drift.h"

#define FLASH(name, io)                                                                            \
	"[devices " name "]\nprofile = samsung-pm9a3\ncount = 10\nprefix = " name                  \
	"\nqueues = 4\ndepth = 64\nrandom = 100%\n" io
/* The kinds of IO walk apart. */
#define LOADS                                                                                      \
	FLASH("ra",                                                                                \
	      "read = 100%\nread_size = 4K\ndemand = 0:400 70s:2000 150s:1100\nrepeat = 200s\n")   \
	FLASH("rb",                                                                                \
	      "read = 100%\nread_size = 64K\ndemand = 0:4000 50s:600 110s:2500\nrepeat = 170s\n")  \
	FLASH("wa",                                                                                \
	      "read = 0%\nwrite_size = 4K\ndemand = 0:100 40s:500 130s:300\nrepeat = 230s\n")      \
	FLASH("wb",                                                                                \
	      "read = 0%\nwrite_size = 64K\ndemand = 0:1100 90s:200 140s:700\nrepeat = 190s\n")
#define NODE(errors)                                                                                  \
	"[node]\nname = test\nseed = 3\nmodel_error = 5%\nsensors = none\npolicy = balanced\n" errors \
		LOADS

#define DEVIATIONS 2 /* correct.c */

/* Of looks in which the draw was still. */
typedef struct Kept {
	size_t looks, told;
	/* the draw was no more than what is believed and the margin, or that of the correction */
	size_t held, held_alone;
	double margin, by_correction, by_profile; /* means, percent of the draw */
} Kept;

static double believed_w(const Fixture *f, double *ret_profile_w)
{
	double w = 0;

	for_each_device(const Managed, md, &f->control->fleet)
	{
		w += md->trust.fixed_w + md->trust.dynamic_w * md->trust.correction;
		*ret_profile_w += md->trust.dynamic_w * md->device->profile->energy_error;
	}
	return w;
}

static void note(Fixture *f, Kept *k, double true_w)
{
	const Gauges *g = &f->control->gauges;
	double profile_w = 0, w = believed_w(f, &profile_w);
	double margin_w = correct_margin_w(g, &f->control->fleet);
	const Correction *c = &g->gauges[0].correction;

	double alone_w = margin_w + DEVIATIONS * (c->off_w - c->kept_off_w);

	k->looks++;
	k->told += g->drift[0].told_w > 0;
	k->held += true_w <= w + margin_w;
	k->margin += margin_w / true_w;
	k->held_alone += true_w <= w + alone_w;
	k->by_correction += alone_w / true_w;
	k->by_profile += profile_w / true_w;
}

static Kept keep(const char *node, unsigned learned_s, unsigned seconds)
{
	double before_w = 0, true_w;
	Kept k = {};
	Fixture f;

	fixture_open_text(&f, node);
	fixture_start(&f);
	for (unsigned i = 0; i < learned_s + seconds; i++) {
		control_note_asked(f.control);
		fixture_run(&f, 1);
		true_w = sim_node_true_watts(f.node);
		if (i >= learned_s && fabs(true_w - before_w) < 0.005 * true_w &&
		    f.control->gauges.drift[0].steady > 1)
			note(&f, &k, true_w);
		before_w = true_w;
	}
	fixture_close(&f);
	assert_true(k.looks > 20);
	k.margin *= 100 / (double)k.looks;
	k.by_correction *= 100 / (double)k.looks;
	k.by_profile *= 100 / (double)k.looks;
	print_message(
		"# %zu looks, the fit tells in %zu: %.2f %% of the draw is kept free, %.2f %% by "
		"the correction alone, %.2f %% by the profile; held in %.1f %%, by the correction in %.1f %%\n",
		k.looks, k.told, k.margin, k.by_correction, k.by_profile,
		100 * (double)k.held / (double)k.looks,
		100 * (double)k.held_alone / (double)k.looks);
	return k;
}

#define SENSOR(how) "[sensor psu]\nof = node\n" how
#define LEARNED_S   2400
#define KEPT_S      1200

/* Beside what the profile says and what the correction alone would keep. */
static void a_good_sensor_narrows_what_is_kept_free(void **state)
{
	Kept k;

	(void)state;
	k = keep(NODE("family_error = 18%\n") SENSOR("noise = 0.2%\n"), LEARNED_S, KEPT_S);
	assert_true(k.told > k.looks / 2);
	assert_true(k.margin < 0.3 * k.by_profile);
	assert_true(k.margin < k.by_correction);
	assert_true(k.held > 0.97 * k.looks);
}

/* Drives that draw more and less from minute to minute than they did in the half hour before. */
static void drift_widens_it(void **state)
{
	Kept still, drifting;

	(void)state;
	still = keep(NODE("family_error = 18%\n") SENSOR("noise = 1%\n"), LEARNED_S, KEPT_S);
	drifting = keep(NODE("family_error = 18%\ndrift = 20%/10min\n") SENSOR("noise = 1%\n"),
			LEARNED_S, KEPT_S);
	assert_true(drifting.told > drifting.looks / 2);
	assert_true(drifting.margin > 1.3 * still.margin);
	assert_true(drifting.margin > 1.3 * drifting.by_correction);
	assert_true(drifting.margin < drifting.by_profile);
	assert_true(drifting.held >= drifting.held_alone);
	assert_true(still.held >= still.held_alone);
}

/* Until it has seen enough, and where the sensor is biased, the correction stands alone. */
static void a_fit_that_does_not_hold_moves_nothing(void **state)
{
	Kept biased, early;

	(void)state;
	biased = keep(NODE("") SENSOR("noise = 0.2%\nbias = 20%\n"), 900, 300);
	early = keep(NODE("") SENSOR("noise = 0.2%\n"), 10, 80);
	assert_int_equal(biased.told + early.told, 0);
	assert_float_equal(biased.margin, biased.by_correction, 1e-9);
	assert_float_equal(early.margin, early.by_correction, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_sensor_narrows_what_is_kept_free),
		cmocka_unit_test(drift_widens_it),
		cmocka_unit_test(a_fit_that_does_not_hold_moves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
