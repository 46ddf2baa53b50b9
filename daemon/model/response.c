/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/response.h"

#include <errno.h>
#include <math.h>

#include "model/profile-file.h"
#include "model/service.h"
#include "petri/predict.h"
#include "petri/study.h"

#define DEEPEST    65536.0
#define THINK_PART 1e-4 /* of the time between two answers: nobody waits for the workload */
#define STATES_MAX                                                                                 \
	2000.0 /* nets beyond this are made smaller: it takes milliseconds to solve one */

static unsigned whole(double v, unsigned least, unsigned most)
{
	return v < least ? least : v > most ? most : (unsigned)lround(v);
}

/* Of the station: in how many ways the servers can be spread over the phases, for each number of
 * IOs that wait. */
double response_states(unsigned requests, unsigned servers, unsigned phases)
{
	double ways = 1;

	for (unsigned i = 1; i < phases; i++)
		ways *= (double)(servers + i) / i;
	return ways * (requests - servers + 1);
}

/* Where nobody waits one IO tells for all. Otherwise a device of many servers and a deep queue is
 * taken for one of fewer servers and a queue that is shallower in proportion: its mean is the same,
 * and its waits differ more, so that the 99th percentile is on the safe side. */
static void shrink(unsigned *requests, unsigned *servers, unsigned phases)
{
	double n = *requests, c = *servers;

	if (*servers == *requests)
		*servers = *requests = 1;
	for (unsigned k = 2; response_states(*requests, *servers, phases) > STATES_MAX; k++) {
		*servers = whole(c / k, 1, UINT16_MAX);
		*requests = whole(n / k, *servers + 1, UINT16_MAX);
	}
}

static int tier_of(const ResponseQueue *q, Tier *ret)
{
	unsigned requests = whole(q->depth, 1, UINT16_MAX), servers = MIN(q->servers, requests);
	ServiceClass class = { .share = 1 };
	int r = phase_fit(q->service_s, q->deviation_s, &class.service);

	if (r < 0)
		return r;
	shrink(&requests, &servers, class.service.n);
	*ret = (Tier){ .requests = requests,
		       .think_s = THINK_PART * q->service_s / servers,
		       .stations = { { .devices = servers, .share = 1, .n_classes = 1 } },
		       .n_stations = 1 };
	ret->stations[0].classes[0] = class;
	return 0;
}

int response_of_queue(const ResponseQueue *q, Response *ret)
{
	double mean_us = 1e6 * q->depth / q->iops, scale;
	TierPrediction made;
	Tier tier;
	int r;

	if (!(q->depth >= 1 && q->iops > 0 && isfinite(mean_us) && q->servers > 0))
		return -EINVAL;
	r = tier_of(q, &tier);
	if (r >= 0)
		r = tier_predict(&tier, &TIER_EFFORT_DEFAULT, &made);
	if (r < 0)
		return r;
	scale = mean_us / made.response_s.mean;
	*ret = (Response){ .mean_us = mean_us,
			   .p50_us = made.p50_s * scale,
			   .p99_us = made.p99_s * scale,
			   .servers = q->servers };
	return 0;
}

/* One after the other: what an IO alone takes. */
static Setting alone(const Setting *s)
{
	Setting one = *s;

	one.depth = 1;
	one.pace_w = 0;
	return one;
}

/* The mean and the deviation of a mix are those of its pure parts together. */
typedef struct Service {
	double mean_s, square_s2;
	bool assumed; /* how much the times differ is, of a part at least */
} Service;

static void add_part(Service *sum, const Profile *p, const Mix *mix, const Setting *s, Direction d,
		     Pattern t)
{
	double read = d == READ_IO ? mix->read_share : 1 - mix->read_share;
	double share = read * (t == RANDOM_IO ? mix->random_share : 1 - mix->random_share);
	Mix part = *mix;
	Setting one = alone(s);
	double mean_s, deviation;
	Prediction at;

	if (!(share > 0))
		return;
	part.read_share = d == READ_IO;
	part.random_share = t == RANDOM_IO;
	predict(p, &part, &one, &at);
	mean_s = 1 / at.iops;
	deviation = service_deviation(p, d, t, mix_mean_kib(&part), &sum->assumed);
	sum->mean_s += share * mean_s;
	sum->square_s2 += share * mean_s * mean_s * (1 + deviation * deviation);
}

