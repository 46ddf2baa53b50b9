/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/predict.h"

#include <math.h>

#include "model/mixing.h"
#include "model/predict-state.h"
#include "model/service.h"

/* What the device sees of a mix once the setting has shaped it. */
typedef struct Shaped {
	double share[_DIRECTION_MAX]; /* of the device's IOs */
	double kib[_DIRECTION_MAX];
	double random_share;
	double depth;
} Shaped;

static double sane(double v, double lo, double hi, double otherwise)
{
	return isfinite(v) ? CLAMP(v, lo, hi) : otherwise;
}

/* The kernel splits an IO larger than the chunk (max_sectors_kb), and its parts are outstanding
 * together: shares and depth are those of the parts. */
static Shaped shape(const Mix *mix, unsigned depth, unsigned chunk_kib)
{
	double read_share = sane(mix->read_share, 0, 1, 0.5), parts = 0;
	Shaped s = {
		.share = { [READ_IO] = read_share, [WRITE_IO] = 1 - read_share },
		.kib = { [READ_IO] = sane(mix->read_kib, 0.5, 65536, 4),
			 [WRITE_IO] = sane(mix->write_kib, 0.5, 65536, 4) },
		.random_share = sane(mix->random_share, 0, 1, 1),
		.depth = sane(mix->depth, 1, 65536, 65536),
	};

	for (Direction d = 0; d < _DIRECTION_MAX; d++) {
		if (chunk_kib > 0 && s.kib[d] > chunk_kib) {
			s.share[d] *= s.kib[d] / chunk_kib;
			s.kib[d] = chunk_kib;
		}
		parts += s.share[d];
	}
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		s.share[d] /= parts;
	s.depth *= parts;
	if (depth > 0)
		s.depth = MIN(s.depth, depth);
	return s;
}

static double shaped_share(const Shaped *s, Direction d, Pattern t)
{
	return s->share[d] * (t == RANDOM_IO ? s->random_share : 1 - s->random_share);
}

static double shaped_kib(const Shaped *s)
{
	return s->share[READ_IO] * s->kib[READ_IO] + s->share[WRITE_IO] * s->kib[WRITE_IO];
}

double pacing_page_joules(const Profile *p, Direction d)
{
	return MAX(p->energy[d][RANDOM_IO].page_j, p->energy[d][SEQUENTIAL_IO].page_j);
}

static double shaped_price(const Profile *p, const Shaped *s)
{
	double j = 0;

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			j += shaped_share(s, d, t) *
			     (p->energy[d][t].io_j + s->kib[d] / 4 * pacing_page_joules(p, d));
	return j;
}

static double shaped_joules(const Profile *p, const Shaped *s)
{
	double j = 0;

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			j += shaped_share(s, d, t) *
			     (p->energy[d][t].io_j + s->kib[d] / 4 * p->energy[d][t].page_j);
	return j;
}

double mix_mean_kib(const Mix *mix)
{
	Shaped s = shape(mix, 0, 0);

	return shaped_kib(&s);
}

double mix_largest_kib(const Mix *mix)
{
	double r = mix->read_share > 0 ? mix->read_kib : 0,
	       w = mix->read_share < 1 ? mix->write_kib : 0;

	return MAX(r, w);
}

double mix_io_joules(const Profile *p, const Mix *mix)
{
	Shaped s = shape(mix, 0, 0);

	return shaped_joules(p, &s);
}

double mix_price_joules(const Profile *p, const Mix *mix)
{
	Shaped s = shape(mix, 0, 0);

	return shaped_price(p, &s);
}

/* A state or limit below what the IO would draw takes dynamic watts away; throughput falls with
 * their share f as f^1.3 for random writes (the inverse of watts ~ throughput^0.77, which the three
 * ratios printed in the HotStorage 2024 study give), as f for sequential writes and f^0.77 for
 * reads: the study found that capping hurts random writes most. */
static void cap_cell(Cell *c, double idle_w, double ceiling_w, Direction d, Pattern t)
{
	double write_loss = t == RANDOM_IO ? 1.3 : 1, loss = d == READ_IO ? 0.77 : write_loss;
	double left_w = MAX(ceiling_w - idle_w, 0), f;

	if (c->dynamic_w <= left_w)
		return;
	/* even at its idle watts a device serves some IO */
	f = MAX(left_w / c->dynamic_w, 0.02);
	c->dynamic_w = left_w;
	c->mb_s *= pow(f, loss);
	/* the watts are all spent at this depth, and a deeper queue gets no more of them */
	c->most_mb_s = MIN(c->most_mb_s, MAX(c->mb_s, c->alone_mb_s));
	c->alone_mb_s = MIN(c->alone_mb_s, c->mb_s);
	c->error *= 1.5;
	c->estimated = true;
}

