/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdarg.h>

#include "base/log.h"
#include "model/profile-file.h"
#include "model/surface.h"

/* This is far above what a drive needs, and bounds the comparing of all points with all. */
#define POINTS_MAX 1200

void profile_complain(ProfileFile *f, unsigned line, const char *format, ...)
{
	char text[256];
	va_list ap;

	f->bad = true;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (line == NO_LINE)
		log_warning("%s: %s", f->profile->path, text);
	else
		ini_complain(&(IniLine){ .path = f->profile->path, .line = line }, "%s", text);
}

static bool has_pure_point(const Profile *p)
{
	for (size_t i = 0; i < p->n_points; i++)
		if (!point_is_mix(&p->points[i]))
			return true;
	return false;
}

static void check_whole(ProfileFile *f)
{
	const Profile *p = f->profile;

	if (!p->models[0])
		profile_complain(f, NO_LINE, "no match= in [profile]: which models is this for?");
	if (p->kind == _KIND_MAX)
		profile_complain(f, NO_LINE, "no kind= in [profile]: write nvme, sata-ssd or hdd");
	if (!f->rated_line || p->rated_w <= 0)
		profile_complain(f, f->rated_line,
				 "no rated= above 0 W in [profile]: the maximum operating power");
	if (!f->idle)
		profile_complain(f, NO_LINE, "no idle= in [profile]: watts awake and without IO");
	if (f->rated_line && p->idle_w > p->rated_w)
		profile_complain(f, f->rated_line, "idle (%g W) is above rated (%g W)", p->idle_w,
				 p->rated_w);
	if (p->link_saving_w > p->idle_w)
		profile_complain(f, f->rated_line, "link_saving (%g W) is above idle (%g W)",
				 p->link_saving_w, p->idle_w);
	if (!has_pure_point(p))
		profile_complain(f, NO_LINE,
				 "no point= of reads or writes alone in [points]: at least one "
				 "is needed");
}

static void check_states(ProfileFile *f)
{
	const Profile *p = f->profile;

	for (unsigned i = 0; i < PROFILE_STATES_MAX; i++) {
		const PowerState *ps = &p->states[i];

		if (!ps->present)
			continue;
		if (isnan(ps->max_w))
			profile_complain(f, f->state_line[i], "power state %u without max=", i);
		else if (ps->operational && ps->max_w < p->idle_w)
			profile_complain(f, f->state_line[i],
					 "power state %u: max (%g W) is below idle (%g W); "
					 "say operational = no if it serves no IO",
					 i, ps->max_w, p->idle_w);
	}
}

static void check_conditions(ProfileFile *f)
{
	const Profile *p = f->profile;
	double shallower_w = p->idle_w;

	for (Condition c = CONDITION_IDLE_A; c < _CONDITION_MAX; c++) {
		const ConditionPower *w = &p->conditions[c];

		if (!w->present)
			continue;
		if (isnan(w->watts)) {
			profile_complain(f, f->condition_line[c],
					 "condition %s without watts=", condition_name(c));
			continue;
		}
		if (w->watts > shallower_w)
			profile_complain(f, f->condition_line[c],
					 "condition %s (%g W) is above idle or a shallower "
					 "condition (%g W)",
					 condition_name(c), w->watts, shallower_w);
		if ((w->wake_w > 0) != (w->wake_s > 0))
			profile_complain(f, f->condition_line[c],
					 "condition %s: wake_watts and wake_time belong "
					 "together",
					 condition_name(c));
		shallower_w = MIN(shallower_w, w->watts);
	}
}

