/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "ctl/calibrate.h"
#include "model/steady.h"

typedef struct Measured {
	Steady steady;
	unsigned rounds;
	double ios_of_mb; /* IOs of a MB, of the last round */
} Measured;

static double relative(SteadyMean m)
{
	return m.mean > 0 ? m.half_width / m.mean : NAN;
}

static bool is_enough(const Calibration *c, const Steady *s)
{
	double mb_s = relative(steady_mb_s(s)), watts = relative(steady_watts(s));

	/* without IO there is no throughput to know */
	return s->reached && (isnan(mb_s) || mb_s <= c->plan.sure) && watts <= c->plan.sure;
}

static int listen(const Rig *rig, const Calibration *c, Measured *m)
{
	RigRound round;
	int r = 0;

	while (m->rounds < c->plan.most) {
		r = rig->round(rig->userdata, &round);
		if (r < 0)
			break;
		m->rounds++;
		if (m->rounds <= c->plan.warm_up)
			continue;
		m->ios_of_mb = round.mb_s > 0 ? round.iops / round.mb_s : 0;
		steady_add(&m->steady, round.mb_s, round.watts);
		if (is_enough(c, &m->steady))
			break;
	}
	return r == -ENODATA ? 0 : r;
}

static int measure(const Rig *rig, const Calibration *c, const Point *p, Measured *m,
		   double *ret_p50_us, double *ret_p99_us)
{
	int r = rig->start(rig->userdata, p, c->plan.most), s;
	size_t from;

	if (r < 0)
		return r;
	r = listen(rig, c, m);
	from = c->plan.warm_up + (m->steady.reached ? m->steady.from : m->steady.n / 2);
	s = rig->stop(rig->userdata, MIN(from, (size_t)m->rounds), ret_p50_us, ret_p99_us);
	if (r >= 0)
		r = s;
	return r < 0 || m->steady.n > 2 ? r : -EIO;
}

/* The sensor's error is of all its readings alike, and no number of rounds makes it smaller. */
static double watts_error(const Calibration *c, const Steady *s)
{
	double by_rounds = relative(steady_watts(s));

	return hypot(isnan(by_rounds) ? 0 : by_rounds, c->subject.sensor_error);
}

int calibrate_point(const Rig *rig, const Calibration *c, const Point *p, CalibratePoint *ret)
{
	double p50_us = NAN, p99_us = NAN;
	Measured m = {};
	int r = c->subject.n_states > 0 ? rig->set_state(rig->userdata, p->power_state) : 0;

	if (r >= 0)
		r = measure(rig, c, p, &m, &p50_us, &p99_us);
	if (r < 0)
		return r;
	*ret = (CalibratePoint){ .at = *p,
				 .p50_us = p50_us,
				 .mb_s_error = relative(steady_mb_s(&m.steady)),
				 .rounds = m.rounds,
				 .settled = m.steady.reached };
	ret->at.mb_s = steady_mb_s(&m.steady).mean;
	ret->at.watts = steady_watts(&m.steady).mean;
	ret->at.iops = ret->at.mb_s * m.ios_of_mb;
	ret->at.p99_us = isnan(p99_us) ? 0 : p99_us;
	ret->at.error = watts_error(c, &m.steady);
	return ret->at.mb_s > 0 && ret->at.watts > 0 ? 0 : -EIO;
}

int calibrate_idle(const Rig *rig, Calibration *c)
{
	double p50_us, p99_us;
	Measured m = {};
	int r = measure(rig, c, NULL, &m, &p50_us, &p99_us);

	if (r < 0)
		return r;
	c->idle_w = steady_watts(&m.steady).mean;
	c->idle_error = watts_error(c, &m.steady);
	return c->idle_w > 0 ? 0 : -EIO;
}
