/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A whole calibration, of a simulated drive. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "ctl/calibrate.h"
#include "hidden-drive.h"
#include "model/predict.h"

static char folder[] = "/tmp/storpower-calibrate-XXXXXX";
static char state_path[64], profile_path[64];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(state_path, sizeof(state_path), "%s/state", folder);
	snprintf(profile_path, sizeof(profile_path), "%s/new.profile", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(state_path);
	unlink(profile_path);
	return rmdir(folder);
}

static int clear_folder(void **state)
{
	(void)state;
	unlink(state_path);
	unlink(profile_path);
	return 0;
}

/* It is fast at first, and warms up. */
typedef struct Drive {
	int state;
	bool running, idle;
	Point at;
	unsigned round, starts, writes;
	unsigned interrupt_at; /* its so many'th job is interrupted; 0: none */
	unsigned refuse_at;
	bool never_settles;
	double run_w, this_run; /* its watts are off by so much from run to run, and in this one */
	uint64_t chance;
} Drive;

static int set_state(void *userdata, int state)
{
	Drive *d = userdata;

	assert_false(d->running);
	d->state = state;
	return 0;
}

static int start(void *userdata, const Point *p, unsigned most)
{
	Drive *d = userdata;

	assert_false(d->running);
	assert_true(most > 0);
	d->starts++;
	if (d->starts == d->refuse_at)
		return -EIO;
	d->running = true;
	d->this_run = 1 + (p ? d->run_w * hidden_normal(&d->chance) : 0);
	d->idle = !p;
	d->round = 0;
	if (p) {
		d->at = *p;
		d->writes += p->read_share < 1;
		assert_int_equal(p->power_state, d->state);
	}
	return 0;
}

static int round_of(void *userdata, RigRound *ret)
{
	Drive *d = userdata;
	double fresh = 1 + 0.5 * exp(-(double)d->round),
	       noise = 1 + 0.01 * hidden_normal(&d->chance);
	HiddenTruth t = { 0, HIDDEN_IDLE_W, 0 };

	assert_true(d->running);
	if (d->starts == d->interrupt_at)
		return -EINTR;
	if (!d->idle)
		t = hidden_truth(&d->at);
	if (d->never_settles && d->round % 2)
		fresh *= 2;
	d->round++;
	*ret = (RigRound){ t.mb_s * fresh * noise,
			   t.mb_s * fresh * noise * 1e6 / (d->at.chunk_kib * 1024.0),
			   t.watts * d->this_run * (1 + 0.005 * hidden_normal(&d->chance)) };
	return 0;
}

static int stop(void *userdata, size_t from, double *ret_p50_us, double *ret_p99_us)
{
	Drive *d = userdata;

	assert_true(d->running);
	assert_true(from <= d->round);
	d->running = false;
	*ret_p99_us = d->idle ? NAN : hidden_truth(&d->at).p99_us;
	*ret_p50_us = *ret_p99_us / 2;
	return 0;
}

static Rig rig_of(Drive *d)
{
	return (Rig){ d, set_state, start, round_of, stop };
}

static Calibration new_calibration(void)
{
	Calibration c = {
		.subject = { .name = "nvme0n1",
			     .model = "HIDDEN DRIVE [1]",
			     .firmware = "FW1",
			     .serial = "S1",
			     .who = "alice at node7",
			     .kernel = "6.1.0",
			     .fio = "fio-3.33",
			     .sensor = "riser",
			     .sensor_error = 0.01,
			     .capacity_bytes = 3840e9 / 10,
			     .kind = KIND_NVME,
			     .n_states = 5 },
		.plan = { .grid = { .states = { 0, 1, 2, 3 },
				    .depths = { 1, 4, 16, 64 },
				    .chunks_kib = { 4, 16, 64, 256 },
				    .streams = { { 1, RANDOM_IO },
						 { 1, SEQUENTIAL_IO },
						 { 0, RANDOM_IO },
						 { 0.7, RANDOM_IO } },
				    .n_states = 4,
				    .n_depths = 4,
				    .n_chunks = 4,
				    .n_streams = 4 },
			  .seed = 1,
			  .warm_up = 2,
			  .most = 30,
			  .sure = 0.02 },
		.idle_w = NAN,
	};

	for (unsigned i = 0; i < 4; i++)
		c.subject.states[i] = (PowerState){ .present = true,
						    .operational = true,
						    .max_w = hidden_state_w[i] };
	c.subject.states[4] = (PowerState){ .present = true, .max_w = 0.5, .exit_us = 8000 };
	return c;
}

