/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "ctl/gnuplot.h"
#include "ctl/model-curve.h"

static void write_line(FILE *f, const ModelCurve *m)
{
	fputs("$frontier << END\n", f);
	for (size_t i = 0; i < m->n; i++) {
		const CurvePoint *p = &m->line[i];

		fprintf(f, "%g %g %g %g\n", p->watts, p->mb_s, p->watts * (1 - p->error),
			p->watts * (1 + p->error));
	}
	fputs("END\n", f);
}

static void write_points(FILE *f, const ModelCurve *m)
{
	fputs("$points << END\n", f);
	for (size_t i = 0; i < m->n_points; i++)
		fprintf(f, "%g %g %g\n", m->points[i].watts, m->points[i].mb_s,
			m->points[i].watts * m->points[i].error);
	fputs("END\n", f);
}

static void write_one(FILE *f, const char *name, const CurvePoint *p)
{
	fprintf(f, "$%s << END\n%g %g\nEND\n", name, p->watts, p->mb_s);
}

/* The errors are those of the watts, which go from left to right. */
static void write_plot(FILE *f, const ModelCurve *m)
{
	fprintf(f,
		"set xlabel 'expected watts'\nset ylabel 'MB/s'\nset grid\n"
		"set key at graph 0.02, 0.97 left top Left reverse\n"
		"set xrange [%g:%g]\nset yrange [0:%g]\n"
		"plot $frontier using 3:2 with lines dashtype 3 linecolor 'gray40' "
		"title 'error of its watts', \\\n"
		"  '' using 4:2 with lines dashtype 3 linecolor 'gray40' notitle, \\\n"
		"  '' using 1:2 with lines linewidth 2 linecolor 'blue' title 'frontier'",
		m->from_w, m->to_w, m->most_mb_s);
	if (m->n_points)
		fputs(", \\\n  $points using 1:2:3 with xerrorbars pointtype 2 linecolor 'black' "
		      "title 'points of the profile'",
		      f);
	if (!isnan(m->planned.watts))
		fputs(", \\\n  $planned using 1:2 with points pointtype 13 pointsize 2 linecolor "
		      "'orange' title 'as planned'",
		      f);
	if (!isnan(m->now.watts))
		fputs(", \\\n  $now using 1:2 with points pointtype 7 pointsize 1.5 linecolor "
		      "'red' title 'now'",
		      f);
	fputc('\n', f);
}

int model_plot(const char *file, const char *title, const ModelCurve *m)
{
	Plot *p = NULL;
	int status = plot_begin(file, &p);
	FILE *f;

	if (status)
		return status;
	f = plot_script(p);
	fputs("set title ", f);
	plot_quote(p, title);
	fputc('\n', f);
	write_line(f, m);
	if (m->n_points)
		write_points(f, m);
	if (!isnan(m->planned.watts))
		write_one(f, "planned", &m->planned);
	if (!isnan(m->now.watts))
		write_one(f, "now", &m->now);
	write_plot(f, m);
	return plot_end(p);
}
