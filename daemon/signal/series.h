/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Limits by figures over time, that a file tells or the daemon was told: the carbon intensity of
 * the grid, or a price. */

#include <time.h>

#include "ledger/intensity.h"
#include "signal/wish.h"

/* It opens when the figure is above the one, and closes when it is at or below the other. */
typedef struct Threshold {
	double above, until;
	double limit;
	LimitUnit unit;
	char *words; /* as it was written */
	bool open;
} Threshold;

typedef enum SeriesFrom { FROM_FILE, FROM_DAEMON } SeriesFrom;
typedef enum CarbonKind { CARBON_AVERAGE, CARBON_MARGINAL } CarbonKind;

/* [carbon] or [price] */
typedef struct Series {
	const char *name; /* "carbon" */
	double least;     /* no figure is below it */
	SeriesFrom from;
	char *file;  /* NULL: none is named */
	double told; /* FROM_DAEMON: the figure of now; NaN: it is not known */
	CarbonKind kind;
	char *unit;
	Threshold *thresholds;
	size_t n;
	Intensity figures;
	bool unreadable; /* that was told */
} Series;

enum { SERIES_CARBON, SERIES_PRICE, _SERIES_MAX };

typedef struct SeriesConfig {
	Series of[_SERIES_MAX];
} SeriesConfig;

/* As the other configurations of signals. */
int series_config_read(const char *path, SeriesConfig **ret, size_t *ret_warnings);
int series_config_read_text(const char *path, const char *text, SeriesConfig **ret,
			    size_t *ret_warnings);
SeriesConfig *series_config_free(SeriesConfig *c); /* returns NULL */
DEFINE_CLEANUP(SeriesConfig *, series_config_free);

/* Which of its thresholds are open is known from an earlier configuration. */
void series_take_over(SeriesConfig *c, const SeriesConfig *before);
/* Reads the files. Of one that cannot be used the figures that were read before count. */
void series_load(SeriesConfig *c);
/* What the daemon has now: the price and the carbon intensity; NaN: nobody knows. */
void series_tell(SeriesConfig *c, double price, double g_kwh);
bool series_asks_daemon(const SeriesConfig *c);
/* What they want at this time, and when that may change: at the next figure, or within a minute. */
int series_wishes(SeriesConfig *c, time_t now, Wishes *ret, time_t *ret_look_again);
