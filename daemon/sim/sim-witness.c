/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells tests and benches what the physics of a node knows and the daemon does not. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/sim-node.h"

/* How many steps there were up to a time: jobs on virtual time may have moved the device ahead. */
static uint64_t steps_until(const SimHistory *h, uint64_t t_us)
{
	uint64_t oldest = h->n > SIM_HISTORY_MAX ? h->n - SIM_HISTORY_MAX : 0, k = h->n;

	while (k > oldest && h->step[(k - 1) % SIM_HISTORY_MAX].t_us > t_us)
		k--;
	return k;
}

double sim_history_watts(const SimHistory *h, uint64_t t_us)
{
	uint64_t k = steps_until(h, t_us);

	return h->step[(k ? k - 1 : 0) % SIM_HISTORY_MAX].watts;
}

double sim_node_true_watts(Inventory *node)
{
	SimNode *n = sim_node_of(node);
	uint64_t now_us = clock_now_us(n->clock);
	double sum = 0;

	for (size_t i = 0; i < n->n_devices; i++) {
		sim_device_advance_locked(n->devices[i]);
		sum += sim_history_watts(&n->devices[i]->record->history, now_us);
		sim_record_unlock(n->devices[i]->record);
	}
	return sum;
}

double sim_node_true_mb_s(Inventory *node)
{
	SimNode *n = sim_node_of(node);
	double sum = 0;

	for (size_t i = 0; i < n->n_devices; i++) {
		sim_device_advance_locked(n->devices[i]);
		sum += n->devices[i]->record->truth.rates.mb_s;
		sim_record_unlock(n->devices[i]->record);
	}
	return sum;
}

/* A workload that saturates asks for what the device would give with nothing set. */
static double asked_mb_s(const SimNature *n, uint64_t now_us)
{
	uint64_t until_us;
	double mb_s = sim_nature_demand(n, now_us, &until_us);
	SimRegisters r;

	if (isfinite(mb_s))
		return mb_s;
	sim_registers_init(&r, n->profile->kind);
	return sim_nature_capacity(n, &r);
}

double sim_node_demand_mb_s(Inventory *node)
{
	SimNode *n = sim_node_of(node);
	uint64_t now_us = clock_now_us(n->clock);
	double sum = 0;

	for (size_t i = 0; i < n->n_devices; i++)
		sum += asked_mb_s(&n->devices[i]->nature, now_us);
	return sum;
}

double sim_node_joules(Inventory *node)
{
	SimNode *n = sim_node_of(node);
	double sum = 0;

	for (size_t i = 0; i < n->n_devices; i++) {
		SimDevice *s = n->devices[i];

		sim_device_advance_locked(s);
		sum += s->record->truth.joules - s->joules_at_open;
		sim_record_unlock(s->record);
	}
	return sum;
}

int sim_node_account(Inventory *node, const char *device, SimAccount *ret)
{
	SimDevice *s = sim_node_find(sim_node_of(node), device);

	if (!s)
		return -ENOENT;
	sim_device_advance_locked(s);
	*ret = s->record->truth.account;
	ret->joules = s->record->truth.joules;
	ret->dirty_bytes = s->record->truth.dirty_bytes;
	sim_record_unlock(s->record);
	return 0;
}

/* A step of one device's draw, as the sum sees it. */
typedef struct Step {
	uint64_t t_us;
	double rise_w;
} Step;

typedef struct Steps {
	Step *step;
	size_t n;
	double start_w; /* sum at the start */
	bool lost;      /* more happened than the devices remember */
} Steps;

static int take_steps(SimDevice *s, uint64_t from_us, uint64_t to_us, Steps *ret)
{
	const SimHistory *h = &s->record->history;
	uint64_t k = s->seen_steps;

	if (h->n - k > SIM_HISTORY_MAX) {
		ret->lost = true;
		return 0;
	}
	for (; k < h->n && h->step[k % SIM_HISTORY_MAX].t_us <= from_us; k++)
		s->seen_watts = h->step[k % SIM_HISTORY_MAX].watts;
	ret->start_w += s->seen_watts;
	for (; k < h->n && h->step[k % SIM_HISTORY_MAX].t_us <= to_us; k++) {
		double watts = h->step[k % SIM_HISTORY_MAX].watts;
		Step *step = ARRAY_GROW(ret->step, ret->n);

		if (!step)
			return -ENOMEM;
		*step = (Step){ h->step[k % SIM_HISTORY_MAX].t_us, watts - s->seen_watts };
		s->seen_watts = watts;
	}
	s->seen_steps = k;
	return 0;
}

