/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/report-svg.h"

#include <math.h>
#include <time.h>

#include "ctl/words.h"

#define LEFT        46.0 /* room for the watts */
#define RIGHT       14.0
#define TOP         12.0
#define BOTTOM      30.0 /* and for the times */
#define LABEL_WIDTH 58.0 /* of a time */
#define WATT_TICKS  5

double axis_nice(double v)
{
	const double ten = pow(10, floor(log10(v))), part = v / ten;

	/* a hair above is where rounding has put it */
	return ten * (part <= 1 + 1e-9 ? 1 : part <= 2 + 1e-9 ? 2 : part <= 5 + 1e-9 ? 5 : 10);
}

int64_t axis_time_step(int64_t seconds, unsigned n)
{
	static const int64_t steps[] = { 1,           5,          10,         30,
					 60,          300,        600,        1800,
					 HOUR_S,      2 * HOUR_S, 3 * HOUR_S, 6 * HOUR_S,
					 12 * HOUR_S, DAY_S,      2 * DAY_S,  7 * DAY_S,
					 14 * DAY_S,  28 * DAY_S, 91 * DAY_S, 182 * DAY_S };

	for (size_t i = 0; i < ELEMENTSOF(steps); i++)
		if (seconds / steps[i] < n)
			return steps[i];
	return (seconds / n / (365 * DAY_S) + 1) * 365 * DAY_S;
}

typedef struct Axes {
	const PowerChart *chart;
	double top_w, tick_w;
} Axes;

static double mean_w(const Amounts *a)
{
	return (double)a->of[AMOUNT_ENERGY_UJ] / (double)MAX(a->of[AMOUNT_SPAN_US], (int64_t)1);
}

static double budget_w(const Amounts *a)
{
	return a->of[AMOUNT_LIMITED_US] > 0
		       ? (double)a->of[AMOUNT_BUDGET_UJ] / (double)a->of[AMOUNT_LIMITED_US]
		       : NAN;
}

static double highest_w(const Amounts *a)
{
	return fmax((double)a->of[AMOUNT_HIGHEST_MW] / 1e3, mean_w(a));
}

static Axes axes_of(const PowerChart *chart)
{
	double top = 1e-3;

	for (size_t i = 0; i < chart->steps->n; i++) {
		const Amounts *a = &chart->steps->all[i].sum;

		top = fmax(top, fmax(highest_w(a), isnan(budget_w(a)) ? 0 : budget_w(a)));
	}
	const double tick = axis_nice(top / WATT_TICKS);

	return (Axes){ chart, tick * ceil(top / tick), tick };
}

static double x_of(const Axes *a, int64_t time_s)
{
	const PowerChart *c = a->chart;
	const double share = (double)(time_s - c->since_s) / (double)(c->until_s - c->since_s);

	return LEFT + fmin(fmax(share, 0), 1) * (c->width - LEFT - RIGHT);
}

static double y_of(const Axes *a, double watts)
{
	return TOP + (1 - watts / a->top_w) * (a->chart->height - TOP - BOTTOM);
}

/* ---- axes ---- */

static void draw_watts(FILE *f, const Axes *a)
{
	const bool kilo = a->top_w >= 1e4;

	for (int i = 0; i * a->tick_w <= a->top_w * (1 + 1e-9); i++) {
		const double w = i * a->tick_w, y = y_of(a, w);

		fprintf(f,
			"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.4g%s</text>\n",
			LEFT, a->chart->width - RIGHT, y, y, LEFT - 6, y + 4, kilo ? w / 1e3 : w,
			kilo ? " kW" : " W");
	}
}

static void time_label(char *buf, size_t size, int64_t time_s, int64_t step_s)
{
	const time_t t = (time_t)time_s;
	struct tm tm;

	localtime_r(&t, &tm);
	(void)strftime(buf, size,
		       step_s >= 91 * DAY_S      ? "%b %Y"
		       : step_s >= DAY_S         ? "%e %b"
		       : step_s < 60             ? "%H:%M:%S"
		       : tm.tm_hour || tm.tm_min ? "%H:%M"
						 : "%e %b",
		       &tm);
}

