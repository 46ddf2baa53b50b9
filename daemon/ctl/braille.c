/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/braille.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ACROSS 2 /* dots of a character */
#define DOWN   4

struct Canvas {
	size_t columns, rows;
	uint8_t *dots;
	const char **marks;
};

Canvas *canvas_new(size_t columns, size_t rows)
{
	_cleanup_(canvas_freep) Canvas *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->columns = columns;
	c->rows = rows;
	c->dots = calloc(columns * rows + 1, sizeof(*c->dots));
	c->marks = calloc(columns * rows + 1, sizeof(*c->marks));
	return c->dots && c->marks ? TAKE_PTR(c) : NULL;
}

Canvas *canvas_free(Canvas *c)
{
	if (!c)
		return NULL;
	free(c->dots);
	free(c->marks);
	free(c);
	return NULL;
}

/* The dot at that part of n of them; -1: outside. */
static long dot_at(double part, size_t n)
{
	if (!(part >= -1e-9 && part <= 1 + 1e-9))
		return -1;
	return lround(CLAMP(part, 0.0, 1.0) * (double)(n - 1));
}

static void set_dot(Canvas *c, double x, double y)
{
	/* the bits of a character: three rows of two, and the fourth row that came later */
	static const uint8_t bits[DOWN][ACROSS] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	long across = dot_at(x, c->columns * ACROSS), down = dot_at(1 - y, c->rows * DOWN);

	if (across >= 0 && down >= 0)
		c->dots[(size_t)(down / DOWN) * c->columns + (size_t)(across / ACROSS)] |=
			bits[down % DOWN][across % ACROSS];
}

void canvas_line(Canvas *c, double x0, double y0, double x1, double y1, unsigned step)
{
	double across = fabs(x1 - x0) * (double)(c->columns * ACROSS);
	double down = fabs(y1 - y0) * (double)(c->rows * DOWN);
	size_t n = (size_t)ceil(MIN(MAX(across, down), 1e5));

	for (size_t i = 0; i <= n; i += step) {
		double part = (double)i / (double)MAX(n, (size_t)1);

		set_dot(c, x0 + (x1 - x0) * part, y0 + (y1 - y0) * part);
	}
}

void canvas_mark(Canvas *c, double x, double y, const char *character)
{
	long across = dot_at(x, c->columns * ACROSS), down = dot_at(1 - y, c->rows * DOWN);

	if (across >= 0 && down >= 0)
		c->marks[(size_t)(down / DOWN) * c->columns + (size_t)(across / ACROSS)] =
			character;
}

char *canvas_row(const Canvas *c, size_t row, char *buf, size_t size)
{
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < c->columns && at + 4 <= size; i++) {
		const char *mark = c->marks[row * c->columns + i];
		unsigned dots = c->dots[row * c->columns + i];

		if (mark)
			at += (size_t)snprintf(buf + at, size - at, "%s", mark);
		else if (dots)
			at += (size_t)snprintf(buf + at, size - at, "\xe2%c%c",
					       (char)(0xa0 | dots >> 6),
					       (char)(0x80 | (dots & 0x3f)));
		else
			at += (size_t)snprintf(buf + at, size - at, " ");
	}
	return buf;
}
