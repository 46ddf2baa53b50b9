/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Metrics as text. The one form is Prometheus's, version 0.0.4, which node_exporter's textfile
 * collector and promtool read; it ends with "# EOF", a comment there. The other is OpenMetrics 1.0,
 * which names the families of counters otherwise ("# TYPE x counter" above "x_total"), knows units
 * and must end so. The collector refuses a file with a type that it does not know. */

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LABELS_MAX 6

typedef enum MetricType {
	METRIC_GAUGE,
	METRIC_COUNTER, /* grows while the daemon runs; its samples are named "..._total" */
	METRIC_INFO,    /* always 1, the labels tell; "..._info" */
} MetricType;

/* How a property becomes a number. */
typedef enum MetricValue {
	VALUE_NUMBER, /* times scale */
	VALUE_SAID,   /* a text: 1 when there is one, 0 when it is "" */
	VALUE_SET,    /* below 0: it is as found, and there is no number */
	VALUE_TIME,   /* microseconds since the epoch, as seconds; 0: never */
} MetricValue;

typedef struct Metric {
	const char *name; /* without "storpower_", with the unit, without "_total" */
	const char *unit; /* that name's end; NULL: none */
	const char *help; /* in a sentence */
	MetricType type;
	MetricValue value;
	double scale;     /* from the property's unit to the base unit; 0: 1 */
	const char *kind; /* of the devices that have it; NULL: all */
	struct {
		const char *source, *key; /* source: its label, or NULL */
	} from[2];
} Metric;

typedef struct Labels {
	size_t n;
	struct {
		const char *name, *value;
	} of[LABELS_MAX];
} Labels;

typedef struct Exposition {
	FILE *to;
	bool openmetrics;
	const Metric *metric; /* whose samples come */
	bool begun;           /* HELP and TYPE have been written */
} Exposition;

/* The samples that follow are of this metric, which has no other. Without any sample nothing of it
 * is written. */
void exposition_begin(Exposition *e, const Metric *m);
/* A value that is NAN or infinite is unknown, and left out. */
void exposition_sample(Exposition *e, const Labels *labels, double value);
void exposition_end(Exposition *e);

void labels_add(Labels *labels, const char *name, const char *value);
/* What m says of the object, under m's sources, once a source that has a label. */
void exposition_from(Exposition *e, const Labels *labels, json_object *o);
