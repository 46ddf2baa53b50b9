/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-time.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_S     86400
#define FOREVER_S (999LL * 365 * DAY_S)

/* So many digits, and nothing else; -1: they are not there. */
static int take_digits(const char **at, size_t n)
{
	int v = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)**at))
			return -1;
		v = v * 10 + *(*at)++ - '0';
	}
	return v;
}

static bool take_char(const char **at, const char *any_of)
{
	if (!**at || !strchr(any_of, **at))
		return false;
	(*at)++;
	return true;
}

static bool take_date(const char **at, struct tm *tm)
{
	tm->tm_year = take_digits(at, 4) - 1900;
	if (!take_char(at, "-"))
		return false;
	tm->tm_mon = take_digits(at, 2) - 1;
	if (!take_char(at, "-"))
		return false;
	tm->tm_mday = take_digits(at, 2);
	return tm->tm_mon >= 0 && tm->tm_mon <= 11 && tm->tm_mday >= 1 && tm->tm_mday <= 31;
}

static bool take_clock(const char **at, struct tm *tm)
{
	tm->tm_hour = take_digits(at, 2);
	if (!take_char(at, ":"))
		return false;
	tm->tm_min = take_digits(at, 2);
	if (!take_char(at, ":"))
		return false;
	tm->tm_sec = take_digits(at, 2);
	if (take_char(at, "."))
		while (isdigit((unsigned char)**at))
			(*at)++;
	return tm->tm_hour >= 0 && tm->tm_hour <= 23 && tm->tm_min >= 0 && tm->tm_min <= 59 &&
	       tm->tm_sec >= 0 && tm->tm_sec <= 60;
}

/* "Z", "+01:00" */
static bool take_zone(const char **at, int64_t *ret_s)
{
	bool east;
	int h, m;

	*ret_s = 0;
	if (take_char(at, "Zz"))
		return true;
	east = **at == '+';
	if (!take_char(at, "+-"))
		return false;
	h = take_digits(at, 2);
	if (!take_char(at, ":"))
		return false;
	m = take_digits(at, 2);
	*ret_s = (east ? 1 : -1) * (h * 3600 + m * 60);
	return h >= 0 && h <= 23 && m >= 0 && m <= 59;
}

int openadr_parse_time(const char *text, int64_t *ret_s)
{
	struct tm tm = { 0 }, copy;
	int64_t zone_s = 0;
	const char *at = text;
	time_t t;

	if (!take_date(&at, &tm))
		return -EINVAL;
	if (*at && (!take_char(&at, "Tt ") || !take_clock(&at, &tm)))
		return -EINVAL;
	if (*at && (!take_zone(&at, &zone_s) || *at))
		return -EINVAL;
	copy = tm;
	t = timegm(&copy);
	if (copy.tm_mday != tm.tm_mday)
		return -EINVAL; /* as of the 31st of February */
	*ret_s = tm.tm_year == 1 - 1900 ? OPENADR_NOW : t - zone_s;
	return 0;
}

/* A number, with a fraction; -EINVAL: there is none. */
static int take_number(const char **at, double *ret)
{
	double v = 0, unit = 1;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	while (isdigit((unsigned char)**at))
		v = v * 10 + *(*at)++ - '0';
	if (take_char(at, ".,"))
		while (isdigit((unsigned char)**at))
			v += (unit /= 10) * (*(*at)++ - '0');
	*ret = v;
	return 0;
}

/* Parts in the order of `units`, each once at most. */
static int take_parts(const char **at, const char *units, const double *unit_s, double *sum_s)
{
	const char *next = units;

	while (isdigit((unsigned char)**at)) {
		const char *unit;
		double v;

		if (take_number(at, &v) < 0 || !**at)
			return -EINVAL;
		unit = strchr(next, **at);
		if (!unit)
			return -EINVAL;
		*sum_s += v * unit_s[unit - units];
		next = unit + 1;
		(*at)++;
	}
	return next == units ? -ENOENT : 0;
}

int openadr_parse_duration(const char *text, int64_t *ret_s)
{
	static const double date_s[] = { 365.0 * DAY_S, 30.0 * DAY_S, 7.0 * DAY_S, DAY_S };
	static const double clock_s[] = { 3600, 60, 1 };
	const char *at = text;
	double sum_s = 0;
	int date, clock = -ENOENT;

	if (!take_char(&at, "P"))
		return -EINVAL;
	date = take_parts(&at, "YMWD", date_s, &sum_s);
	if (take_char(&at, "T")) {
		clock = take_parts(&at, "HMS", clock_s, &sum_s);
		if (clock < 0)
			return -EINVAL;
	}
	if (*at || date == -EINVAL || (date < 0 && clock < 0))
		return -EINVAL;
	*ret_s = sum_s > FOREVER_S ? OPENADR_NEVER : (int64_t)sum_s;
	return 0;
}

char *openadr_format_time(char *buf, size_t size, int64_t s)
{
	time_t t = s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(buf, size, "?");
	return buf;
}

int64_t openadr_add(int64_t s, int64_t duration_s)
{
	int64_t sum;

	if (s == OPENADR_NEVER || duration_s == OPENADR_NEVER ||
	    __builtin_add_overflow(s, duration_s, &sum))
		return OPENADR_NEVER;
	return sum;
}

int64_t openadr_spread(const char *id, const char *salt, int64_t range_s)
{
	uint64_t hash = 14695981039346656037ULL;

	if (range_s <= 0 || range_s == OPENADR_NEVER)
		return 0;
	for (const char *c = id; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
	for (const char *c = salt; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
	return (int64_t)(hash % ((uint64_t)range_s + 1));
}
