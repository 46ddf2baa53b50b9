/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "ctl/calibrate.h"

typedef struct Run {
	const Rig *rig;
	Calibration *calibration;
	const char *state;
	void (*tell)(const CalibrateProgress *p, void *userdata);
	void *userdata;
	size_t rounds, points; /* of this run */
	size_t repeats;        /* in the end */
} Run;

void calibration_done(Calibration *c)
{
	c->design = design_free(c->design);
	free(c->points);
	c->points = NULL;
	c->n_points = 0;
}

static void tell(const Run *run, const CalibratePoint *p)
{
	const Design *d = run->calibration->design;
	CalibrateProgress progress = { .left_s = NAN, .distance = INFINITY, .point = p };

	if (!run->tell)
		return;
	if (d) {
		progress.done = design_runs(d) + run->calibration->n_repeats;
		progress.most = design_most_runs(d) + run->repeats;
		progress.distance = design_distance(d);
	}
	/* a round takes about a second */
	if (run->points > 0)
		progress.left_s = (double)run->rounds / (double)run->points *
				  (double)(progress.most - progress.done);
	run->tell(&progress, run->userdata);
}

/* Some of the runs are repeats. */
static int new_design(Run *run)
{
	Calibration *c = run->calibration;
	DesignGoal goal = c->plan.goal;
	int r = design_new(&c->plan.grid, &goal, c->idle_w, c->plan.seed, &c->design);

	if (r < 0)
		return r;
	goal.runs = goal.runs > 0 ? goal.runs : design_most_runs(c->design);
	run->repeats = calibrate_repeats_of(goal.runs);
	if (!run->repeats)
		return 0;
	goal.runs -= run->repeats;
	c->design = design_free(c->design);
	return design_new(&c->plan.grid, &goal, c->idle_w, c->plan.seed, &c->design);
}

/* The points that an earlier run has left; those that are no candidates count in the profile alone.
 */
static int begin_design(Run *run)
{
	Calibration *c = run->calibration;
	int r = new_design(run);

	for (size_t i = 0; i < c->n_points && r >= 0; i++) {
		const Point *p = &c->points[i].at;
		size_t candidate;

		if (design_find(c->design, p, &candidate) >= 0 &&
		    design_runs(c->design) < design_most_runs(c->design))
			r = design_tell(c->design, candidate, p->mb_s, p->watts);
	}
	return r;
}

static int keep(Run *run, size_t candidate, const CalibratePoint *p)
{
	Calibration *c = run->calibration;
	CalibratePoint *slot = ARRAY_GROW(c->points, c->n_points);
	int r;

	if (!slot)
		return -ENOMEM;
	*slot = *p;
	run->points++;
	run->rounds += p->rounds;
	r = run->state ? calibrate_state_add(run->state, p) : 0;
	return r < 0 ? r : design_tell(c->design, candidate, p->at.mb_s, p->at.watts);
}

static int measure_all(Run *run)
{
	Calibration *c = run->calibration;
	size_t candidate;
	int r;

	while ((r = design_next(c->design, &candidate)) >= 0) {
		const Point at = design_point(c->design, candidate);
		CalibratePoint p;

		r = calibrate_point(run->rig, c, &at, &p);
		/* a drive that refuses one setting may serve the others */
		if (r == -EIO || r == -EOPNOTSUPP) {
			design_skip(c->design, candidate);
			continue;
		}
		if (r >= 0)
			r = keep(run, candidate, &p);
		if (r < 0)
			return r;
		tell(run, &p);
	}
	return r == -ENODATA ? 0 : r;
}

static int keep_repeat(Run *run, const CalibratePoint *p)
{
	Calibration *c = run->calibration;

	c->repeats[c->n_repeats++] = *p;
	return run->state ? calibrate_state_add(run->state, p) : 0;
}

/* A drive that refuses now what it served before is not asked again. */
static int repeat_some(Run *run)
{
	Calibration *c = run->calibration;
	const CalibratePoint *first;

	while ((first = calibrate_repeat_next(c))) {
		CalibratePoint p;
		int r = calibrate_point(run->rig, c, &first->at, &p);

		if (r == -EIO || r == -EOPNOTSUPP)
			break;
		if (r >= 0)
			r = keep_repeat(run, &p);
		if (r < 0)
			return r;
		tell(run, &p);
	}
	return 0;
}

static int begin(Run *run)
{
	Calibration *c = run->calibration;
	int r = 0;

	if (isnan(c->idle_w)) {
		r = calibrate_idle(run->rig, c);
		if (r >= 0 && run->state)
			r = calibrate_state_begin(c, run->state);
		if (r >= 0)
			tell(run, NULL);
	}
	return r < 0 ? r : begin_design(run);
}

int calibrate_run(const Rig *rig, Calibration *c, const char *state,
		  void (*tell_progress)(const CalibrateProgress *p, void *userdata), void *userdata)
{
	Run run = { rig, c, state, tell_progress, userdata, 0, 0, 0 };
	int r = begin(&run), back;

	if (r >= 0)
		r = measure_all(&run);
	if (r >= 0)
		r = repeat_some(&run);
	back = c->subject.n_states > 0 ? rig->set_state(rig->userdata, -1) : 0;
	if (r >= 0)
		r = back;
	if (r >= 0)
		calibrate_take_repeats(c);
	c->mb_s_left_out = c->watts_left_out = NAN;
	if (c->design)
		(void)design_left_out(c->design, &c->mb_s_left_out, &c->watts_left_out);
	if (r >= 0 && c->n_points == 0)
		r = -EIO;
	return r;
}