/* Ticks are where the local clock is a multiple of their step. */
static void draw_times(FILE *f, const Axes *a)
{
	const PowerChart *c = a->chart;
	const unsigned most = (unsigned)((c->width - LEFT - RIGHT) / LABEL_WIDTH);
	const int64_t step = axis_time_step(c->until_s - c->since_s, most);
	const int64_t offset = report_offset(c->since_s);
	int64_t t = c->since_s + offset;

	for (t += (step - t % step) % step - offset; t <= c->until_s; t += step) {
		const double x = x_of(a, t), y = c->height - BOTTOM;
		char label[32];

		time_label(label, sizeof(label), t, step);
		fprintf(f,
			"<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
			x, x, y, y + 5, x, y + 20,
			x < LEFT + 16               ? "start"
			: x > c->width - RIGHT - 24 ? "end"
						    : "middle",
			label);
	}
}

/* ---- what was drawn ---- */

static int64_t end_of(const PowerChart *c, size_t i)
{
	return c->steps->all[i].time_s + c->step_s;
}

/* Does the step follow the one before without a gap? */
static bool follows(const PowerChart *c, size_t i)
{
	return i > 0 && c->steps->all[i].time_s <= end_of(c, i - 1);
}

typedef double (*Watts)(const Amounts *a);

/* A line in steps; it breaks where nothing is known. */
static void draw_line(FILE *f, const Axes *a, Watts watts, const char *class)
{
	const PowerChart *c = a->chart;
	bool drawn = false;

	fprintf(f, "<path class=\"%s\" d=\"", class);
	for (size_t i = 0; i < c->steps->n; i++) {
		const double w = watts(&c->steps->all[i].sum);

		if (!isnan(w))
			fprintf(f, "%s%.1f %.1fH%.1f", drawn && follows(c, i) ? "L" : "M",
				x_of(a, c->steps->all[i].time_s), y_of(a, w),
				x_of(a, end_of(c, i)));
		drawn = !isnan(w);
	}
	fputs("\"/>\n", f);
}

static void draw_area(FILE *f, const Axes *a)
{
	const PowerChart *c = a->chart;
	const double floor = y_of(a, 0);

	fputs("<path class=\"area\" d=\"", f);
	for (size_t i = 0; i < c->steps->n; i++) {
		if (!follows(c, i))
			fprintf(f, "M%.1f %.1f", x_of(a, c->steps->all[i].time_s), floor);
		fprintf(f, "L%.1f %.1fH%.1f", x_of(a, c->steps->all[i].time_s),
			y_of(a, mean_w(&c->steps->all[i].sum)), x_of(a, end_of(c, i)));
		if (i + 1 == c->steps->n || !follows(c, i + 1))
			fprintf(f, "V%.1fZ", floor);
	}
	fputs("\"/>\n", f);
}

/* Where the budget was exceeded, at the foot. */
static void draw_above(FILE *f, const Axes *a)
{
	const PowerChart *c = a->chart;

	for (size_t i = 0; i < c->steps->n; i++) {
		const double x = x_of(a, c->steps->all[i].time_s);

		if (c->steps->all[i].sum.of[AMOUNT_ABOVE_US] > 0)
			fprintf(f,
				"<rect class=\"above\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				"height=\"5\"/>\n",
				x, c->height - BOTTOM - 5, fmax(2, x_of(a, end_of(c, i)) - x));
	}
}

void svg_power(FILE *f, const PowerChart *chart)
{
	const Axes a = axes_of(chart);

	fprintf(f,
		"<svg class=\"chart %s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
		"aria-label=\"Power and budget over time\">\n",
		chart->class, chart->width, chart->height);
	draw_watts(f, &a);
	draw_times(f, &a);
	draw_area(f, &a);
	draw_line(f, &a, highest_w, "highest");
	draw_line(f, &a, budget_w, "budget");
	draw_above(f, &a);
	fputs("</svg>\n", f);
}