static void write_profile(const Calibration *c, Profile **ret)
{
	_cleanup_free_ char *text = NULL;

	assert_int_equal(calibrate_profile(c, 1750000000, &text), 0);
	assert_int_equal(write_file_atomic(profile_path, text, 0600), 0);
	assert_int_equal(profile_read(profile_path, ret), 0);
}

static void a_calibration_gives_a_profile_that_can_be_used_and_is_true(void **state)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	Calibration c = new_calibration();
	Drive d = { .state = -1, .chance = 1 };
	Rig rig = rig_of(&d);
	double worst = 0;

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	assert_int_equal(d.state, -1);
	assert_int_equal(c.n_points + c.n_repeats, 64); /* a quarter of 256 */
	assert_int_equal(c.n_repeats, CALIBRATE_REPEATS);
	assert_float_equal(c.idle_w, HIDDEN_IDLE_W, 0.05);
	write_profile(&c, &p);
	assert_true(strv_match(p->models, "HIDDEN DRIVE [1]"));
	assert_true(p->n_points + p->n_mixes > 200 && p->n_mixes > 10);
	assert_true(p->states[4].present && !p->states[4].operational);
	for (size_t i = 0; i < p->n_points; i++) {
		const HiddenTruth t = hidden_truth(&p->points[i]);

		assert_true(p->points[i].p99_us > 0);
		if (!p->points[i].estimated)
			assert_float_equal(p->points[i].watts / t.watts, 1, 0.03);
		worst = fmax(worst, fabs(p->points[i].watts / t.watts - 1));
	}
	print_message("# %zu points, the watts of the worst are %.0f %% off\n",
		      p->n_points + p->n_mixes, 100 * worst);
	assert_true(worst < 0.2);
	calibration_done(&c);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of settings that were not measured; mixes wait longer than what they are mixed of. */
static void the_waits_of_settings_never_measured_are_told(void **state)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	Calibration c = new_calibration();
	Drive d = { .chance = 6 };
	Rig rig = rig_of(&d);
	double off[512];
	size_t n = 0;

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	write_profile(&c, &p);
	for (size_t i = 0; i < p->n_points + p->n_mixes; i++) {
		const Point *q = i < p->n_points ? &p->points[i] : &p->mixes[i - p->n_points].at;

		if (q->estimated)
			off[n++] = fabs(q->p99_us / hidden_truth(q).p99_us - 1);
	}
	assert_true(n > 150);
	qsort(off, n, sizeof(*off), by_size);
	print_message("# p99 is off by %.1f %% in the median, %.1f %% of 95 in 100\n",
		      100 * off[n / 2], 100 * off[n * 95 / 100]);
	assert_true(off[n / 2] <= 0.03 && off[n * 95 / 100] <= 0.15);
	calibration_done(&c);
}

