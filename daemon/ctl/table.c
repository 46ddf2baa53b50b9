/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/table.h"
#include "ctl/words.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define GAP       2
#define NARROWEST 14 /* the last column */

struct Table {
	const char *const *columns;
	size_t n_columns, n_cells, indent;
	uint32_t dropped; /* columns, as bits */
	char **cells;
	char **below; /* a text for each row, or NULL; NULL: for none */
	size_t n_below;
};

static void out_of_memory(void)
{
	fputs("storpowerctl: Out of memory\n", stderr);
	_exit(STATUS_FAILURE);
}

Table *table_new(const char *const *columns)
{
	Table *t = calloc(1, sizeof(*t));

	if (!t)
		out_of_memory();
	t->columns = columns;
	while (columns[t->n_columns])
		t->n_columns++;
	return t;
}

Table *table_free(Table *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	for (size_t i = 0; i < t->n_below; i++)
		free(t->below[i]);
	free(t->below);
	free(t);
	return NULL;
}

void table_row(Table *t, ...)
{
	va_list ap;

	va_start(ap, t);
	for (size_t i = 0; i < t->n_columns; i++) {
		const char *text = va_arg(ap, const char *);
		char **cell = ARRAY_GROW(t->cells, t->n_cells);

		if (!cell || !(*cell = strdup(*text ? text : "-")))
			out_of_memory();
	}
	va_end(ap);
}

void table_below(Table *t, const char *text)
{
	while (t->n_below < t->n_cells / t->n_columns) {
		char **below = ARRAY_GROW(t->below, t->n_below);

		if (!below)
			out_of_memory();
		*below = NULL;
	}
	t->below[t->n_below - 1] = strdup(text);
	if (!t->below[t->n_below - 1])
		out_of_memory();
}

static const char *header(const Table *t, size_t column)
{
	return t->columns[column] + (*t->columns[column] == '>');
}

static bool is_dropped(const Table *t, size_t column)
{
	return t->dropped >> column & 1;
}

/* The last one that is printed. */
static size_t last_column(const Table *t)
{
	size_t last = t->n_columns - 1;

	while (last > 0 && is_dropped(t, last))
		last--;
	return last;
}

static size_t column_width(const Table *t, size_t column, bool legend)
{
	size_t w = legend ? text_width(header(t, column)) : 0;

	for (size_t i = column; i < t->n_cells; i += t->n_columns)
		w = MAX(w, text_width(t->cells[i]));
	return w;
}

static void print_cell(const Table *t, size_t column, const char *text, size_t width)
{
	int pad = (int)(width - text_width(text));
	bool last = column == last_column(t);

	if (is_dropped(t, column))
		return;
	if (*t->columns[column] == '>')
		printf("%*s%s", pad, "", text);
	else
		printf("%s%*s", text, last ? 0 : pad, "");
	printf("%*s", last ? 0 : GAP, "");
}

/* What is left to the last column of a line; SIZE_MAX: as much as it wants. */
static size_t last_width(const Table *t, const Ctl *c, const size_t *width)
{
	size_t used = t->indent;

	for (size_t i = 0; i < last_column(t); i++)
		used += is_dropped(t, i) ? 0 : width[i] + GAP;
	return c->wide ? SIZE_MAX : c->width > used + NARROWEST ? c->width - used : NARROWEST;
}

/* The last column goes on below itself. */
static void print_last(const char *text, size_t left, size_t width)
{
	size_t n = text_break(text, width);

	printf("%.*s\n", (int)n, text);
	for (text += n; *text; text += n) {
		while (*text == ' ')
			text++;
		n = text_break(text, width);
		printf("%*s%.*s\n", (int)left, "", (int)n, text);
	}
}

static void print_row(const Table *t, const Ctl *c, char **cells, const size_t *width)
{
	size_t left = t->indent, last = last_column(t);

	printf("%*s", (int)t->indent, "");
	for (size_t i = 0; i < last; i++) {
		print_cell(t, i, cells[i], width[i]);
		left += is_dropped(t, i) ? 0 : width[i] + GAP;
	}
	if (*t->columns[last] == '>') {
		print_cell(t, last, cells[last], width[last]);
		putchar('\n');
	} else {
		print_last(cells[last], left, last_width(t, c, width));
	}
}

static bool says_nothing(const Table *t, size_t column)
{
	for (size_t i = column; i < t->n_cells; i += t->n_columns)
		if (!streq(t->cells[i], "-") && !streq(t->cells[i], " "))
			return false;
	return true;
}

static bool fits(const Table *t, const Ctl *c)
{
	size_t used = t->indent;

	for (size_t i = 0; i < t->n_columns; i++)
		if (!is_dropped(t, i))
			used += column_width(t, i, c->legend) + (i < last_column(t) ? GAP : 0);
	return c->wide || used <= c->width;
}

void table_may_drop(Table *t, const Ctl *c, const char *columns)
{
	char *end;

	for (const char *at = columns; *at; at = end) {
		size_t column = strtoul(at, &end, 10);

		if (says_nothing(t, column))
			t->dropped |= 1u << column;
	}
	for (const char *at = columns; *at && !fits(t, c); at = end)
		t->dropped |= 1u << strtoul(at, &end, 10);
}

void table_indent(Table *t, size_t indent)
{
	t->indent = indent;
}

void table_print(const Table *t, const Ctl *c)
{
	size_t *width = calloc(t->n_columns, sizeof(*width));

	if (!width)
		out_of_memory();
	for (size_t i = 0; i < t->n_columns; i++)
		width[i] = column_width(t, i, c->legend);
	if (c->legend) {
		printf("%s%*s", c->bold ? "\033[1m" : "", (int)t->indent, "");
		for (size_t i = 0; i < t->n_columns; i++)
			print_cell(t, i, header(t, i), width[i]);
		puts(c->bold ? "\033[0m" : "");
	}
	for (size_t i = 0; i < t->n_cells; i += t->n_columns) {
		size_t row = i / t->n_columns;

		print_row(t, c, t->cells + i, width);
		if (row < t->n_below && t->below[row])
			print_wrapped("", t->indent + width[0] + GAP, t->below[row],
				      c->wide ? SIZE_MAX : c->width);
	}
	free(width);
}

char *format_number(char *buf, size_t size, double v)
{
	if (isnan(v))
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, fabs(v) < 10 ? "%.2f" : fabs(v) < 100 ? "%.1f" : "%.0f", v);
	return buf;
}

char *format_wait(char *buf, size_t size, double us)
{
	const char *unit = us < 1e3 ? "us" : us < 1e6 ? "ms" : "s";
	double value = us < 1e3 ? us : us < 1e6 ? us / 1e3 : us / 1e6;

	if (isnan(us))
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, value < 10 ? "%.1f %s" : "%.0f %s", value, unit);
	return buf;
}

char *format_bytes(char *buf, size_t size, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	char number[32];
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < ELEMENTSOF(units); unit++)
		bytes /= 1024;
	if (unit == 0)
		snprintf(buf, size, "%.0f B", bytes);
	else
		snprintf(buf, size, "%s %s", format_number(number, sizeof(number), bytes),
			 units[unit]);
	return buf;
}

char *format_time(char *buf, size_t size, uint64_t realtime_us)
{
	time_t t = (time_t)(realtime_us / USEC_PER_SEC);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(buf, size, "%F %T", &tm);
	return buf;
}
