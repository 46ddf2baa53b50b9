/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What each device serves and how many IOs are at it is solved by convolution (J. P. Buzen,
 * Computational algorithms for closed queueing networks, 1973), each device a station whose rate
 * depends on how many are there. The sums are kept as logarithms: they span hundreds of decades. */

#include "model/hybrid.h"

#include <errno.h>
#include <math.h>

#include "model/response.h"
#include "petri/predict.h"

#define STATES_MAX 1000.0 /* of a station's net */
#define THINK_PART 1e-4   /* of a service: nobody waits for the workload */
#define SOLVED_MAX 20000  /* states; a larger net is simulated, */
#define FIRINGS    20000  /* each of its batches for so many: the times are then known to 1-3 % */
#define SHARE_OFF  1e-6

/* A member at each depth, and the logarithm of the weight of so many IOs at one of its devices. */
typedef struct HybridStation {
	Prediction at[HYBRID_DEPTH_MAX + 1]; /* from 1 on */
	double weight[HYBRID_DEPTH_MAX + 1];
	double chance[HYBRID_DEPTH_MAX + 1]; /* that so many are there */
} HybridStation;

typedef struct Hybrid {
	const HybridMember *members;
	size_t n;
	const Mix *mix;
	unsigned depth;
	HybridStation *of; /* each member */
} Hybrid;

static double each_share(const HybridMember *m)
{
	return m->share / m->devices;
}

static void fill_station(const Hybrid *h, size_t i)
{
	HybridStation *s = &h->of[i];
	Mix mix = *h->mix;

	s->weight[0] = 0;
	for (unsigned k = 1; k <= h->depth; k++) {
		mix.depth = k;
		predict(h->members[i].profile, &mix, &SETTING_AS_FOUND, &s->at[k]);
		s->weight[k] =
			s->weight[k - 1] + log(each_share(&h->members[i])) - log(s->at[k].iops);
	}
}