static void what_a_profile_says_of_its_making_is_true(void **state)
{
	static const char *const words[] = { "Who: alice at node7\n",
					     "2025-06-15 15:06 UTC",
					     "Linux 6.1.0, with fio-3.33",
					     "Drive: firmware FW1\n",
					     "sensor \"riser\", right to 1 %",
					     "61 of a grid of 256",
					     "Repeats: 3 of them",
					     "[emerald]\nready_idle_gb_w = 73" };
	_cleanup_free_ char *text = NULL;
	Calibration c = new_calibration();
	Drive d = { .chance = 1 };
	Rig rig = rig_of(&d);

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	assert_int_equal(calibrate_profile(&c, 1750000000, &text), 0);
	for (size_t i = 0; i < ELEMENTSOF(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("\"%s\" is missing in\n%.1200s", words[i], text);
	calibration_done(&c);
}

static double best_of_a_watt(double read_share, Pattern t, unsigned kib)
{
	double best = 0;

	for (unsigned depth = 1; depth <= 64; depth *= 4) {
		HiddenTruth h = hidden_truth(&(Point){
			.read_share = read_share, .pattern = t, .chunk_kib = kib, .depth = depth });
		double ios = h.mb_s * 1e6 / (kib * 1024.0);

		best = fmax(best, (t == RANDOM_IO ? ios : h.mb_s) / h.watts);
	}
	return best;
}

/* Of what was measured of the nearest size; not every depth of it was. */
static void the_figures_of_emerald_are_read_from_the_profile(void **state)
{
	static const struct {
		EmeraldLoad load;
		double read_share;
		Pattern pattern;
	} wanted[] = { { EMERALD_HOT_BAND, 0.7, RANDOM_IO },
		       { EMERALD_RANDOM_READ, 1, RANDOM_IO },
		       { EMERALD_RANDOM_WRITE, 0, RANDOM_IO },
		       { EMERALD_SEQUENTIAL_READ, 1, SEQUENTIAL_IO } };
	_cleanup_(profile_freep) Profile *p = NULL;
	Calibration c = new_calibration();
	Drive d = { .chance = 1 };
	Rig rig = rig_of(&d);

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	write_profile(&c, &p);
	assert_float_equal(p->emerald.ready_idle_gb_w, 384 / c.idle_w, 1e-3);
	for (size_t i = 0; i < ELEMENTSOF(wanted); i++) {
		double kib = p->emerald.kib[wanted[i].load],
		       per_w = p->emerald.per_w[wanted[i].load];
		double best =
			best_of_a_watt(wanted[i].read_share, wanted[i].pattern, (unsigned)kib);

		print_message("# %s: %.0f of IOs of %.0f KiB, %.0f at best\n",
			      emerald_key(wanted[i].load), per_w, kib, best);
		assert_true(wanted[i].pattern == SEQUENTIAL_IO ? kib == 256 : kib == 4);
		assert_true(per_w <= 1.03 * best && per_w > 0.1 * best);
	}
	assert_true(p->emerald.kib[EMERALD_SEQUENTIAL_WRITE] == 0); /* is not in this grid */
	calibration_done(&c);
}

static void what_was_measured_is_settled_and_its_error_holds_the_truth(void **state)
{
	Calibration c = new_calibration();
	Drive d = { .chance = 2 };
	Rig rig = rig_of(&d);
	size_t held = 0;

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	for (size_t i = 0; i < c.n_points; i++) {
		const CalibratePoint *p = &c.points[i];
		const HiddenTruth t = hidden_truth(&p->at);

		assert_true(p->settled && p->rounds < 30 * 2); /* in two runs at most */
		assert_true(p->at.error >= c.subject.sensor_error);
		held += fabs(p->at.watts / t.watts - 1) <= p->at.error;
		/* its first second, twice as fast, is in no mean */
		assert_float_equal(p->at.mb_s / t.mb_s, 1, 0.08);
	}
	assert_true(held >= c.n_points * 9 / 10);
	calibration_done(&c);
}

/* A drive whose watts differ from run to run, as a warm one's from a cold one's: within a run
 * nothing shows it. */
static void how_far_runs_differ_is_in_the_error(void **state)
{
	size_t held = 0, n = 0;
	double spread = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		Calibration c = new_calibration();
		Drive d = { .chance = seed, .run_w = 0.03 };
		Rig rig = rig_of(&d);

		c.subject.sensor_error = 0.001;
		assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
		assert_int_equal(d.starts, 1 + c.n_points + CALIBRATE_REPEATS);
		spread += c.watts_spread / 5;
		for (size_t i = 0; i < c.n_points; i++, n++)
			held += fabs(c.points[i].at.watts / hidden_truth(&c.points[i].at).watts -
				     1) <= c.points[i].at.error;
		calibration_done(&c);
	}
	print_message("# runs differ by %.1f %%; %.0f %% of the errors hold the truth\n",
		      100 * spread, 100.0 * (double)held / (double)n);
	assert_true(spread > 0.03 && spread < 0.3);
	assert_true(held > n * 8 / 10);
}

/* What two runs agree on is known the better. */
static void a_point_that_was_measured_twice_is_the_mean_of_both(void **state)
{
	Calibration c = new_calibration();
	Drive d = { .chance = 2 };
	Rig rig = rig_of(&d);
	double first_w[CALIBRATE_REPEATS];

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, state_path, NULL, NULL), 0);
	for (size_t i = 0; i < CALIBRATE_REPEATS; i++)
		first_w[i] = calibrate_first_of(&c, &c.repeats[i].at)->at.watts;
	calibration_done(&c);
	c = new_calibration();
	assert_int_equal(calibrate_state_read(&c, state_path), 0);
	assert_int_equal(c.n_repeats, CALIBRATE_REPEATS);
	for (size_t i = 0; i < CALIBRATE_REPEATS; i++) {
		double was_w = calibrate_first_of(&c, &c.repeats[i].at)->at.watts;

		assert_true(was_w != c.repeats[i].at.watts);
		assert_float_equal(first_w[i], (was_w + c.repeats[i].at.watts) / 2, 1e-6);
	}
	calibration_done(&c);
}