static int compare_steps(const void *a, const void *b)
{
	const Step *x = a, *y = b;

	return x->t_us < y->t_us ? -1 : x->t_us > y->t_us;
}

static void pass(SimOverload *o, double watts, double limit_w, double s)
{
	double load = watts / limit_w;

	if (s <= 0)
		return;
	o->seconds += s;
	o->joules += watts * s;
	o->most_w = fmax(o->most_w, watts);
	o->heat_s = fmax(o->heat_s + (load * load - 1) * s, 0);
	o->most_heat_s = fmax(o->most_heat_s, o->heat_s);
	/* a microwatt is the rounding of the sum */
	if (watts > limit_w + 1e-6) {
		o->above_s += s;
		o->overload_s += (load - 1) * s;
	} else {
		o->unspent_j += (limit_w - watts) * s;
	}
}

static void pass_steps(const Steps *steps, uint64_t from_us, uint64_t to_us, double limit_w,
		       SimOverload *o)
{
	double sum = steps->start_w;

	for (size_t i = 0; i <= steps->n; i++) {
		uint64_t until_us = i < steps->n ? steps->step[i].t_us : to_us;

		pass(o, sum, limit_w, (double)(until_us - from_us) / USEC_PER_SEC);
		from_us = until_us;
		sum += i < steps->n ? steps->step[i].rise_w : 0;
	}
}

void sim_node_watch(SimNode *n)
{
	n->seen_us = clock_now_us(n->clock);
	for (size_t i = 0; i < n->n_devices; i++) {
		SimDevice *s = n->devices[i];

		sim_device_advance_locked(s);
		s->seen_steps = steps_until(&s->record->history, n->seen_us);
		s->seen_watts = sim_history_watts(&s->record->history, n->seen_us);
		sim_record_unlock(s->record);
	}
}

int sim_node_overload(Inventory *node, double limit_w, SimOverload *o)
{
	SimNode *n = sim_node_of(node);
	uint64_t from_us = n->seen_us, to_us = MAX(clock_now_us(n->clock), from_us);
	Steps steps = { 0 };
	int r = 0;

	for (size_t i = 0; i < n->n_devices && r >= 0; i++) {
		sim_device_advance_locked(n->devices[i]);
		r = take_steps(n->devices[i], from_us, to_us, &steps);
		sim_record_unlock(n->devices[i]->record);
	}
	if (r >= 0 && steps.lost)
		r = -EOVERFLOW;
	if (r < 0) {
		sim_node_watch(n);
	} else {
		if (steps.n)
			qsort(steps.step, steps.n, sizeof(Step), compare_steps);
		pass_steps(&steps, from_us, to_us, limit_w, o);
		n->seen_us = to_us;
	}
	free(steps.step);
	return r;
}

double sim_node_over_seconds(Inventory *node, double budget_w)
{
	SimOverload o = {};

	return sim_node_overload(node, budget_w, &o) < 0 ? NAN : o.above_s;
}

int sim_node_dump(Inventory *node, char **ret_text)
{
	SimNode *n = sim_node_of(node);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int r = 0;

	if (!f)
		return -errno;
	for (size_t i = 0; i < n->n_devices && r >= 0; i++) {
		SimDevice *s = n->devices[i];

		sim_device_advance_locked(s);
		r = sim_registers_print(&s->record->truth.told, s->device, f);
		if (r >= 0 && s->nature.cache_bytes > 0)
			r = sim_registers_print_cache(&s->record->truth.told, s->device, f);
		sim_record_unlock(s->record);
	}
	if (fclose(f) != 0 && r >= 0)
		r = -ENOMEM;
	if (r < 0) {
		free(text);
		return r;
	}
	*ret_text = text;
	return 0;
}
