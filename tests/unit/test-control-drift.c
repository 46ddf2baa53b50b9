/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Energies fitted by the running manager to what a sensor says, beside the profile's: found where
 * the load tells of them, and never a wrong figure. */

#include "test-control.h"

#include <errno.h>

#include "control/drift-report.h"
#include "control/drift.h"

#define PROFILE "samsung-pm9a3"
#define FLASH(name, io)                                                                            \
	"[devices " name "]\nprofile = " PROFILE "\ncount = 10\nprefix = " name "\ngroup = " name  \
	"\nqueues = 4\ndepth = 64\n" io
#define READS(size)  "random = 100%\nread = 100%\nread_size = " size "\n"
#define WRITES(size) "random = 100%\nread = 0%\nwrite_size = " size "\n"
#define HEAD(errors)                                                                               \
	"[node]\nname = test\nseed = 3\nmodel_error = 0%\nsensors = none\npolicy = balanced\n" errors
#define SENSOR(how) "[sensor psu]\nof = node\n" how

#define STREAMS(size) "random = 0%\nread = 100%\nread_size = " size "\n"

/* Fifty drives; the kinds of IO walk apart. */
#define LOADS                                                                                      \
	FLASH("ra", READS("4K") "demand = 0:400 70s:2000 150s:1100\nrepeat = 200s\n")              \
	FLASH("rb", READS("64K") "demand = 0:4000 50s:600 110s:2500\nrepeat = 170s\n")             \
	FLASH("wa", WRITES("4K") "demand = 0:100 40s:500 130s:300\nrepeat = 230s\n")               \
	FLASH("wb", WRITES("64K") "demand = 0:1100 90s:200 140s:700\nrepeat = 190s\n")             \
	FLASH("sr", STREAMS("256K") "demand = 0:5000 60s:1000 100s:3000\nrepeat = 150s\n")
#define STILL                                                                                      \
	FLASH("ra", READS("4K") "demand = constant 1000\n")                                        \
	FLASH("wb", WRITES("64K") "demand = constant 700\n")

static const char untrue[] =
	HEAD("family_error = 18%\ndrift = 3%/h\n") LOADS SENSOR("noise = 1%\n");

/* Somebody looks all the time, and no limit is set. */
static void watch(Fixture *f, double seconds)
{
	for (double passed = 0; passed < seconds; passed += 5) {
		control_note_asked(f->control);
		fixture_run(f, 5);
	}
}

