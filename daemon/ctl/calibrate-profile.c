/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "ctl/calibrate.h"

#define PROFILE_POINTS_MAX 1000 /* profile_read() takes some more */
#define ERROR_LEAST        0.001

/* The points of a profile: those measured, and between them as many of the grid as a profile may
 * hold, as the models tell them. */
typedef struct Points {
	Point *list;
	size_t n;
	double rated_w;
	/* The 99th percentile over the mean wait, of the point in the middle of a stream: among
	 * reads and writes that wait for each other few wait long. */
	double wait_p99[DESIGN_AXIS_MAX];
} Points;

static int add(Points *all, const Point *p)
{
	Point *slot = ARRAY_GROW(all->list, all->n);

	if (!slot)
		return -ENOMEM;
	*slot = *p;
	return 0;
}

static bool same_but_depth(const Point *a, const Point *b)
{
	return a->power_state == b->power_state && a->chunk_kib == b->chunk_kib &&
	       a->read_share == b->read_share && a->pattern == b->pattern;
}

static bool has(const Points *all, const Point *p)
{
	for (size_t i = 0; i < all->n; i++)
		if (same_but_depth(&all->list[i], p) && all->list[i].depth == p->depth)
			return true;
	return false;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool is_of_stream(const Point *p, const DesignStream *s)
{
	return p->read_share == s->read_share && p->pattern == s->pattern;
}

/* Mean waits are depth over IOs a second (Little's law). stream NULL: of all points. */
static double middle_wait(const Calibration *c, const DesignStream *stream)
{
	_cleanup_free_ double *waits = calloc(c->n_points + 1, sizeof(*waits));
	size_t n = 0;

	for (size_t i = 0; waits && i < c->n_points; i++) {
		const Point *p = &c->points[i].at;

		if (p->p99_us > 0 && p->iops > 0 && (!stream || is_of_stream(p, stream)))
			waits[n++] = p->p99_us * p->iops / p->depth / 1e6;
	}
	if (n == 0)
		return stream ? middle_wait(c, NULL) : 0;
	qsort(waits, n, sizeof(*waits), by_number);
	return waits[n / 2];
}

static int add_estimate(const Calibration *c, Points *all, size_t candidate)
{
	Point p = design_point(c->design, candidate);
	DesignGuess guess;

	if (has(all, &p) || design_guess(c->design, &p, &guess) < 0)
		return 0;
	p.watts = guess.watts;
	p.mb_s = guess.mb_s;
	p.iops = p.mb_s * 1e6 / (p.chunk_kib * 1024.0);
	p.p99_us = all->wait_p99[candidate % c->plan.grid.n_streams] * p.depth / p.iops * 1e6;
	p.error = hypot(hypot(guess.watts_error, c->subject.sensor_error), c->watts_spread);
	p.estimated = true;
	return add(all, &p);
}

static bool is_of_level(size_t i, size_t n, size_t step)
{
	return i % step == 0 || i + 1 == n;
}

/* First every fourth depth and chunk, then every second one, then all, for as long as there is
 * room: a coarse table that is whole tells more than a fine one with holes. */
static int add_estimates(const Calibration *c, Points *all)
{
	const DesignGrid *g = &c->plan.grid;
	int r = 0;

	if (!g->n_streams || !g->n_chunks || !g->n_depths)
		return 0; /* there is nothing to estimate */
	for (size_t step = 4; step > 0; step /= 2)
		for (size_t i = 0; i < design_candidates(c->design) && r >= 0; i++) {
			size_t chunk = i / g->n_streams % g->n_chunks;
			size_t depth = i / g->n_streams / g->n_chunks % g->n_depths;

			if (all->n < PROFILE_POINTS_MAX && is_of_level(depth, g->n_depths, step) &&
			    is_of_level(chunk, g->n_chunks, step))
				r = add_estimate(c, all, i);
		}
	return r;
}

static double *figure_of(Point *p, size_t offset)
{
	return (double *)((char *)p + offset);
}

/* Makes figures that should not fall along a line, and do by noise, the mean of their neighbours
 * (pool adjacent violators). The line's errors grow by what that changes. */
static void pool(Point *line, size_t n, size_t figure)
{
	for (size_t i = 1; i < n; i++) {
		double sum = *figure_of(&line[i], figure);
		size_t from = i;

		while (from > 0 &&
		       *figure_of(&line[from - 1], figure) > sum / (double)(i - from + 1)) {
			from--;
			sum += *figure_of(&line[from], figure);
		}
		for (size_t k = from; k <= i; k++) {
			double mean = sum / (double)(i - from + 1);
			double *f = figure_of(&line[k], figure);

			line[k].error = fmax(line[k].error, fabs(*f / mean - 1));
			*f = mean;
		}
	}
}

/* A reader takes it that who asks for more is served no less, by a drive that draws no less and
 * answers no sooner. The list is sorted by depth within each line. */
static void level(Point *line, size_t n)
{
	for (size_t i = 1; i < n; i++)
		line[i].p99_us = fmax(line[i].p99_us, line[i - 1].p99_us);
	pool(line, n, offsetof(Point, watts));
	pool(line, n, offsetof(Point, mb_s));
	for (size_t i = 0; i < n; i++)
		line[i].iops = line[i].mb_s * 1e6 / (line[i].chunk_kib * 1024.0);
}

static int by_place(const void *a, const void *b)
{
	const Point *p = a, *q = b;
	const double order[] = { p->power_state - q->power_state, q->read_share - p->read_share,
				 (double)p->pattern - q->pattern,
				 (double)p->chunk_kib - q->chunk_kib, (double)p->depth - q->depth };

	for (size_t i = 0; i < ELEMENTSOF(order); i++)
		if (order[i] != 0)
			return order[i] > 0 ? 1 : -1;
	return 0;
}

static void make_consistent(const Calibration *c, Points *all)
{
	if (all->n == 0)
		return;
	qsort(all->list, all->n, sizeof(*all->list), by_place);
	for (size_t i = 0, n; i < all->n; i += n) {
		for (n = 1; i + n < all->n && same_but_depth(&all->list[i], &all->list[i + n]);)
			n++;
		level(all->list + i, n);
	}
	for (size_t i = 0; i < all->n; i++) {
		Point *p = &all->list[i];

		p->watts = fmax(p->watts, c->idle_w);
		p->error = CLAMP(p->error, ERROR_LEAST, 1.0);
		all->rated_w = fmax(all->rated_w, p->watts * (1 + (p->estimated ? 0 : p->error)));
	}
}

static int gather(const Calibration *c, Points *all)
{
	int r = 0;

	for (size_t i = 0; i < c->plan.grid.n_streams; i++)
		all->wait_p99[i] = middle_wait(c, &c->plan.grid.streams[i]);
	for (size_t i = 0; i < c->n_points && r >= 0; i++)
		if (all->n < PROFILE_POINTS_MAX && !has(all, &c->points[i].at))
			r = add(all, &c->points[i].at);
	if (r >= 0 && c->design)
		r = add_estimates(c, all);
	if (r >= 0)
		make_consistent(c, all);
	return r;
}

static double state_max(const Points *all, int state)
{
	double most = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].power_state == state)
			most = fmax(most, all->list[i].watts);
	return most;
}

