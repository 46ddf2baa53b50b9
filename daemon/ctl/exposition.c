/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <math.h>

#include "base/clock.h"
#include "ctl/ctl.h"
#include "ctl/exposition.h"

void exposition_begin(Exposition *e, const Metric *m)
{
	e->metric = m;
	e->begun = false;
}

static const char *suffix(const Metric *m)
{
	switch (m->type) {
	case METRIC_COUNTER: return "_total";
	case METRIC_INFO: return "_info";
	default: return "";
	}
}

static const char *type_name(const Exposition *e)
{
	switch (e->metric->type) {
	case METRIC_COUNTER: return "counter";
	case METRIC_INFO: return e->openmetrics ? "info" : "gauge";
	default: return "gauge";
	}
}

/* Both forms escape these in what HELP says, and the quote in labels. */
static void write_escaped(FILE *to, const char *text, bool quote)
{
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", to);
			continue;
		}
		if (*text == '\\' || (quote && *text == '"'))
			fputc('\\', to);
		fputc(*text, to);
	}
}

static void write_head(Exposition *e)
{
	const Metric *m = e->metric;
	const char *end = e->openmetrics ? "" : suffix(m);

	fprintf(e->to, "# HELP storpower_%s%s ", m->name, end);
	write_escaped(e->to, m->help, e->openmetrics);
	fprintf(e->to, "\n# TYPE storpower_%s%s %s\n", m->name, end, type_name(e));
	if (e->openmetrics && m->unit)
		fprintf(e->to, "# UNIT storpower_%s %s\n", m->name, m->unit);
	e->begun = true;
}

static void write_labels(FILE *to, const Labels *labels)
{
	for (size_t i = 0; i < labels->n; i++) {
		fprintf(to, "%s%s=\"", i ? "," : "{", labels->of[i].name);
		write_escaped(to, labels->of[i].value, true);
		fputc('"', to);
	}
	if (labels->n > 0)
		fputc('}', to);
}

void exposition_sample(Exposition *e, const Labels *labels, double value)
{
	if (!isfinite(value))
		return;
	if (!e->begun)
		write_head(e);
	fprintf(e->to, "storpower_%s%s", e->metric->name, suffix(e->metric));
	write_labels(e->to, labels);
	fprintf(e->to, " %.15g\n", value);
}

void exposition_end(Exposition *e)
{
	fputs("# EOF\n", e->to);
}

void labels_add(Labels *labels, const char *name, const char *value)
{
	assert(labels->n < LABELS_MAX);
	labels->of[labels->n].name = name;
	labels->of[labels->n].value = value;
	labels->n++;
}

/* NAN: unknown, which it also is where the daemon has no such property. */
static double value_of(const Metric *m, const char *key, json_object *o)
{
	double v = json_number(o, key);

	if (m->value == VALUE_SAID)
		return json_member(o, key) ? *json_text(o, key) != '\0' : NAN;
	if (m->value == VALUE_SET && v < 0)
		return NAN;
	if (m->value == VALUE_TIME)
		return v > 0 ? v / USEC_PER_SEC : NAN;
	return m->scale > 0 ? v * m->scale : v;
}

void exposition_from(Exposition *e, const Labels *labels, json_object *o)
{
	const Metric *m = e->metric;

	for (size_t i = 0; i < ELEMENTSOF(m->from) && m->from[i].key; i++) {
		Labels with = *labels;

		if (m->from[i].source)
			labels_add(&with, "source", m->from[i].source);
		exposition_sample(e, &with, value_of(m, m->from[i].key, o));
	}
}