/* A sum over the pure parts of a mix, each weighted by the time that the device spends on it. */
typedef struct Parts {
	double seconds;               /* for one mean IO */
	double watts, error, squares; /* weighted by seconds, seconds, seconds^2 */
	/* for one mean IO: alone, the mean of its squares, and where the device does its most */
	double alone_s, alone_square_s2, least_s;
	double tail; /* the largest */
	bool estimated;
} Parts;

static void add_part(Parts *sum, const StateModel *m, const Shaped *s, Direction d, Pattern t,
		     double ceiling_w)
{
	double share = shaped_share(s, d, t), bytes = s->kib[d] * 1024, seconds, alone_s;
	Cell c;

	if (share <= 0)
		return;
	surface_at(&m->surface[d][t], s->depth, s->kib[d], &c);
	cap_cell(&c, m->profile->idle_w, ceiling_w, d, t);
	seconds = share * bytes / (MAX(c.mb_s, 1e-6) * 1e6);
	alone_s = bytes / (MAX(c.alone_mb_s, 1e-6) * 1e6);
	sum->seconds += seconds;
	sum->watts += seconds * (m->profile->idle_w + c.dynamic_w);
	sum->error += seconds * c.error;
	sum->squares += seconds * seconds;
	sum->alone_s += share * alone_s;
	sum->alone_square_s2 += share * alone_s * alone_s * (1 + c.deviation * c.deviation);
	sum->least_s += share * bytes / (MAX(c.most_mb_s, 1e-6) * 1e6);
	sum->tail = MAX(sum->tail, c.tail);
	sum->estimated |= c.estimated;
}

/* The 99th percentile over the mean: IOs of a mix wait in one queue, and differ among each other
 * besides. */
static double tail_of(const Parts *sum, double depth)
{
	double square = sum->alone_square_s2 / (sum->alone_s * sum->alone_s) - 1;
	double servers = CLAMP(sum->alone_s / sum->least_s, 1.0, depth);

	return MAX(sum->tail * service_tail(depth, servers, sqrt(MAX(square, 0))), 1.0);
}

/* Nibler and Ropars found mixes up to 27 % off the weighted mean of the pure runs: so much at an
 * even mix, nothing at a pure one. */
static double mixing_error(const Parts *sum)
{
	return MIN(0.54 * (1 - sum->squares / (sum->seconds * sum->seconds)), 0.27);
}

/* As measured mixes say; where none was measured near, it may be off by as much as the study's. */
static void mix_parts(const StateModel *m, const Setting *setting, const Shaped *s,
		      const Parts *sum, Prediction *ret)
{
	double read = s->share[READ_IO], idle_w = m->profile->idle_w;
	Mixing at = { 1, 1, NAN };

	if (m->profile->n_mixes && read > 0 && read < 1)
		at = mixing_at(
			m->profile, setting->power_state,
			&(Point){ .read_share = read,
				  .pattern = s->random_share < 0.5 ? SEQUENTIAL_IO : RANDOM_IO,
				  .depth = (unsigned)s->depth,
				  .chunk_kib = (unsigned)shaped_kib(s) });
	ret->mb_s *= at.mb_s_part;
	ret->iops *= at.mb_s_part;
	ret->watts = MIN(idle_w + (ret->watts - idle_w) * at.watts_part, m->profile->rated_w);
	if (isnan(at.error))
		ret->error += mixing_error(sum);
	else
		ret->error = MAX(ret->error, at.error);
}

static void bound(Prediction *p, double most_mb_s)
{
	if (p->mb_s <= most_mb_s)
		return;
	p->iops *= most_mb_s / p->mb_s;
	p->mb_s = most_mb_s;
}

/* What it serves and draws above idle is in proportion. */
static void correct(const StateModel *m, const Mix *mix, const Setting *s, Prediction *ret)
{
	const Profile *p = m->profile;
	double factor = learned_factor(mix->learned, p, s, 1e6 * s->depth / ret->iops);
	double idle_w = p->idle_w;

	ret->learned = factor;
	if (factor == 1)
		return;
	ret->iops *= factor;
	ret->mb_s *= factor;
	ret->watts = idle_w + (ret->watts - idle_w) * factor;
	if (factor > 1)
		ret->watts = MIN(ret->watts, cap_watts_in(m, s));
}