static Service service_of(const Profile *p, const Mix *mix, const Setting *s)
{
	Service sum = {};

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			add_part(&sum, p, mix, s, d, t);
	return sum;
}

/* As many as give the device's most throughput, if each serves one IO after the other. */
static unsigned servers_of(const Profile *p, const Mix *mix, const Setting *s, double depth)
{
	Setting one = alone(s), deep = *s;
	Mix many = *mix;
	Prediction first, most;

	deep.depth = 0;
	deep.pace_w = 0;
	many.depth = DEEPEST;
	predict(p, mix, &one, &first);
	predict(p, &many, &deep, &most);
	return whole(most.iops / first.iops, 1, whole(depth, 1, UINT16_MAX));
}

bool response_queue(const Profile *p, const Mix *mix, const Setting *s, const Prediction *at,
		    ResponseQueue *ret)
{
	Service service = service_of(p, mix, s);
	double mean_s = service.mean_s;

	*ret = (ResponseQueue){ .depth = at->depth,
				.servers = servers_of(p, mix, s, at->depth),
				.service_s = mean_s,
				.deviation_s = sqrt(MAX(service.square_s2 - mean_s * mean_s, 0)),
				.iops = at->iops };
	return service.assumed;
}

static int predict_net(const Profile *p, const Mix *mix, const Setting *s, const Prediction *at,
		       Response *ret)
{
	ResponseQueue q;
	bool assumed = response_queue(p, mix, s, at, &q);
	int r = response_of_queue(&q, ret);

	if (r >= 0)
		ret->estimated = at->estimated || assumed;
	return r;
}

/* The setting leaves the point's workload as it is, but for its depth. */
static bool is_point(const Mix *mix, const Setting *s, const Point *q)
{
	double kib = q->direction == READ_IO ? mix->read_kib : mix->write_kib;
	Setting rest = *s;

	rest.power_state = -1;
	rest.depth = 0;
	return setting_equal(&rest, &SETTING_AS_FOUND) &&
	       q->power_state == MAX(s->power_state, 0) && q->chunk_kib == kib &&
	       !point_is_mix(q) && mix->read_share == q->read_share &&
	       mix->random_share == (q->pattern == RANDOM_IO);
}

/* What was measured at this depth, at the next shallower and at the next deeper one. */
typedef struct Measured {
	double here_us, below_us, above_us; /* NAN, 0 and INFINITY: nothing was */
} Measured;

static Measured measured_near(const Profile *p, const Mix *mix, const Setting *s, double depth)
{
	Measured m = { NAN, 0, INFINITY };

	for (const Point *q = p->points; q < p->points + p->n_points; q++) {
		if (!(q->p99_us > 0) || !is_point(mix, s, q))
			continue;
		if (q->depth == depth)
			m.here_us = q->p99_us;
		else if (q->depth < depth)
			m.below_us = MAX(m.below_us, q->p99_us);
		else
			m.above_us = MIN(m.above_us, q->p99_us);
	}
	return m;
}

/* A queue that is less deep takes no longer: where the profile's points lie so that by Little's law
 * it would, those are wrong, and the longer time is the safe side. */
static int raise_p99(const Profile *p, const Mix *mix, const Setting *s, double depth, Response *io)
{
	int r = 0;

	for (unsigned d = 1; d < depth && r >= 0; d *= 2) {
		Setting less = *s;
		Prediction at;
		Response shallow;

		less.depth = d;
		predict(p, mix, &less, &at);
		r = predict_net(p, mix, &less, &at, &shallow);
		if (r >= 0)
			io->p99_us = MAX(io->p99_us, shallow.p99_us);
	}
	return r;
}

int response_predict(const Profile *p, const Mix *mix, const Setting *s, Response *ret)
{
	Prediction at;
	Measured m;
	Response made;
	int r;

	predict(p, mix, s, &at);
	if (!(at.iops > 0))
		return -ENODATA;
	m = measured_near(p, mix, s, at.depth);
	r = predict_net(p, mix, s, &at, &made);
	if (r >= 0 && isnan(m.here_us))
		r = raise_p99(p, mix, s, at.depth, &made);
	if (r < 0)
		return r;
	made.p99_measured = !isnan(m.here_us);
	made.p99_us = made.p99_measured
			      ? m.here_us
			      : CLAMP(made.p99_us, m.below_us, MAX(m.above_us, m.below_us));
	*ret = made;
	return 0;
}
