/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/braille.h"
#include "ctl/model-curve.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define AXIS_WIDTH 8  /* "   1234 " and the axis itself */
#define Y_ROWS     4  /* from one figure to the next */
#define Y_MOST     5  /* figures, but for that of 0 */
#define X_COLUMNS  12 /* from one figure to the next, at least */
#define BAND_STEP  4  /* of the dots of the error band one in so many is drawn */

/* What is drawn, and where. */
typedef struct Chart {
	const ModelCurve *curve;
	size_t columns, rows;
	double from_w, to_w, most_mb_s; /* at the edges */
	double step_w, step_mb_s;       /* from one figure to the next; round */
} Chart;

/* The least of 1, 2, 2.5 and 5 times a power of ten that is no less. */
static double round_up(double v)
{
	static const double steps[] = { 1, 2, 2.5, 5, 10 };
	double unit = pow(10, floor(log10(v)));
	size_t i = 0;

	while (i + 1 < ELEMENTSOF(steps) && steps[i] * unit < v * (1 - 1e-9))
		i++;
	return steps[i] * unit;
}

static Chart chart_of(const ModelCurve *m, size_t width)
{
	size_t figures = CLAMP(width / 20, (size_t)2, (size_t)Y_MOST);
	Chart c = { .curve = m,
		    .columns = width > AXIS_WIDTH + 2 ? width - AXIS_WIDTH - 1 : 2,
		    .rows = Y_ROWS * figures + 1,
		    .from_w = m->from_w,
		    .to_w = m->to_w };

	c.step_mb_s = round_up(m->most_mb_s / (double)figures);
	c.most_mb_s = c.step_mb_s * (double)figures;
	c.step_w = round_up((c.to_w - c.from_w) * X_COLUMNS / (double)c.columns);
	return c;
}

static double across(const Chart *c, double watts)
{
	return (watts - c->from_w) / (c->to_w - c->from_w);
}

static double up(const Chart *c, double mb_s)
{
	return mb_s / c->most_mb_s;
}

/* error: so many times that of the watts is added. */
static void draw_line(Canvas *canvas, const Chart *c, double error, unsigned step)
{
	for (size_t i = 1; i < c->curve->n; i++) {
		const CurvePoint *a = &c->curve->line[i - 1], *b = &c->curve->line[i];

		canvas_line(canvas, across(c, a->watts * (1 + error * a->error)), up(c, a->mb_s),
			    across(c, b->watts * (1 + error * b->error)), up(c, b->mb_s), step);
	}
}

static void mark(Canvas *canvas, const Chart *c, const CurvePoint *p, const char *character)
{
	if (!isnan(p->watts) && !isnan(p->mb_s))
		canvas_mark(canvas, across(c, p->watts), up(c, p->mb_s), character);
}

static void draw(Canvas *canvas, const Chart *c)
{
	const ModelCurve *m = c->curve;

	draw_line(canvas, c, -1, BAND_STEP);
	draw_line(canvas, c, 1, BAND_STEP);
	draw_line(canvas, c, 0, 1);
	for (size_t i = 0; i < m->n_points; i++)
		mark(canvas, c, &m->points[i], "×");
	mark(canvas, c, &m->planned, "◆");
	mark(canvas, c, &m->now, "●");
}

static void print_row(const Chart *c, const Canvas *canvas, size_t row)
{
	char line[4 * c->columns + 1], label[32] = "";
	size_t above = c->rows - 1 - row, figure = above / Y_ROWS, n;
	bool labelled = above % Y_ROWS == 0;

	canvas_row(canvas, row, line, sizeof(line));
	for (n = strlen(line); n && line[n - 1] == ' '; n--)
		line[n - 1] = '\0';
	if (labelled)
		snprintf(label, sizeof(label), "%.4g", c->step_mb_s * (double)figure);
	printf("%*s %s%s\n", AXIS_WIDTH - 2, label, labelled ? "┤" : "│", line);
}

/* The column of the i-th round figure; the first one is at the left edge or right of it. */
static double figure_at(const Chart *c, size_t i, size_t *ret_column)
{
	double watts = (ceil(c->from_w / c->step_w - 1e-9) + (double)i) * c->step_w;

	*ret_column = (size_t)lround(across(c, watts) * (double)(c->columns - 1));
	return watts;
}

static void print_axis(const Chart *c)
{
	size_t next = 0, at;

	printf("%*s└", AXIS_WIDTH - 1, "");
	figure_at(c, next, &at);
	for (size_t i = 0; i < c->columns; i++) {
		fputs(i == at ? "┬" : "─", stdout);
		if (i == at)
			figure_at(c, ++next, &at);
	}
	putchar('\n');
}

/* Each figure begins below its mark. */
static void print_watts(const Chart *c)
{
	size_t at = 0, column;
	char text[32];

	printf("%*s", AXIS_WIDTH, "");
	for (size_t i = 0;; i++) {
		double watts = figure_at(c, i, &column);

		snprintf(text, sizeof(text), "%.4g W", watts);
		if (column + strlen(text) > c->columns)
			break;
		at += (size_t)printf("%*s%s", (int)(column - at), "", text);
	}
	putchar('\n');
}

static void print_key(const Ctl *c, const ModelCurve *m)
{
	char text[512], points[128] = "";

	if (m->n_points && m->n_outside)
		snprintf(points, sizeof(points),
			 "; × points of the profile for such IO (%zu more lie outside)",
			 m->n_outside);
	else if (m->n_points)
		snprintf(points, sizeof(points), "; × points of the profile for such IO");
	snprintf(text, sizeof(text),
		 "MB/s over expected watts: the line is the frontier, dotted is how far off its "
		 "watts may be%s%s%s",
		 points, isnan(m->now.watts) ? "" : "; ● now",
		 isnan(m->planned.watts) ? "" : "; ◆ as planned");
	print_wrapped("", 0, text, c->width);
}

void model_chart_print(const Ctl *c, const ModelCurve *m)
{
	Chart chart = chart_of(m, c->width);
	_cleanup_(canvas_freep) Canvas *canvas = canvas_new(chart.columns, chart.rows);

	if (!canvas)
		return;
	draw(canvas, &chart);
	putchar('\n');
	for (size_t row = 0; row < chart.rows; row++)
		print_row(&chart, canvas, row);
	print_axis(&chart);
	print_watts(&chart);
	print_key(c, m);
}