static DriftState drift_of(const Fixture *f)
{
	_cleanup_free_ DriftState *states = NULL;
	size_t n;

	assert_int_equal(control_drift(f->control, &states, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(states[0].profile, PROFILE);
	assert_string_equal(states[0].sensor, "psu");
	assert_int_equal(states[0].n_devices, f->control->fleet.n);
	return states[0];
}

static const DriftFigure *figure_of(const DriftState *s, const char *name)
{
	for (size_t i = 0; i < DRIFT_FIGURES; i++)
		if (streq(s->figures[i].name, name))
			return &s->figures[i];
	fail_msg("there is no figure %s", name);
	return NULL;
}

static size_t count_determined(const DriftState *s)
{
	size_t n = 0;

	for (size_t i = 0; i < DRIFT_FIGURES; i++) {
		const DriftFigure *g = &s->figures[i];

		assert_true(g->determined == isfinite(g->fitted));
		assert_true(g->determined == isfinite(g->error));
		n += g->determined;
	}
	return n;
}

/* What was truly drawn and moved by the drives of that prefix so far. */
typedef struct Spent {
	double joules, ios;
	double second;
} Spent;

static Spent spent_by(const Fixture *f, const char *prefix)
{
	Spent s = { .second = (double)now_us(f) / USEC_PER_SEC };

	for (size_t i = 0; i < f->control->fleet.n; i++) {
		Device *d = f->control->fleet.devices[i]->device;
		DeviceCounters k;

		if (strncmp(d->name, prefix, strlen(prefix)))
			continue;
		assert_int_equal(d->ops->counters(d, &k), 0);
		s.ios += (double)(k.ios[READ_IO] + k.ios[WRITE_IO]);
		s.joules += account_of(f, d->name).joules;
	}
	return s;
}

/* Above idle, an IO. */
static double true_joules(const Fixture *f, const char *prefix, const Spent *from)
{
	double idle_w = 10 * f->control->fleet.devices[0]->device->profile->idle_w;
	Spent to = spent_by(f, prefix);

	return (to.joules - from->joules - idle_w * (to.second - from->second)) /
	       (to.ios - from->ios);
}

static void print_found(const char *name, const DriftFigure *g, double truth)
{
	print_message("# %-17s profile %.3g, truth %.3g, fitted %.3g +- %.2g: %.1f %% off\n", name,
		      g->profile, truth, g->fitted, g->error, 100 * (g->fitted / truth - 1));
}

/* Of IOs of 1 and of 16 pages: what they cost is within 5 % of the truth, and so is a page; an IO
 * without its pages is a small part of that, and known to its interval. */
static void assert_line_found(const Fixture *f, const char *const *prefixes, const Spent *from,
			      const char *io_name, const char *page_name)
{
	double small_j = true_joules(f, prefixes[0], &from[0]);
	double large_j = true_joules(f, prefixes[1], &from[1]), page_j = (large_j - small_j) / 15;
	DriftState s = drift_of(f);
	const DriftFigure *io = figure_of(&s, io_name), *page = figure_of(&s, page_name);

	print_found(page_name, page, page_j);
	print_found(io_name, io, small_j - page_j);
	assert_true(page->determined && io->determined);
	assert_float_equal(page->fitted / page_j, 1, 0.05);
	assert_float_equal((io->fitted + page->fitted) / small_j, 1, 0.05);
	assert_float_equal((io->fitted + 16 * page->fitted) / large_j, 1, 0.05);
	assert_true(fabs(page->fitted - page_j) < page->error);
	assert_true(fabs(io->fitted - (small_j - page_j)) < io->error);
}

static void the_energies_of_fifty_drives_are_found_by_one_sensor(void **state)
{
	static const char *const prefixes[] = { "ra", "rb", "wa", "wb" };
	Spent from[4];
	Fixture f;

	(void)state;
	fixture_open_text(&f, untrue);
	fixture_start(&f);
	fixture_run(&f, 5);
	for (size_t i = 0; i < 4; i++)
		from[i] = spent_by(&f, prefixes[i]);
	watch(&f, 1800);
	assert_line_found(&f, &prefixes[0], &from[0], "random-read-io", "random-read-page");
	assert_line_found(&f, &prefixes[2], &from[2], "random-write-io", "random-write-page");
	fixture_close(&f);
}

static void assert_nothing_determined(const DriftState *s)
{
	if (count_determined(s))
		print_error("%zu determined; all IO %.3f +- %.3f\n", count_determined(s),
			    s->figures[0].fitted, s->figures[0].error);
	assert_int_equal(count_determined(s), 0);
	assert_true(*s->why_not);
}

static DriftState run_node(const char *node, double seconds)
{
	DriftState s;
	Fixture f;

	fixture_open_text(&f, node);
	fixture_start(&f);
	watch(&f, seconds);
	s = drift_of(&f);
	print_message("# %.0f observations: %s\n", s.observations, s.why_not);
	fixture_close(&f);
	return s;
}

static void a_load_that_never_varies_determines_nothing(void **state)
{
	DriftState s;

	(void)state;
	s = run_node(HEAD("family_error = 18%\n") STILL SENSOR("noise = 0.1%\n"), 900);
	assert_true(s.observations > 300);
	assert_nothing_determined(&s);
}

/* One size of IO: what an IO costs cannot be told from what a page costs, but what all costs can.
 */
static void one_size_of_io_determines_the_whole_alone(void **state)
{
	DriftState s;

	(void)state;
	s = run_node(HEAD("family_error = 18%\n") FLASH(
			     "ra", READS("4K") "demand = 0:400 70s:2000 150s:1100\nrepeat = 200s\n")
			     SENSOR("noise = 1%\n"),
		     900);
	assert_true(figure_of(&s, "all-io")->determined);
	assert_true(figure_of(&s, "all-io")->fitted > 1.05);
	assert_true(figure_of(&s, "idle")->determined);
	assert_false(figure_of(&s, "random-read-io")->determined);
	assert_false(figure_of(&s, "random-read-page")->determined);
	assert_false(figure_of(&s, "random-write-io")->determined);
}

static void a_sensor_that_is_biased_determines_nothing(void **state)
{
	DriftState s;

	(void)state;
	s = run_node(HEAD("") LOADS SENSOR("noise = 1%\nbias = 20%\n"), 900);
	assert_true(s.observations > 300);
	assert_nothing_determined(&s);
}

#define REPEATED_LOOKS 20 /* until the draw moves, and the reading does not */

/* The node's own sensor, until it goes bad. */
typedef struct Psu {
	enum { SOUND, STUCK, SILENT, LATE, HIGH } state;
	SensorConfig *own;
	const Clock *clock;
	double last_w, kept_w[8]; /* of the last seconds */
} Psu;

static int psu_read(void *source, double *ret_w)
{
	Psu *p = source;
	double *kept_w = &p->kept_w[clock_now_us(p->clock) / USEC_PER_SEC % 8], late_w = *kept_w;
	int r = p->own->read(p->own->source, kept_w);

	if (r < 0 || p->state == SILENT)
		return -ENODATA;
	if (p->state == STUCK)
		*ret_w = p->last_w;
	else if (p->state == LATE) /* by 8 s */
		*ret_w = late_w;
	else
		*ret_w = p->state == HIGH ? 1.2 * *kept_w : *kept_w;
	p->last_w = *ret_w;
	return 0;
}

static void open_with_psu(Fixture *f, Psu *p, SensorConfig *config)
{
	size_t n = 0;

	fixture_open_text(f, HEAD("family_error = 18%\n") LOADS SENSOR("noise = 1%\n"));
	*p = (Psu){ .clock = &f->loop->clock };
	assert_int_equal(sim_node_sensors(f->node, &p->own, &n), 0);
	*config = (SensorConfig){ .name = (char *)"psu",
				  .target = (char *)"",
				  .type = SENSOR_BUILT_IN,
				  .scope = SENSOR_OF_NODE,
				  .read = psu_read,
				  .source = p };
	fixture_start(f);
	/* in the place of the node file's own */
	sensor_free(f->control->gauges.gauges[0].sensor);
	assert_int_equal(sensor_new(config, "/sys", &f->control->gauges.gauges[0].sensor), 0);
}

/* What is still said after five minutes is what was said before, to within the errors: a sensor
 * that is late widens them. */
static void assert_said_before(const DriftState *before, const DriftState *after)
{
	for (size_t i = 0; i < DRIFT_FIGURES; i++) {
		const DriftFigure *a = &before->figures[i], *b = &after->figures[i];

		if (!b->determined || !a->determined)
			continue;
		assert_true(fabs(a->fitted - b->fitted) < a->error + b->error);
	}
}

static void a_sensor_that_goes_bad_changes_nothing_that_is_shown(void **state)
{
	(void)state;
	for (int bad = STUCK; bad <= HIGH; bad++) {
		DriftState before, after;
		SensorConfig config;
		Fixture f;
		Psu psu;

		open_with_psu(&f, &psu, &config);
		watch(&f, 900);
		before = drift_of(&f);
		assert_true(count_determined(&before) >= 4);
		psu.state = bad;
		watch(&f, 300);
		after = drift_of(&f);
		print_message("# state %d: %.0f observations, %zu determined; then %.0f, %zu: %s\n",
			      bad, before.observations, count_determined(&before),
			      after.observations, count_determined(&after), after.why_not);
		print_message("#   all IO %.3f +- %.3f, then %.3f +- %.3f\n",
			      before.figures[0].fitted, before.figures[0].error,
			      after.figures[0].fitted, after.figures[0].error);
		assert_said_before(&before, &after);
		if (bad == STUCK || bad == SILENT) /* what it says is not counted */
			assert_true(after.observations <
				    before.observations * exp(-300 / 600.0) + REPEATED_LOOKS);
		sensor_config_done(psu.own);
		free(psu.own);
		fixture_close(&f);
	}
}

/* As meters that tell the mean of some seconds are. */
static void a_sensor_that_is_three_seconds_late_is_as_good(void **state)
{
	DriftState late, prompt;
	const DriftFigure *a, *b;

	(void)state;
	late = run_node(HEAD("family_error = 18%\n") LOADS SENSOR("delay = 3s\n"), 900);
	prompt = run_node(HEAD("family_error = 18%\n") LOADS SENSOR(""), 900);
	a = figure_of(&late, "random-read-page");
	b = figure_of(&prompt, "random-read-page");
	print_message("# %.3g +- %.2g, %.3g +- %.2g\n", a->fitted, a->error, b->fitted, b->error);
	assert_true(a->determined && b->determined);
	assert_float_equal(a->fitted / b->fitted, 1, 0.03);
}

static void readings_that_drop_out_are_left_out(void **state)
{
	DriftState s;

	(void)state;
	s = run_node(HEAD("family_error = 18%\n")
			     LOADS SENSOR("noise = 1%\ndropout = 30%\noutage = 20s\n"),
		     1800);
	assert_true(s.observations > 100 && s.observations < 400);
	assert_true(figure_of(&s, "all-io")->determined);
	assert_true(figure_of(&s, "random-read-page")->determined);
}

/* The energies are those of drives that nothing holds back. */
static void drives_in_a_lower_power_state_are_left_out(void **state)
{
	double before;
	Fixture f;

	(void)state;
	fixture_open_text(&f, untrue);
	fixture_start(&f);
	watch(&f, 300);
	before = drift_of(&f).observations;
	for (size_t i = 0; i < f.control->fleet.n; i++) {
		Setting s = f.control->fleet.devices[i]->knobs.target;

		s.power_state = i == 0 ? 1 : s.power_state;
		aim_at(&f, f.control->fleet.devices[i], &s);
	}
	watch(&f, 60);
	assert_int_equal(f.control->fleet.devices[0]->knobs.actual.power_state, 1);
	assert_true(drift_of(&f).observations < before);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_energies_of_fifty_drives_are_found_by_one_sensor),
		cmocka_unit_test(a_load_that_never_varies_determines_nothing),
		cmocka_unit_test(one_size_of_io_determines_the_whole_alone),
		cmocka_unit_test(a_sensor_that_is_biased_determines_nothing),
		cmocka_unit_test(a_sensor_that_goes_bad_changes_nothing_that_is_shown),
		cmocka_unit_test(a_sensor_that_is_three_seconds_late_is_as_good),
		cmocka_unit_test(readings_that_drop_out_are_left_out),
		cmocka_unit_test(drives_in_a_lower_power_state_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