static void check_point(ProfileFile *f, size_t i)
{
	const Profile *p = f->profile;
	const Point *q = &p->points[i];
	const PowerState *ps = &p->states[q->power_state];
	unsigned line = f->point_lines[i];
	double mb_s = q->iops * q->chunk_kib * 1024 / 1e6;

	if (f->rated_line && q->watts > p->rated_w)
		profile_complain(f, line, "point (%g W) is above rated (%g W)", q->watts,
				 p->rated_w);
	if (q->watts < p->idle_w)
		profile_complain(f, line, "point (%g W) is below idle (%g W)", q->watts, p->idle_w);
	if (q->power_state > 0 && !ps->present)
		profile_complain(f, line, "point of power state %d, which is not described",
				 q->power_state);
	if (ps->present && ps->operational && q->watts > ps->max_w)
		profile_complain(f, line, "point (%g W) is above power state %d's max (%g W)",
				 q->watts, q->power_state, ps->max_w);
	if (ps->present && !ps->operational)
		profile_complain(f, line, "point of power state %d, which serves no IO",
				 q->power_state);
	if (q->mb_s <= 0 || q->iops <= 0)
		profile_complain(f, line, "point without throughput");
	else if (fabs(mb_s / q->mb_s - 1) > 0.1)
		profile_complain(f, line, "point: %g IOPS of %u KiB are %g MB/s, not %g", q->iops,
				 q->chunk_kib, mb_s, q->mb_s);
	for (size_t j = 0; j < i; j++)
		if (q->depth == p->points[j].depth && point_same_but_depth(q, &p->points[j]))
			profile_complain(f, line, "point given already in line %u",
					 f->point_lines[j]);
}

/* Who asks for more at a time is not served by a device that draws less or answers sooner. */
static void check_deeper(ProfileFile *f, size_t i)
{
	const Point *q = &f->profile->points[i];

	for (size_t j = 0; j < f->profile->n_points; j++) {
		const Point *o = &f->profile->points[j];

		if (o->depth >= q->depth || !point_same_but_depth(q, o))
			continue;
		if (q->watts < o->watts)
			profile_complain(f, f->point_lines[i],
					 "point (%g W) draws less than at depth %u (%g W, line %u)",
					 q->watts, o->depth, o->watts, f->point_lines[j]);
		if (q->p99_us > 0 && q->p99_us < o->p99_us)
			profile_complain(
				f, f->point_lines[i],
				"point (p99 %g us) answers sooner than at depth %u (%g us, "
				"line %u)",
				q->p99_us, o->depth, o->p99_us, f->point_lines[j]);
	}
}

/* Counts the distinct depths and chunks of the table that holds point i, at the first point that
 * has each. */
static void check_axes(ProfileFile *f, size_t i)
{
	const Profile *p = f->profile;
	const Point *q = &p->points[i];
	unsigned depths = 0, chunks = 0;

	for (size_t a = 0; a <= i; a++) {
		const Point *o = &p->points[a];
		bool new_depth = true, new_chunk = true;

		for (size_t b = 0; b < a; b++) {
			const Point *e = &p->points[b];

			if (e->power_state != q->power_state || e->direction != q->direction ||
			    e->pattern != q->pattern)
				continue;
			new_depth &= e->depth != o->depth;
			new_chunk &= e->chunk_kib != o->chunk_kib;
		}
		if (o->power_state == q->power_state && o->direction == q->direction &&
		    o->pattern == q->pattern) {
			depths += new_depth;
			chunks += new_chunk;
		}
	}
	if (depths > AXIS_MAX || chunks > AXIS_MAX)
		profile_complain(f, f->point_lines[i],
				 "more than %d depths or chunks in one table: leave some out",
				 AXIS_MAX);
}

void profile_check(ProfileFile *f)
{
	check_whole(f);
	check_states(f);
	check_conditions(f);
	if (f->profile->n_points > POINTS_MAX) {
		profile_complain(f, f->point_lines[POINTS_MAX], "more than %d points", POINTS_MAX);
		return;
	}
	for (size_t i = 0; i < f->profile->n_points; i++)
		check_point(f, i);
	if (!f->bad)
		for (size_t i = 0; i < f->profile->n_points; i++) {
			profile_check_speed(f, i);
			check_deeper(f, i);
			check_axes(f, i);
		}
}
