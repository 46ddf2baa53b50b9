/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The figures of a report as people read them: three digits and a unit. */

#include <math.h>
#include <stdarg.h>

#include "base/clock.h"
#include "ctl/report.h"
#include "ctl/table.h"
#include "ctl/words.h"

#define LABEL     12
#define LINE_SIZE 512

void report_line(const Ctl *c, const char *label, const char *format, ...)
{
	char text[LINE_SIZE], left[LABEL + 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(left, sizeof(left), "%*s  ", LABEL - 2, label);
	print_wrapped(left, LABEL, text, c->width);
}

typedef struct Scale {
	const char *unit;
	double from, divisor; /* of the figure's size */
} Scale;

/* The last scale counts for all that is smaller. */
static char *scaled(char buf[REPORT_TEXT], double v, const Scale *scale)
{
	char number[32];

	if (!isfinite(v)) {
		snprintf(buf, REPORT_TEXT, "-");
		return buf;
	}
	while (scale->from > 0 && fabs(v) < scale->from)
		scale++;
	v /= scale->divisor;
	if (v == 0)
		snprintf(buf, REPORT_TEXT, "0%s%s", *scale->unit ? " " : "", scale->unit);
	else
		snprintf(buf, REPORT_TEXT, "%s%s%s", format_number(number, sizeof(number), v),
			 *scale->unit ? " " : "", scale->unit);
	return buf;
}

char *report_energy(char buf[REPORT_TEXT], double joules)
{
	static const Scale scale[] = { { "MWh", 3.6e9, 3.6e9 }, { "kWh", 3.6e6, 3.6e6 },
				       { "Wh", 1e3, 3.6e3 },    { "J", 1, 1 },
				       { "mJ", 1e-3, 1e-3 },    { "uJ", 0, 1e-6 } };

	return scaled(buf, joules, scale);
}

char *report_joules(char buf[REPORT_TEXT], double joules)
{
	static const Scale scale[] = {
		{ "GJ", 1e9, 1e9 }, { "MJ", 1e6, 1e6 }, { "kJ", 1e4, 1e3 }, { "J", 0, 1 }
	};

	return scaled(buf, joules, scale);
}

char *report_kg(char buf[REPORT_TEXT], double kg)
{
	static const Scale scale[] = {
		{ "t", 1e3, 1e3 }, { "kg", 1, 1 }, { "g", 1e-3, 1e-3 }, { "mg", 0, 1e-6 }
	};

	return scaled(buf, kg, scale);
}

char *report_moved(char buf[REPORT_TEXT], double bytes)
{
	static const Scale scale[] = { { "PB", 1e15, 1e15 }, { "TB", 1e12, 1e12 },
				       { "GB", 1e9, 1e9 },   { "MB", 1e6, 1e6 },
				       { "kB", 1e3, 1e3 },   { "B", 0, 1 } };

	return scaled(buf, bytes, scale);
}

char *report_count(char buf[REPORT_TEXT], double n)
{
	static const Scale scale[] = { { "billion", 1e9, 1e9 },
				       { "million", 1e6, 1e6 },
				       { "thousand", 1e4, 1e3 } };

	if (isfinite(n) && n < 1e4)
		snprintf(buf, REPORT_TEXT, "%.0f", n);
	else
		scaled(buf, n, scale);
	return buf;
}

char *report_watts(char buf[REPORT_TEXT], double watts)
{
	static const Scale scale[] = { { "kW", 1e4, 1e3 }, { "W", 0, 1 } };

	return scaled(buf, watts, scale);
}

/* To the cent, and small sums to three digits. */
char *report_money(char buf[REPORT_TEXT], double money, const char *currency)
{
	if (!isfinite(money))
		snprintf(buf, REPORT_TEXT, "-");
	else
		snprintf(buf, REPORT_TEXT,
			 fabs(money) < 0.1 && money != 0 ? "%.2g%s%.8s" : "%.2f%s%.8s", money,
			 *currency ? " " : "", currency);
	return buf;
}

char *report_span(char buf[REPORT_TEXT], double s)
{
	if (!isfinite(s) || s < 0)
		snprintf(buf, REPORT_TEXT, "-");
	else if (s < 1)
		snprintf(buf, REPORT_TEXT, "0s");
	else
		format_duration(buf, REPORT_TEXT, (uint64_t)round(s) * USEC_PER_SEC);
	return buf;
}

char *report_percent(char buf[REPORT_TEXT], double share)
{
	double percent = 100 * share;

	/* not all is not 100 % */
	if (percent > 99 && percent < 100)
		percent = fmin(percent, 99.9);
	if (!isfinite(share))
		snprintf(buf, REPORT_TEXT, "-");
	else if (percent != 0 && (fabs(percent) < 9.95 || (percent > 99 && percent < 100)))
		snprintf(buf, REPORT_TEXT, "%.1f %%", percent);
	else
		snprintf(buf, REPORT_TEXT, "%.0f %%", percent);
	return buf;
}

char *report_range(char *buf, size_t size, const Report *r)
{
	char since[32], until[32];

	snprintf(buf, size, "%s to %s", report_time_text(since, sizeof(since), r->since_s),
		 report_time_text(until, sizeof(until), r->until_s));
	return buf;
}

bool report_is_whole(const Report *r, const ReportFigures *f)
{
	return f->span_s > 0.999 * (double)(r->until_s - r->since_s);
}
