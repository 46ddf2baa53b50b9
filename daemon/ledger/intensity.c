/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger/intensity.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

#define G_KWH_MAX 1e5

/* Splits the line at its first blank or comma; NULL: it has none. A time may have a blank before
 * its hour. */
static char *split(char *line)
{
	char *end = line + strcspn(line, " \t,");

	if (*end == ' ' && strchr(end + 1, ':'))
		end += 1 + strcspn(end + 1, " \t,");
	if (!*end)
		return NULL;
	*end = '\0';
	return end + 1 + strspn(end + 1, " \t,");
}

static int parse_time(const char *text, int64_t *ret)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ",
					     "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M" };
	unsigned long epoch;

	if (parse_unsigned(text, INT64_MAX, &epoch) >= 0) {
		*ret = (int64_t)epoch;
		return 0;
	}
	for (size_t i = 0; i < ELEMENTSOF(forms); i++) {
		struct tm tm = {};
		const char *end = strptime(text, forms[i], &tm);

		if (!end || *end)
			continue;
		*ret = timegm(&tm);
		return 0;
	}
	return -EINVAL;
}

static int parse_line(char *line, double least, IntensityPoint *ret)
{
	char *figure = split(line);
	int r;

	if (!figure)
		return -EINVAL;
	figure[strcspn(figure, " \t,\r")] = '\0';
	r = parse_time(line, &ret->time_s);
	if (r >= 0)
		r = parse_double(figure, &ret->g_kwh);
	if (r < 0)
		return r;
	return ret->g_kwh >= least && ret->g_kwh <= G_KWH_MAX ? 0 : -ERANGE;
}

static bool has_digit(const char *line)
{
	return line[strcspn(line, "0123456789")];
}

static int take_line(char *line, bool first, double least, Intensity *i)
{
	IntensityPoint next, *point;

	line += strspn(line, " \t");
	if (!line[strspn(line, "\r")] || *line == '#' || (first && !has_digit(line)))
		return 0;
	if (parse_line(line, least, &next) < 0)
		return -EINVAL;
	if (i->n && next.time_s <= i->points[i->n - 1].time_s)
		return -EINVAL;
	point = ARRAY_GROW(i->points, i->n);
	if (!point)
		return -ENOMEM;
	*point = next;
	return 0;
}

int intensity_parse_from(const char *text, double least, Intensity *ret, unsigned *ret_line)
{
	_cleanup_(intensity_done) Intensity i = {};
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *line;
	unsigned n = 0;
	int r = copy ? 0 : -ENOMEM;

	while (r >= 0 && (line = strsep(&rest, "\n")))
		r = take_line(line, n++ == 0, least, &i);
	if (r < 0) {
		*ret_line = n;
		return r;
	}
	*ret = i;
	i = (Intensity){};
	return 0;
}

int intensity_parse(const char *text, Intensity *ret, unsigned *ret_line)
{
	return intensity_parse_from(text, 0, ret, ret_line);
}

void intensity_done(Intensity *i)
{
	free(i->points);
	*i = (Intensity){};
}

double intensity_at(const Intensity *i, int64_t time_s)
{
	size_t low = 0, high = i->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (i->points[middle].time_s <= time_s)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || time_s - i->points[low - 1].time_s >= INTENSITY_HOLDS_S)
		return NAN;
	return i->points[low - 1].g_kwh;
}