static void what_never_settles_ends_and_says_so(void **state)
{
	Calibration c = new_calibration();
	Drive d = { .chance = 2, .never_settles = true };
	Rig rig = rig_of(&d);
	Point at = { .depth = 1, .chunk_kib = 4, .read_share = 1 };
	CalibratePoint p;

	(void)state;
	assert_int_equal(calibrate_point(&rig, &c, &at, &p), 0);
	assert_false(p.settled);
	assert_int_equal(p.rounds, 30);
	assert_true(p.mb_s_error > 0.05);
}

/* The states have gone back, and what was measured is not measured again. */
static void an_interrupted_run_goes_on_where_it_was(void **state)
{
	Calibration c = new_calibration(), resumed = new_calibration();
	Drive d = { .state = -1, .chance = 3, .interrupt_at = 40 };
	Rig rig = rig_of(&d);

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, state_path, NULL, NULL), -EINTR);
	assert_int_equal(d.state, -1);
	assert_false(d.running);
	assert_int_equal(c.n_points, 38); /* 39 jobs ended, the first was idling */
	d.interrupt_at = d.starts = 0;
	assert_int_equal(calibrate_state_read(&resumed, state_path), 0);
	assert_int_equal(resumed.n_points, 38);
	assert_float_equal(resumed.idle_w, c.idle_w, 1e-6);
	for (size_t i = 0; i < 38; i++) {
		assert_float_equal(resumed.points[i].at.watts, c.points[i].at.watts, 1e-6);
		assert_float_equal(resumed.points[i].at.p99_us, c.points[i].at.p99_us, 1e-3);
		assert_int_equal(resumed.points[i].rounds, c.points[i].rounds);
	}
	assert_int_equal(calibrate_run(&rig, &resumed, state_path, NULL, NULL), 0);
	assert_int_equal(resumed.n_points + resumed.n_repeats, 64);
	assert_int_equal(d.starts, 64 - 38);
	/* a third run, of what is done, measures nothing */
	calibration_done(&c);
	c = new_calibration();
	d.starts = 0;
	assert_int_equal(calibrate_state_read(&c, state_path), 0);
	assert_int_equal(c.n_repeats, CALIBRATE_REPEATS);
	assert_int_equal(calibrate_run(&rig, &c, state_path, NULL, NULL), 0);
	assert_int_equal(d.starts, 0);
	calibration_done(&c);
	calibration_done(&resumed);
}

static int read_state(const char *text, const char *firmware)
{
	Calibration c = new_calibration();
	int r;

	snprintf(c.subject.firmware, sizeof(c.subject.firmware), "%s", firmware);
	if (text)
		assert_int_equal(write_file_atomic(state_path, text, 0600), 0);
	r = calibrate_state_read(&c, state_path);
	calibration_done(&c);
	return r;
}

static void a_state_of_another_drive_or_none_at_all_is_refused(void **state)
{
	Calibration c = new_calibration();

	(void)state;
	assert_int_equal(read_state(NULL, "FW1"), -ENOENT);
	c.idle_w = 5;
	c.idle_error = 0.01;
	assert_int_equal(calibrate_state_begin(&c, state_path), 0);
	assert_int_equal(read_state(NULL, "FW1"), 0);
	assert_int_equal(read_state(NULL, "FW2"), -ESTALE);
	assert_int_equal(read_state("", "FW1"), -EBADMSG);
	assert_int_equal(read_state("no JSON\n", "FW1"), -EBADMSG);
	assert_int_equal(read_state("{}\n", "FW1"), -ESTALE);
}

/* The machine went down while a line was written. */
static void a_line_that_was_not_finished_is_dropped(void **state)
{
	const CalibratePoint p = {
		.at = { .depth = 1, .chunk_kib = 4, .read_share = 1, .watts = 6, .mb_s = 50 }
	};
	Calibration c = new_calibration(), again = new_calibration();
	_cleanup_free_ char *text = NULL;
	int fd;

	(void)state;
	c.idle_w = 5;
	assert_int_equal(calibrate_state_begin(&c, state_path), 0);
	assert_int_equal(calibrate_state_add(state_path, &p), 0);
	fd = open(state_path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write_all(fd, "{\"PowerSta", 10), 0);
	close(fd);
	assert_int_equal(calibrate_state_read(&c, state_path), 0);
	assert_int_equal(c.n_points, 1);
	assert_int_equal(calibrate_state_add(state_path, &p), 0);
	assert_int_equal(calibrate_state_read(&again, state_path), 0);
	assert_int_equal(again.n_points, 1);
	assert_int_equal(again.n_repeats, 1); /* it is of the same setting */
	calibration_done(&c);
	calibration_done(&again);
}