static double sum_of_logs(double a, double b)
{
	return isinf(a) ? b : fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* Of so many IOs at the stations so far and at one more. */
static void add_station(double *all, const double *weight, unsigned depth)
{
	for (unsigned k = depth + 1; k-- > 0;) {
		double sum = -INFINITY;

		for (unsigned there = 0; there <= k; there++)
			sum = sum_of_logs(sum, weight[there] + all[k - there]);
		all[k] = sum;
	}
}

/* Of all devices, but for one of the member `without`. */
static void add_stations(const Hybrid *h, size_t without, double *ret)
{
	for (unsigned k = 0; k <= h->depth; k++)
		ret[k] = k ? -INFINITY : 0;
	for (size_t i = 0; i < h->n; i++)
		for (unsigned d = i == without; d < h->members[i].devices; d++)
			add_station(ret, h->of[i].weight, h->depth);
}

/* How many IOs are at a device, and what it does by that. */
static HybridPart part_of(const Hybrid *h, size_t i, double iops)
{
	const HybridStation *s = &h->of[i];
	HybridPart part = { .iops = each_share(&h->members[i]) * iops,
			    .watts = s->chance[0] * h->members[i].profile->idle_w,
			    .error = s->at[h->depth].error,
			    .busy = 1 - s->chance[0] };

	part.mb_s = part.iops * mix_mean_kib(h->mix) * 1024 / 1e6;
	for (unsigned k = 1; k <= h->depth; k++) {
		part.depth += k * s->chance[k];
		part.watts += s->chance[k] * s->at[k].watts;
	}
	return part;
}

static void find_chances(const Hybrid *h, size_t i, const double *all)
{
	double others[HYBRID_DEPTH_MAX + 1];

	add_stations(h, i, others);
	for (unsigned k = 0; k <= h->depth; k++)
		h->of[i].chance[k] = exp(h->of[i].weight[k] + others[h->depth - k] - all[h->depth]);
}

static void solve(const Hybrid *h, HybridPrediction *ret)
{
	double all[HYBRID_DEPTH_MAX + 1], squares = 0;

	for (size_t i = 0; i < h->n; i++)
		fill_station(h, i);
	add_stations(h, h->n, all);
	ret->iops = exp(all[h->depth - 1] - all[h->depth]);
	ret->mb_s = ret->iops * mix_mean_kib(h->mix) * 1024 / 1e6;
	ret->mean_us = 1e6 * h->depth / ret->iops;
	for (size_t i = 0; i < h->n; i++) {
		double watts;

		find_chances(h, i, all);
		ret->of[i] = part_of(h, i, ret->iops);
		watts = h->members[i].devices * ret->of[i].watts;
		ret->watts += watts;
		squares += pow(watts * ret->of[i].error, 2);
		ret->estimated |= h->of[i].at[h->depth].estimated;
	}
	ret->error_w = sqrt(squares);
}

/* What the device serves at a depth between whole ones. */
static double iops_at(const Hybrid *h, size_t i, double depth)
{
	const Prediction *at = h->of[i].at;
	unsigned below = (unsigned)depth, above = MIN(below + 1, h->depth);

	return at[below].iops + (depth - below) * (at[above].iops - at[below].iops);
}

/* A member's device as a station of a net that is so many times smaller: fewer servers, each as
 * fast as makes them serve what the profile says at the depth that the device has in the mean. */
static int build_station(const Hybrid *h, size_t i, const HybridPart *part, unsigned smaller,
			 Station *ret, bool *ret_assumed)
{
	const HybridMember *m = &h->members[i];
	double depth = CLAMP(part->depth, 1.0, (double)h->depth), service_s;
	ServiceClass class = { .share = 1 };
	ResponseQueue q;
	unsigned servers;
	int r;

	*ret_assumed =
		response_queue(m->profile, h->mix, &SETTING_AS_FOUND, &h->of[i].at[h->depth], &q);
	servers = MAX(q.servers / smaller, 1U);
	service_s = fmin((double)servers * smaller, depth) / iops_at(h, i, depth);
	r = phase_fit(service_s, q.deviation_s / q.service_s * service_s, &class.service);
	*ret = (Station){ .devices = servers, .share = each_share(m), .n_classes = 1 };
	ret->classes[0] = class;
	return r;
}

static bool is_small(const Tier *t)
{
	for (unsigned i = 0; i < t->n_stations; i++) {
		const Station *s = &t->stations[i];

		if (response_states(t->requests, MIN(s->devices, t->requests),
				    s->classes[0].service.n) > STATES_MAX)
			return false;
	}
	return true;
}

static int build_tier(const Hybrid *h, HybridPrediction *p, unsigned smaller, Tier *ret)
{
	bool assumed;
	Station s;
	int r;

	*ret = (Tier){ .requests = MAX(h->depth / smaller, 1U),
		       .think_s = THINK_PART * h->depth / p->iops };
	for (size_t i = 0; i < h->n; i++) {
		r = build_station(h, i, &p->of[i], smaller, &s, &assumed);
		if (r < 0)
			return r;
		p->estimated |= assumed;
		for (unsigned d = 0; d < h->members[i].devices; d++)
			ret->stations[ret->n_stations++] = s;
	}
	return 0;
}

/* Many servers and a deep queue are taken for fewer and a shallower one, in proportion: the mean is
 * the same, and the waits differ more, so that the 99th percentile is on the safe side. */
static int find_times(const Hybrid *h, HybridPrediction *p)
{
	const TierEffort effort = { .max_states = SOLVED_MAX,
				    .seed = TIER_EFFORT_DEFAULT.seed,
				    .firings = FIRINGS };
	TierPrediction made;
	Tier tier = {};
	int r = build_tier(h, p, 1, &tier);

	for (unsigned smaller = 2; r >= 0 && !is_small(&tier); smaller++)
		r = build_tier(h, p, smaller, &tier);
	if (r >= 0)
		r = tier_predict(&tier, &effort, &made);
	if (r < 0)
		return r;
	p->p50_us = made.p50_s / made.response_s.mean * p->mean_us;
	p->p99_us = made.p99_s / made.response_s.mean * p->mean_us;
	p->half = made.response_s.half / made.response_s.mean;
	return 0;
}

static bool is_valid(const HybridMember *members, size_t n, const Mix *mix)
{
	double shares = 0;
	size_t devices = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(members[i].share > 0) || members[i].devices < 1 ||
		    members[i].devices > TIER_STATIONS_MAX)
			return false;
		shares += members[i].share;
		devices += members[i].devices;
	}
	return devices > 0 && devices <= TIER_STATIONS_MAX && fabs(shares - 1) < SHARE_OFF &&
	       mix->depth >= 1 && mix->depth <= HYBRID_DEPTH_MAX;
}

int hybrid_predict(const HybridMember *members, size_t n, const Mix *mix, HybridPrediction *ret)
{
	HybridPrediction p = {};
	Hybrid h = { .members = members, .n = n, .mix = mix };
	int r;

	if (!is_valid(members, n, mix))
		return -EINVAL;
	h.depth = (unsigned)CLAMP(lround(mix->depth), 1, HYBRID_DEPTH_MAX);
	h.of = calloc(n, sizeof(*h.of));
	if (!h.of)
		return -ENOMEM;
	solve(&h, &p);
	r = find_times(&h, &p);
	free(h.of);
	if (r >= 0)
		*ret = p;
	return r;
}