static void print_states(FILE *f, const Calibration *c, const Points *all)
{
	for (unsigned i = 0; i < c->subject.n_states; i++) {
		const PowerState *s = &c->subject.states[i];

		if (!s->present)
			continue;
		fprintf(f, "\n[power-state %u]\nmax = %.4gW\n", i,
			s->operational ? ceil(100 * fmax(s->max_w, state_max(all, (int)i))) / 100
				       : s->max_w);
		if (s->entry_us > 0)
			fprintf(f, "entry = %uus\n", s->entry_us);
		if (s->exit_us > 0)
			fprintf(f, "exit = %uus\n", s->exit_us);
		if (!s->operational)
			fputs("operational = no\n", f);
	}
}

static void print_time(FILE *f, const char *key, double s)
{
	if (s > 0)
		fprintf(f, "%s = %.0fus\n", key, fmax(1e6 * s, 1));
}

static void print_condition(FILE *f, const Calibration *c, Condition which)
{
	const ConditionPower *w = &c->known->conditions[which];

	if (!w->present)
		return;
	/* none draws more than idling, which is measured now */
	fprintf(f, "\n[condition %s]\nwatts = %.3fW\n", condition_name(which),
		floor(1000 * fmin(w->watts, c->idle_w)) / 1000);
	print_time(f, "enter", w->enter_s);
	print_time(f, "recovery", w->recovery_s);
	if (w->wake_w > 0)
		fprintf(f, "wake_watts = %.6gW\n", w->wake_w);
	print_time(f, "wake_time", w->wake_s);
	if (w->estimated)
		fputs("estimated = yes\n", f);
}

/* What a drive draws asleep is not measured here; without it the drive would never be put to sleep.
 */
static void print_known(FILE *f, const Calibration *c)
{
	if (!c->known)
		return;
	fprintf(f, "# Conditions, links and cycles are those of profile %s\n", c->known->name);
	if (c->known->rated_cycles_start > 0)
		fprintf(f, "cycles = %.0f\n", c->known->rated_cycles_start);
	if (c->known->link_saving_w > 0)
		fprintf(f, "link_saving = %.6gW\n", fmin(c->known->link_saving_w, c->idle_w / 2));
	print_time(f, "link_recovery", c->known->link_recovery_s);
	for (Condition i = CONDITION_IDLE_A; i < _CONDITION_MAX; i++)
		print_condition(f, c, i);
}