static void a_setting_that_is_refused_is_left_out(void **state)
{
	Calibration c = new_calibration();
	Drive d = { .chance = 4, .refuse_at = 10 };
	Rig rig = rig_of(&d);

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	assert_int_equal(c.n_points + c.n_repeats, 63);
	calibration_done(&c);
}

static void a_drive_that_gives_nothing_is_an_error(void **state)
{
	Calibration c = new_calibration();
	Drive d = { .refuse_at = 1 };
	Rig rig = rig_of(&d);

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, state_path, NULL, NULL), -EIO);
	assert_int_equal(access(state_path, F_OK), -1);
	calibration_done(&c);
}

static void reads_alone_write_nothing(void **state)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	Calibration c = new_calibration();
	Drive d = { .chance = 5 };
	Rig rig = rig_of(&d);

	(void)state;
	c.plan.grid.n_streams = 2;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	assert_int_equal(d.writes, 0);
	write_profile(&c, &p);
	calibration_done(&c);
}

/* Or a disk would never be put to sleep any more. */
static void what_is_not_measured_is_taken_over(void **state)
{
	_cleanup_(profile_freep) Profile *known = NULL, *p = NULL;
	Calibration c = new_calibration();
	Drive d = { .chance = 7 };
	Rig rig = rig_of(&d);

	(void)state;
	assert_int_equal(
		profile_read("policies/profiles/seagate-constellation-es2.profile", &known), 0);
	assert_true(known->rated_cycles_start > 0);
	c.known = known;
	assert_int_equal(calibrate_run(&rig, &c, NULL, NULL, NULL), 0);
	write_profile(&c, &p);
	assert_true(p->rated_cycles_start == known->rated_cycles_start);
	for (Condition i = CONDITION_IDLE_A; i < _CONDITION_MAX; i++) {
		const ConditionPower *a = &known->conditions[i], *b = &p->conditions[i];

		assert_true(a->present == b->present);
		if (!a->present)
			continue;
		assert_float_equal(b->watts, fmin(a->watts, c.idle_w), 0.002);
		assert_float_equal(b->recovery_s, a->recovery_s, 1e-5);
		assert_float_equal(b->wake_w, a->wake_w, 1e-3);
		assert_true(b->estimated == a->estimated);
	}
	calibration_done(&c);
}

static void note(const CalibrateProgress *p, void *userdata)
{
	size_t *last = userdata;

	assert_true(p->done >= *last && p->done <= p->most);
	assert_true(!p->point == (p->done == 0));
	assert_true(p->done < 2 || p->left_s >= 0);
	*last = p->done;
}

static void progress_is_told_after_each_point(void **state)
{
	Calibration c = new_calibration();
	Drive d = { .chance = 6 };
	Rig rig = rig_of(&d);
	size_t last = 0;

	(void)state;
	assert_int_equal(calibrate_run(&rig, &c, NULL, note, &last), 0);
	assert_int_equal(last, 64);
	calibration_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_calibration_gives_a_profile_that_can_be_used_and_is_true),
		cmocka_unit_test(the_waits_of_settings_never_measured_are_told),
		cmocka_unit_test(what_a_profile_says_of_its_making_is_true),
		cmocka_unit_test(the_figures_of_emerald_are_read_from_the_profile),
		cmocka_unit_test(what_was_measured_is_settled_and_its_error_holds_the_truth),
		cmocka_unit_test(how_far_runs_differ_is_in_the_error),
		cmocka_unit_test(a_point_that_was_measured_twice_is_the_mean_of_both),
		cmocka_unit_test(what_never_settles_ends_and_says_so),
		cmocka_unit_test_teardown(an_interrupted_run_goes_on_where_it_was, clear_folder),
		cmocka_unit_test_teardown(a_state_of_another_drive_or_none_at_all_is_refused,
					  clear_folder),
		cmocka_unit_test_teardown(a_line_that_was_not_finished_is_dropped, clear_folder),
		cmocka_unit_test(a_setting_that_is_refused_is_left_out),
		cmocka_unit_test(a_drive_that_gives_nothing_is_an_error),
		cmocka_unit_test(reads_alone_write_nothing),
		cmocka_unit_test(what_is_not_measured_is_taken_over),
		cmocka_unit_test(progress_is_told_after_each_point),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