/* Pacing hands out pace_w joules a second, so that the device works only a part of the time. What
 * the workload leaves of them is not drawn, either. */
static void pace(const Profile *p, const Shaped *s, double pace_w, double left, Prediction *ret)
{
	double joules = shaped_price(p, s);
	double part = joules > 0 ? MIN(pace_w * (1 - left) / joules / ret->iops, 1.0) : 1;

	ret->iops *= part;
	ret->mb_s *= part;
	ret->watts = MIN(p->idle_w + (ret->watts - p->idle_w) * part, paced_cap_watts(p, pace_w));
	ret->error = MAX(ret->error, p->energy_error);
}

static void predict_asleep(const Profile *p, const ConditionPower *c, Prediction *ret)
{
	*ret = (Prediction){
		.watts = c->watts,
		.p99_us = c->recovery_s * 1e6,
		.error = c->estimated ? 2 * p->error : p->error,
		.learned = 1,
		.estimated = c->estimated,
	};
}

void predict_in(const StateModel *m, const Mix *mix, const Setting *s, double most_mb_s,
		Prediction *ret)
{
	const Profile *p = m->profile;
	const ConditionPower *c = &p->conditions[s->condition];
	Shaped shaped = shape(mix, s->depth, s->chunk_kib);
	double ceiling_w = s->limit_w > 0 ? MIN(m->ceiling_w, s->limit_w) : m->ceiling_w;
	Parts sum = {};

	if (condition_sleeps(s->condition) && c->present) {
		predict_asleep(p, c, ret);
		return;
	}
	if (m->surface[READ_IO][RANDOM_IO].n_depths == 0) {
		*ret = (Prediction){
			.watts = p->rated_w, .error = 1, .learned = 1, .estimated = true
		};
		return;
	}
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			add_part(&sum, m, &shaped, d, t, ceiling_w);

	*ret = (Prediction){
		.watts = MIN(sum.watts / sum.seconds, p->rated_w),
		.mb_s = shaped_kib(&shaped) * 1024 / sum.seconds / 1e6,
		.iops = 1 / sum.seconds,
		.depth = shaped.depth,
		.error = sum.error / sum.seconds,
		.estimated = sum.estimated || p->estimated,
	};
	mix_parts(m, s, &shaped, &sum, ret);
	bound(ret, most_mb_s);
	correct(m, mix, s, ret);
	if (s->pace_w > 0)
		pace(p, &shaped, s->pace_w, mix->pace_left, ret);
	/* the mean is by Little's law */
	ret->p99_us = tail_of(&sum, shaped.depth) * 1e6 * shaped.depth / ret->iops + m->exit_us;
	if (s->condition != CONDITION_ACTIVE && c->present)
		ret->p99_us += c->recovery_s * 1e6;
	if (s->link == LINK_MEDIUM_DIPM)
		ret->p99_us += p->link_recovery_s * 1e6;
}

double predict_unshaped_mb_s(const StateModel *m, const Mix *mix, const Setting *s)
{
	Mix unlearned = *mix;
	Setting whole = *s;
	Prediction p;

	unlearned.learned = NULL;
	whole.depth = whole.chunk_kib = 0;
	whole.pace_w = 0;
	predict_in(m, &unlearned, &whole, INFINITY, &p);
	return p.mb_s;
}

void predict(const Profile *p, const Mix *mix, const Setting *s, Prediction *ret)
{
	bool shaped = s->depth || s->chunk_kib;
	StateModel m;

	state_model_build(&m, p, s->power_state);
	predict_in(&m, mix, s, shaped ? predict_unshaped_mb_s(&m, mix, s) : INFINITY, ret);
}

/* Awake and without IO. */
static double resting_watts(const Profile *p, const Setting *s)
{
	const ConditionPower *c = &p->conditions[s->condition];
	double w = s->condition != CONDITION_ACTIVE && c->present ? c->watts : p->idle_w;

	if (s->link == LINK_MEDIUM_DIPM)
		w -= p->link_saving_w;
	return MAX(w, 0);
}

void predict_demand(const Profile *p, const Mix *mix, const Setting *s, double demand_mb_s,
		    Prediction *ret)
{
	double rest = resting_watts(p, s), part;

	predict(p, mix, s, ret);
	if (ret->mb_s <= 0)
		return;
	part = demand_mb_s > 0 ? MIN(demand_mb_s / ret->mb_s, 1.0) : 0;
	ret->watts = rest + (ret->watts - rest) * part;
	ret->mb_s *= part;
	ret->iops *= part;
}