static void print_point(FILE *f, const Point *p)
{
	fprintf(f, "point = ps=%d qd=%u chunk=%uK ", p->power_state, p->depth, p->chunk_kib);
	if (p->read_share > 0 && p->read_share < 1)
		fprintf(f, "read=%.0f%% ", 100 * p->read_share);
	else
		fputs(p->read_share > 0 ? "read " : "write ", f);
	fprintf(f, "%s: %.3fW %.6gMB/s %.6giops ",
		p->pattern == RANDOM_IO ? "random" : "sequential", p->watts, p->mb_s, p->iops);
	if (p->p99_us > 0)
		fprintf(f, "p99=%.0fus ", ceil(p->p99_us));
	fprintf(f, "error=%.1f%%%s\n", fmax(100 * p->error, 0.1), p->estimated ? " estimated" : "");
}

static void print_provenance(FILE *f, const Calibration *c, int64_t when_s)
{
	const CalibrateSubject *s = &c->subject;
	time_t seconds = (time_t)when_s;
	unsigned long rounds = 0, settled = 0;
	struct tm tm;
	char when[32] = "";

	for (size_t i = 0; i < c->n_points; i++) {
		rounds += c->points[i].rounds;
		settled += c->points[i].settled;
	}
	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &tm);
	fprintf(f, "# %s, measured by storpowerctl calibrate\n#\n", s->model);
	if (*s->who)
		fprintf(f, "# Who: %s\n", s->who);
	fprintf(f, "# When: %s, on Linux %s, with %s\n", when, s->kernel, s->fio);
	fprintf(f, "# Drive: firmware %s\n", s->firmware);
	fprintf(f, "# Watts: sensor \"%s\", right to %.2g %%\n", s->sensor, 100 * s->sensor_error);
	fprintf(f,
		"# Points: %zu of a grid of %zu were measured, %lu of them settled, %.0f s each\n",
		c->n_points, c->design ? design_candidates(c->design) : c->n_points, settled,
		c->n_points > 0 ? (double)rounds / (double)c->n_points : 0);
	if (c->n_repeats > 0)
		fprintf(f,
			"# Repeats: %zu of them were measured again at the end. Beyond what rounds differ, runs\n"
			"#   differ by %.1f %% of the watts and %.1f %% of the throughput.\n",
			c->n_repeats, 100 * c->watts_spread, 100 * c->mb_s_spread);
	if (!isnan(c->watts_left_out))
		fprintf(f,
			"# Left out, a point is told by the others to %.1f %% of its watts and %.1f %% of its\n"
			"#   throughput. What they tell of points not measured is marked \"estimated\".\n",
			100 * c->watts_left_out, 100 * c->mb_s_left_out);
}

/* A glob would take these for something else. */
static void print_model(FILE *f, const char *model)
{
	for (const char *c = model; *c; c++)
		fputc(strchr("*?[]\\", *c) ? '?' : *c, f);
}

/* Where what was served is more than a drive of this kind is taken to hang on, the profile has to
 * name what carries it. */
static void print_interface(FILE *f, const Calibration *c, const Points *all)
{
	Profile p = { .kind = c->subject.kind };
	double most_mb_s = 0;

	for (size_t i = 0; i < all->n; i++)
		most_mb_s = fmax(most_mb_s, all->list[i].mb_s);
	if (c->known)
		p.sheet.interface = c->known->sheet.interface;
	if (most_mb_s > profile_ceiling_mb_s(&p))
		p.sheet.interface = interface_carrying(most_mb_s);
	if (p.sheet.interface != INTERFACE_UNKNOWN)
		fprintf(f, "interface = %s\n", interface_name(p.sheet.interface));
}

static double mean_error(const Points *all)
{
	double sum = 0;

	for (size_t i = 0; i < all->n; i++)
		sum += all->list[i].error;
	return all->n > 0 ? sum / (double)all->n : 0.1;
}

static void print_all(FILE *f, const Calibration *c, const Points *all, int64_t when_s)
{
	double rated_w = all->rated_w;

	for (unsigned i = 0; i < c->subject.n_states; i++)
		if (c->subject.states[i].present)
			rated_w = fmax(rated_w, c->subject.states[i].max_w);
	print_provenance(f, c, when_s);
	fputs("\n[profile]\nmatch = ", f);
	print_model(f, c->subject.model);
	fprintf(f, "\nkind = %s\nrated = %.2fW\nidle = %.3fW\nerror = %.1f%%\n",
		kind_name(c->subject.kind), ceil(100 * rated_w) / 100,
		floor(1000 * c->idle_w) / 1000, fmax(100 * mean_error(all), 0.1));
	print_interface(f, c, all);
	print_known(f, c);
	print_states(f, c, all);
	calibrate_print_emerald(f, c);
	fputs("\n[points]\n", f);
	for (size_t i = 0; i < all->n; i++)
		print_point(f, &all->list[i]);
}

int calibrate_profile(const Calibration *c, int64_t when_s, char **ret)
{
	Points all = {};
	size_t size = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);
	int r = f ? gather(c, &all) : -ENOMEM;

	if (r >= 0)
		print_all(f, c, &all, when_s);
	free(all.list);
	if (f && fclose(f) != 0 && r >= 0)
		r = -ENOMEM;
	if (r < 0) {
		free(text);
		return r;
	}
	*ret = text;
	return 0;
}
