/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "node-ways.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

#define FREE_S 30.0 /* before the limit */

#define LEAST_SHARE 0.002 /* of the bandwidth */
#define BISECTIONS  8

static bool starts_with(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void write_variant(FILE *to, char *text, Way way)
{
	bool sensor = false;

	for (char *line; (line = strsep(&text, "\n"));) {
		if (*line == '[')
			sensor = starts_with(line, "[sensor ");
		if (way.blind && (sensor || starts_with(line, "sensors =")))
			continue;
		fprintf(to, "%s\n", line);
		if (way.pooled && streq(line, "workload = bulk"))
			fputs("pool = bulk\n", to);
	}
}

/* The node with the sensors and the pool that the way wants. */
static void open_node(Fixture *f, const char *node, Way way)
{
	_cleanup_free_ char *text = NULL, *variant = NULL;
	size_t size;
	FILE *to;

	if (!way.blind && !way.pooled) {
		fixture_open(f, node);
		return;
	}
	to = open_memstream(&variant, &size);
	if (!to || read_file(node, &text) < 0) {
		log_error("%s cannot be read: name a node that exists", node);
		exit(EXIT_FAILURE);
	}
	write_variant(to, text, way);
	fclose(to);
	fixture_open_text(f, variant);
}

static void begin(Fixture *f, const char *node, Way way)
{
	open_node(f, node, way);
	fixture_start(f);
	fixture_run(f, FREE_S);
}

Outcome run_free(const char *node, double *ret_rated_w)
{
	Outcome o;
	Fixture f;

	begin(&f, node, (Way){});
	*ret_rated_w = fixture_rated_w(&f);
	o = measure(&f, INFINITY, 1);
	fixture_close(&f);
	return o;
}

/* How far the last plan may be from the optimum; the watts that it misses the budget by. */
static void ask_plan(Fixture *f, double budget_w, double *ret_gap, double *ret_shortfall_w)
{
	_cleanup_(plan_freep) Plan *plan = NULL;
	_cleanup_free_ char *why = NULL;

	*ret_gap = *ret_shortfall_w = NAN;
	if (control_plan(f->control, &(PlanQuery){ .budget_w = budget_w }, &plan, &why) < 0)
		return;
	*ret_gap = plan->value > 0 ? plan->bound_value / plan->value - 1 : 0;
	*ret_shortfall_w = plan->shortfall_w;
}

Outcome run_storpower(const char *node, Way way, const Limit *l, double *ret_gap,
		      double *ret_shortfall_w)
{
	_cleanup_free_ char *error = NULL;
	Outcome o;
	Fixture f;

	begin(&f, node, way);
	if (way.policy && control_set_policy(f.control, way.policy, "a bench", &error) < 0) {
		log_error("%s", error);
		exit(EXIT_FAILURE);
	}
	fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
				    .limit = l->budget_w,
				    .unit = LIMIT_WATTS,
				    .tolerance_s = way.tolerance_s,
				    .source = "bench",
				    .reason = "",
				    .expiry_us = USEC_NEVER });
	o = measure(&f, l->budget_w, way.hours > 0 ? way.hours : 1);
	ask_plan(&f, l->budget_w, ret_gap, ret_shortfall_w);
	fixture_close(&f);
	return o;
}

Outcome run_alike(const char *node, const Limit *l)
{
	DeviceState d;
	Outcome o;
	Fixture f;

	begin(&f, node, (Way){});
	for (size_t i = 0; control_device(f.control, i, &d) >= 0; i++)
		fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
					    .scope = SCOPE_DEVICE,
					    .target = d.device->name,
					    .limit = l->percent / 100 * d.watts.rated_w,
					    .unit = LIMIT_WATTS,
					    .source = "bench",
					    .reason = "",
					    .expiry_us = USEC_NEVER });
	o = measure(&f, l->budget_w, 1);
	fixture_close(&f);
	return o;
}

static double full_mb_s(const Device *d, double read_share)
{
	Mix mix = { .read_share = read_share, .read_kib = 256, .write_kib = 256, .depth = 64 };
	Prediction p;

	predict(d->profile, &mix, &SETTING_AS_FOUND, &p);
	return p.mb_s;
}

/* io.cost with bandwidth coefficients alone lets through what io.max would. */
static void throttle_device(Device *d, DeviceEvent event, void *userdata)
{
	static const char qos[] = "enable=1 ctrl=user rpct=0 rlat=1000 wpct=0 wlat=1000 "
				  "min=100.00 max=100.00";
	double share = *(const double *)userdata;
	char model[256];

	if (event != DEVICE_ADDED)
		return;
	snprintf(model, sizeof(model),
		 "ctrl=user model=linear rbps=%.0f rseqiops=10000000 rrandiops=10000000 wbps=%.0f "
		 "wseqiops=10000000 wrandiops=10000000",
		 full_mb_s(d, 1) * 1e6 * share, full_mb_s(d, 0) * 1e6 * share);
	if (d->ops->cgroup_write(d, "io.cost.model", model) < 0 ||
	    d->ops->cgroup_write(d, "io.cost.qos", qos) < 0) {
		log_error("%s takes no throttle", d->name);
		exit(EXIT_FAILURE);
	}
}

static Outcome run_throttled(const char *node, double share, double budget_w)
{
	Outcome o;
	Fixture f;

	fixture_open(&f, node);
	fixture_run(&f, FREE_S);
	if (inventory_start(f.node, throttle_device, &share) < 0) {
		log_error("%s: no devices", node);
		exit(EXIT_FAILURE);
	}
	o = measure(&f, budget_w, 1);
	fixture_close(&f);
	return o;
}

Outcome throttle_to(const char *node, double budget_w, double *ret_share)
{
	double lo = LEAST_SHARE, hi = 1;
	Outcome best = run_throttled(node, lo, budget_w);

	for (int i = 0; i < BISECTIONS && best.watts <= budget_w; i++) {
		double share = sqrt(lo * hi);
		Outcome o = run_throttled(node, share, budget_w);

		if (o.watts <= budget_w) {
			lo = share;
			best = o;
		} else {
			hi = share;
		}
	}
	*ret_share = lo;
	return best;
}
