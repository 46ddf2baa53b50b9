/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "ctl/top.h"

#define ESCAPE    27
#define DELETE    127
#define BACKSPACE 8

static const struct SortColumn {
	char key;
	const char *name, *column; /* of a row; NULL: its device and cgroup */
} sorts[_TOP_SORT_MAX] = {
	[TOP_BY_POWER] = { 'p', "power", "IOPower" },
	[TOP_BY_THROUGHPUT] = { 't', "MB/s", "Throughput" },
	[TOP_BY_IOPS] = { 'i', "IOPS", "IOPS" },
	[TOP_BY_DEPTH] = { 'd', "depth", "Depth" },
	[TOP_BY_LATENCY] = { 'l', "latency", "Latency" },
	[TOP_BY_WAIT] = { 'w', "wait", "WaitP99" },
	[TOP_BY_NAME] = { 'n', "name", NULL },
};

static void type(TopView *v, int key)
{
	size_t n = strlen(v->filter);

	if (key == '\r' || key == '\n' || key == ESCAPE) {
		v->typing = false;
		if (key == ESCAPE)
			*v->filter = '\0';
	} else if (key == DELETE || key == BACKSPACE) {
		v->filter[n ? n - 1 : 0] = '\0';
	} else if (isgraph(key) && n + 1 < sizeof(v->filter)) {
		v->filter[n] = (char)key;
		v->filter[n + 1] = '\0';
	}
}

static void choose_sort(TopView *v, int key)
{
	for (TopSort s = 0; s < _TOP_SORT_MAX; s++)
		if (sorts[s].key == key)
			v->sort = s;
}

void top_key(TopView *v, int key)
{
	if (v->typing) {
		type(v, key);
		return;
	}
	switch (key) {
	case 'q':
	case 'Q': v->quit = true; break;
	case 'r': v->reversed = !v->reversed; break;
	case '/': v->typing = true; break;
	case ESCAPE: *v->filter = '\0'; break;
	case '>': v->sort = (v->sort + 1) % _TOP_SORT_MAX; break;
	case '<': v->sort = (v->sort + _TOP_SORT_MAX - 1) % _TOP_SORT_MAX; break;
	default: choose_sort(v, key); break;
	}
}

static int compare_names(json_object *x, json_object *y)
{
	int r = strverscmp(json_text(x, "Device"), json_text(y, "Device"));

	return r ?: strcmp(json_text(x, "Cgroup"), json_text(y, "Cgroup"));
}

/* The greatest first; what is unknown counts as nothing. */
static int compare_figures(json_object *x, json_object *y, const char *column)
{
	double order = fmax(json_number(y, column), 0) - fmax(json_number(x, column), 0);

	return (order > 0) - (order < 0);
}

static int compare(const TopView *v, json_object *x, json_object *y)
{
	const char *column = sorts[v->sort].column;
	int r = column ? compare_figures(x, y, column) : compare_names(x, y);

	if (!r && v->sort == TOP_BY_POWER)
		r = compare_figures(x, y, "Throughput");
	if (!r)
		return compare_names(x, y); /* equals do not jump from one look to the next */
	return v->reversed ? -r : r;
}

/* By insertion: the rows are few. */
static void insert(const TopView *v, json_object *sorted, json_object *row)
{
	size_t at = json_count(sorted);

	json_object_array_add(sorted, json_object_get(row));
	for (; at > 0 && compare(v, json_object_array_get_idx(sorted, at - 1), row) > 0; at--)
		json_object_array_put_idx(
			sorted, at, json_object_get(json_object_array_get_idx(sorted, at - 1)));
	json_object_array_put_idx(sorted, at, json_object_get(row));
}

static bool is_wanted(const TopView *v, json_object *row)
{
	return strcasestr(json_text(row, "Device"), v->filter) ||
	       strcasestr(json_text(row, "Cgroup"), v->filter);
}

/* Of one device, those that did something and that the filter lets through. */
static json_object *select_cgroups(const TopView *v, json_object *rows, const char *device)
{
	json_object *selected = json_object_new_array();

	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		if (!json_true(row, "WholeDevice") && streq(json_text(row, "Device"), device) &&
		    json_number(row, "Throughput") > 0 && is_wanted(v, row))
			insert(v, selected, row);
	}
	return selected;
}

static json_object *select_devices(const TopView *v, json_object *rows)
{
	json_object *selected = json_object_new_array();

	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		if (json_true(row, "WholeDevice"))
			insert(v, selected, row);
	}
	return selected;
}

static void append_all(json_object *to, json_object *from, unsigned long lines)
{
	for (size_t i = 0; i < json_count(from) && json_count(to) < lines; i++)
		json_object_array_add(to, json_object_get(json_object_array_get_idx(from, i)));
}

json_object *top_arrange(const TopView *v, json_object *rows, unsigned long lines)
{
	_cleanup_json_ json_object *devices = select_devices(v, rows);
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < json_count(devices) && json_count(all) < lines; i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		_cleanup_json_ json_object *cgroups =
			select_cgroups(v, rows, json_text(d, "Device"));

		if (!json_count(cgroups) && !is_wanted(v, d))
			continue;
		json_object_array_add(all, json_object_get(d));
		append_all(all, cgroups, lines);
	}
	return all;
}

char *top_line(const TopView *v, char *buf, size_t size, size_t width)
{
	char line[160];

	if (v->typing)
		snprintf(line, sizeof(line), "Filter: %s_  (Enter: done, Esc: all)", v->filter);
	else
		snprintf(line, sizeof(line),
			 "by %s%s%s%s  p t i d l w n: sort, r: reverse, /: filter, q: quit",
			 sorts[v->sort].name, v->reversed ? " reversed" : "",
			 *v->filter ? ", with " : "", v->filter);
	snprintf(buf, size, "%.*s", (int)width, line);
	return buf;
}
