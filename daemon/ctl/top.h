/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl top: who spends the joules. */

#include "ctl/ctl.h"

/* top-rates.c. What the consumers have done between two answers of the daemon, a row for each that
 * both have. */
json_object *top_rates(json_object *before, json_object *after);

/* top-view.c: what is looked at, and in which order. */
typedef enum TopSort {
	TOP_BY_POWER, /* or MB/s, where the joules are not known */
	TOP_BY_THROUGHPUT,
	TOP_BY_IOPS,
	TOP_BY_DEPTH,
	TOP_BY_LATENCY,
	TOP_BY_WAIT,
	TOP_BY_NAME,
	_TOP_SORT_MAX,
} TopSort;

#define TOP_FILTER_MAX 48

typedef struct TopView {
	TopSort sort;
	bool reversed;
	bool typing; /* keys go into the filter */
	bool quit;
	char filter[TOP_FILTER_MAX]; /* in a device's or cgroup's name, in whatever case; "": all */
} TopView;

/* A key was pressed; those that mean nothing are ignored. */
void top_key(TopView *v, int key);
/* The devices in the order of the view, and behind each its cgroups likewise; no more than that
 * many. */
json_object *top_arrange(const TopView *v, json_object *rows, unsigned long lines);
/* One line of at most `width` columns: how it is sorted and filtered, and the keys. */
char *top_line(const TopView *v, char *buf, size_t size, size_t width);

/* ctl-top.c. all: for the sums; rows: what is shown of it; width: of a screen that cannot wrap, 0:
 * of none. */
void top_print(const Ctl *c, json_object *all, json_object *rows, size_t width);
/* Quietly, 0 or -errno; with errors printed, an exit status. */
int top_try_sample(Ctl *c, json_object **ret);
int top_sample(Ctl *c, json_object **ret);

/* top-screen.c: shows it until a key or signal ends that. An exit status. Takes `before`. */
int top_screen(Ctl *c, json_object *before);
