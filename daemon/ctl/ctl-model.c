/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The models of power and throughput, with and without a daemon. */

#include "ctl/ctl-model.h"
#include "base/log.h"
#include "ctl/suggest.h"

typedef struct Subverb {
	const char *name;
	int min_args, max_args; /* -1: any number */
	bool workload, depth, plot;
	const char *usage;
	int (*run)(Ctl *c);
} Subverb;

static const Subverb subverbs[] = {
	{ "list", 0, 0, false, false, false, "", model_list },
	{ "show", 1, 1, false, false, false, " PROFILE|DEVICE|FILE", model_show },
	{ "frontier", 1, 1, true, false, true, " PROFILE|DEVICE|FILE", model_frontier },
	{ "predict", 0, -1, true, true, false, " [PROFILE[xN]|NODEFILE]...", model_predict },
	{ "compare", 2, 2, false, false, false, " A B", model_compare },
	{ "validate", 1, -1, false, false, false, " FILE...", model_validate },
	{ "drift", 0, 0, false, false, false, "", model_drift },
};

const char *model_subverb(size_t index)
{
	return index < ELEMENTSOF(subverbs) ? subverbs[index].name : NULL;
}

static const Subverb *find(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(subverbs); i++)
		if (streq(subverbs[i].name, name))
			return &subverbs[i];
	return NULL;
}

static int refuse_option(const Subverb *v, const char *option)
{
	return complain(STATUS_USAGE, "model %s takes no --%s: see storpowerctl --help", v->name,
			option);
}

static int check(const Ctl *c, const Subverb *v)
{
	if (c->model.workload && !v->workload)
		return refuse_option(v, "workload");
	if (c->model.depth && !v->depth)
		return refuse_option(v, "depth");
	if (c->model.plot && !v->plot)
		return refuse_option(v, "plot");
	if (c->n_args < v->min_args || (v->max_args >= 0 && c->n_args > v->max_args))
		return complain(STATUS_USAGE, "Usage: storpowerctl model %s%s", v->name, v->usage);
	return STATUS_OK;
}

static int unknown(const char *name)
{
	const char *names[ELEMENTSOF(subverbs) + 1] = {}, *near;

	for (size_t i = 0; i < ELEMENTSOF(subverbs); i++)
		names[i] = subverbs[i].name;
	near = suggest(name, names);
	if (near)
		return complain(STATUS_USAGE, "Unknown \"model %s\": did you mean model %s?", name,
				near);
	return complain(STATUS_USAGE,
			"Unknown \"model %s\": list, show, frontier, predict, compare, "
			"validate or drift would be right",
			name);
}

int verb_model(Ctl *c)
{
	const Subverb *v = find(c->args[0]);
	int status;

	if (!v)
		return unknown(c->args[0]);
	c->args++;
	c->n_args--;
	status = check(c, v);
	if (status)
		return status;
	log_set_plain(); /* what is wrong with a file is said to whoever has typed this */
	return v->run(c);
}
