/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drawing in characters of UTF-8: each of 2 by 4 dots (U+2800 to U+28FF), or one mark. */

#include <stddef.h>

#include "base/cleanup.h"

typedef struct Canvas Canvas;

/* NULL: out of memory. */
Canvas *canvas_new(size_t columns, size_t rows);
Canvas *canvas_free(Canvas *c);
DEFINE_CLEANUP(Canvas *, canvas_free);
/* From 0 to 1, from the left and from the bottom; what lies outside is cut off. Of the dots of the
 * line every step-th is set, 1: all. */
void canvas_line(Canvas *c, double x0, double y0, double x1, double y1, unsigned step);
/* One character, in place of the dots. The last one of a place counts; not copied. */
void canvas_mark(Canvas *c, double x, double y, const char *character);
/* row 0 is the top. Returns buf; 3 bytes a column and a NUL go into it. */
char *canvas_row(const Canvas *c, size_t row, char *buf, size_t size);
