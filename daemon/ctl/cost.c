/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a limit costs: throughput and p99 of each class or pool, beside what they would be without
 * it, and who has it worst. */

#include <math.h>
#include <string.h>

#include "ctl/cost.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define POOLS_SHOWN 6    /* with more of them, the classes are shown */
#define WORSE       0.99 /* of a share: the first of those that have the same is named */
#define LEAST_MB_S  0.1  /* asked for: who asks for less is idle */
#define MODELLED    "~"  /* before what was not measured */

/* The longest of several. */
typedef struct Latency {
	double measured_us, model_us; /* 0: not known */
} Latency;

/* A pool, a device of none, or a class of devices. */
typedef struct Sum {
	const char *name;
	double mb_s, full_mb_s;
	Latency p99, full_p99;
} Sum;

typedef struct Sums {
	Sum *sums;
	size_t n;
} Sums;

static Sum *sum_of(Sums *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (streq(s->sums[i].name, name))
			return &s->sums[i];
	s->sums[s->n] = (Sum){ .name = name };
	return &s->sums[s->n++];
}

static double longer(double a, double b)
{
	return isnan(b) ? a : fmax(a, b);
}

static void note_latency(Latency *l, double measured_us, double model_us)
{
	l->measured_us = longer(l->measured_us, measured_us);
	l->model_us = longer(l->model_us, model_us);
}

static bool is_modelled(const Latency *l)
{
	return !(l->measured_us > 0) && l->model_us > 0;
}

/* What applications wait, measured to a factor of two, before what the model says of the device. */
static char *format_latency(char *buf, size_t size, const Latency *l)
{
	char text[24];

	if (l->measured_us > 0)
		return format_wait(buf, size, l->measured_us);
	snprintf(buf, size, "%s%s", is_modelled(l) ? MODELLED : "",
		 words_latency(text, sizeof(text), l->model_us));
	return buf;
}

/* What it serves now it would also serve without a limit, whatever it was seen to ask for; of what
 * is as found, which nothing holds back, that is all. */
static double full_mb_s(json_object *d)
{
	double mb_s = json_number(d, "Throughput");

	return streq(json_text(d, "Setting"), "as found")
		       ? mb_s
		       : fmax(json_number(d, "FullThroughput"), mb_s);
}

static void add(Sum *s, json_object *d, json_object *unlimited)
{
	double full = full_mb_s(d);

	s->mb_s += json_number(d, "Throughput");
	s->full_mb_s += full;
	if (!(full > LEAST_MB_S))
		return;
	note_latency(&s->p99, json_number(d, "WaitP99"), json_number(d, "P99"));
	note_latency(&s->full_p99, json_number(d, "WaitP99Before"), json_number(unlimited, "P99"));
}

static const char *unit_name(json_object *d)
{
	return *json_text(d, "Pool") ? json_text(d, "Pool") : json_text(d, "Name");
}

static const char *class_name(json_object *d)
{
	return json_text(d, "Kind");
}

static const char *pool_or_class(json_object *d)
{
	return *json_text(d, "Pool") ? json_text(d, "Pool") : json_text(d, "Kind");
}

static Sums sum_up(const Cost *c, const char *(*name)(json_object *d))
{
	size_t n = json_count(c->devices);
	Sums s = { .sums = calloc(n + 1, sizeof(*s.sums)) };

	for (size_t i = 0; s.sums && i < n; i++) {
		json_object *d = json_object_array_get_idx(c->devices, i);

		add(sum_of(&s, name(d)), d, ctl_find_device(c->unlimited, json_text(d, "Name")));
	}
	return s;
}

static double share_of(const Sum *s)
{
	return s->full_mb_s > LEAST_MB_S ? s->mb_s / s->full_mb_s : INFINITY;
}

static void print_sums(const Ctl *c, const Sums *s, size_t indent)
{
	static const char *const all[] = { "CLASS", ">MB/S", ">WITHOUT LIMIT",
					   ">KEPT", ">P99",  ">WITHOUT LIMIT",
					   NULL };
	static const char *const few[] = {
		"CLASS", ">MB/S", ">WITHOUT LIMIT", ">KEPT", ">P99", NULL
	};
	_cleanup_(table_freep) Table *t = table_new(c->width < WORDS_NARROW ? few : all);
	char now[32], full[32], kept[16], p99[32], full_p99[32];

	table_indent(t, indent);
	for (size_t i = 0; i < s->n; i++) {
		const Sum *sum = &s->sums[i];

		table_row(t, sum->name, format_number(now, sizeof(now), sum->mb_s),
			  format_number(full, sizeof(full), sum->full_mb_s),
			  words_share(kept, sizeof(kept), sum->mb_s, sum->full_mb_s),
			  format_latency(p99, sizeof(p99), &sum->p99),
			  format_latency(full_p99, sizeof(full_p99), &sum->full_p99));
	}
	table_print(t, c);
}

static void explain_modelled(const Ctl *c, const Sums *s, size_t indent)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++)
		any |= is_modelled(&s->sums[i].p99) ||
		       (c->width >= WORDS_NARROW && is_modelled(&s->sums[i].full_p99));
	if (any && c->legend)
		printf("%*s%s\n", (int)indent, "", MODELLED " by the model, not measured");
}

static void print_classes(const Ctl *c, const Cost *cost, size_t indent)
{
	Sums s = sum_up(cost, pool_or_class);

	if (s.n > POOLS_SHOWN) {
		free(s.sums);
		s = sum_up(cost, class_name);
	}
	print_sums(c, &s, indent);
	explain_modelled(c, &s, indent);
	free(s.sums);
}

static void print_worst(const Ctl *c, const Cost *cost, size_t indent)
{
	Sums s = sum_up(cost, unit_name);
	const Sum *worst = NULL;
	char now[32], full[32], kept[16], text[256];

	for (size_t i = 0; i < s.n; i++)
		if (share_of(&s.sums[i]) < (worst ? WORSE * share_of(worst) : 1))
			worst = &s.sums[i];
	if (worst) {
		snprintf(text, sizeof(text), "The worst is %s: %s of %s MB/s, %s", worst->name,
			 format_number(now, sizeof(now), worst->mb_s),
			 format_number(full, sizeof(full), worst->full_mb_s),
			 words_share(kept, sizeof(kept), worst->mb_s, worst->full_mb_s));
		printf("%*s", (int)indent, "");
		print_wrapped("", 0, text, c->width - indent);
	}
	free(s.sums);
}

static const char *node_name(json_object *d)
{
	(void)d;
	return "";
}

double cost_share(const Cost *cost, double *ret_mb_s, double *ret_full_mb_s)
{
	Sums s = sum_up(cost, node_name);
	double share = s.n > 0 ? share_of(&s.sums[0]) : INFINITY;

	*ret_mb_s = s.n > 0 ? s.sums[0].mb_s : 0;
	*ret_full_mb_s = s.n > 0 ? s.sums[0].full_mb_s : 0;
	free(s.sums);
	return share;
}

void cost_print(const Ctl *c, const Cost *cost, size_t indent)
{
	print_classes(c, cost, indent);
	if (json_count(cost->devices) > 1)
		print_worst(c, cost, indent);
}
