/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"

int parse_double(const char *s, double *ret)
{
	char *end;
	double v;

	/* strtod() takes "nan", "inf", "0x1p3" and leading blanks: none is a number to an operator
	 */
	if (!strchr("+-.0123456789", *s) || *s == '\0' || strpbrk(s, "xXnNiI"))
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (end == s || *end)
		return -EINVAL;
	if (errno || !isfinite(v))
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_unsigned(const char *s, unsigned long max, unsigned long *ret)
{
	char *end;
	unsigned long v;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(s, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int parse_bool(const char *s, bool *ret)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < ELEMENTSOF(words); i++)
		if (streq(s, words[i])) {
			*ret = i % 2;
			return 0;
		}
	return -EINVAL;
}

int parse_quantity(const char *s, double *ret_value, const char **ret_unit)
{
	char number[64];
	size_t n = strspn(s, "+-.0123456789");
	int r;

	if (n == 0 || n >= sizeof(number))
		return -EINVAL;
	memcpy(number, s, n);
	number[n] = '\0';
	r = parse_double(number, ret_value);
	if (r < 0)
		return r;
	*ret_unit = s + n + strspn(s + n, " ");
	return 0;
}

static const struct LimitName {
	const char *name;
	LimitUnit unit;
	double scale, max;
} limit_names[] = {
	{ "%", LIMIT_PERCENT, 1, 100 },          { "W", LIMIT_WATTS, 1, LIMIT_MAX_W },
	{ "w", LIMIT_WATTS, 1, LIMIT_MAX_W },    { "mW", LIMIT_WATTS, 1e-3, LIMIT_MAX_W },
	{ "kW", LIMIT_WATTS, 1e3, LIMIT_MAX_W }, { "kw", LIMIT_WATTS, 1e3, LIMIT_MAX_W },
	{ "KW", LIMIT_WATTS, 1e3, LIMIT_MAX_W }, { "MW", LIMIT_WATTS, 1e6, LIMIT_MAX_W },
};

static const struct LimitName *find_limit_name(const char *unit)
{
	for (size_t i = 0; i < ELEMENTSOF(limit_names); i++)
		if (streq(unit, limit_names[i].name))
			return &limit_names[i];
	return NULL;
}

bool limit_is_unit(const char *s)
{
	return find_limit_name(s);
}

int parse_limit(const char *s, double *ret_value, LimitUnit *ret_unit)
{
	const struct LimitName *name;
	const char *unit;
	double v;
	int r = parse_quantity(s, &v, &unit);

	if (r < 0)
		return r;
	name = find_limit_name(unit);
	if (!name)
		return -EINVAL;
	v *= name->scale;
	if (signbit(v) || v > name->max)
		return -ERANGE;
	*ret_value = v;
	*ret_unit = name->unit;
	return 0;
}

static const struct TimeUnit {
	const char *names; /* with blanks around each */
	uint64_t us;
} time_units[] = {
	{ " d day days ", 86400 * USEC_PER_SEC },
	{ " h hr hour hours ", 3600 * USEC_PER_SEC },
	{ " min m mins minute minutes ", 60 * USEC_PER_SEC },
	{ " s sec secs second seconds ", USEC_PER_SEC },
	{ " ms ", USEC_PER_MSEC },
	{ " us ", 1 },
};

/* "min" of " min m mins ", but not "in". */
static bool is_one_of(const char *names, const char *s, size_t n)
{
	char word[16];

	if (n > sizeof(word) - 3)
		return false;
	snprintf(word, sizeof(word), " %.*s ", (int)n, s);
	return strstr(names, word);
}

static int parse_time_unit(const char **s, uint64_t *ret_us)
{
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz");

	if (n == 0 && **s == '\0') {
		*ret_us = USEC_PER_SEC;
		return 0;
	}
	for (size_t i = 0; i < ELEMENTSOF(time_units); i++)
		if (n > 0 && is_one_of(time_units[i].names, *s, n)) {
			*ret_us = time_units[i].us;
			*s += n;
			return 0;
		}
	return -EINVAL;
}

int parse_duration_us(const char *s, uint64_t *ret_us)
{
	const double max_us = 366.0 * 86400 * USEC_PER_SEC;
	double total = 0;

	do {
		double v;
		uint64_t unit;
		int r = parse_quantity(s, &v, &s);

		if (r < 0)
			return r;
		r = parse_time_unit(&s, &unit);
		if (r < 0)
			return r;
		if (signbit(v))
			return -ERANGE;
		total += v * (double)unit;
		s += strspn(s, " ");
	} while (*s);

	if (total < 1 || total > max_us)
		return -ERANGE;
	*ret_us = (uint64_t)total;
	return 0;
}

int parse_bytes(const char *s, uint64_t *ret_bytes)
{
	static const char *const prefixes = "KMGT";
	const char *unit, *p;
	unsigned shift = 0;
	double v;
	int r = parse_quantity(s, &v, &unit);

	if (r < 0)
		return r;
	p = *unit ? strchr(prefixes, *unit) : NULL;
	if (p) {
		shift = 10 * (unsigned)(p - prefixes + 1);
		unit++;
		if (!strncmp(unit, "i", 1))
			unit++;
	}
	if (!streq(unit, "") && !streq(unit, "B"))
		return -EINVAL;
	v = ldexp(v, (int)shift);
	if (v < 0 || v >= 0x1p63)
		return -ERANGE;
	*ret_bytes = (uint64_t)v;
	return 0;
}

char *format_watts(char *buf, size_t size, double watts)
{
	if (isnan(watts))
		snprintf(buf, size, "-");
	else if (watts >= LIMIT_MAX_W)
		snprintf(buf, size, "unlimited");
	else if (fabs(watts) >= 10000)
		snprintf(buf, size, "%.2f kW", watts / 1000);
	else
		snprintf(buf, size, fabs(watts) < 10 ? "%.2f W" : "%.1f W", watts);
	return buf;
}

char *format_duration(char *buf, size_t size, uint64_t us)
{
	uint64_t s = us / USEC_PER_SEC;

	if (us == USEC_NEVER)
		snprintf(buf, size, "never");
	else if (us < USEC_PER_MSEC)
		snprintf(buf, size, "%uus", (unsigned)us);
	else if (us < USEC_PER_SEC)
		snprintf(buf, size, "%.3gms", (double)us / 1e3);
	else if (s < 10)
		snprintf(buf, size, "%.3gs", (double)us / 1e6);
	else if (s < 60)
		snprintf(buf, size, "%us", (unsigned)s);
	else if (s < 3600)
		snprintf(buf, size, s % 60 ? "%umin%us" : "%umin", (unsigned)(s / 60),
			 (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(buf, size, s % 3600 / 60 ? "%uh%umin" : "%uh", (unsigned)(s / 3600),
			 (unsigned)(s % 3600 / 60));
	else
		snprintf(buf, size, s % 86400 / 3600 ? "%ud%uh" : "%ud", (unsigned)(s / 86400),
			 (unsigned)(s % 86400 / 3600));
	return buf;
}

char *text_printf(const char *format, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, format);
	n = vasprintf(&s, format, ap);
	va_end(ap);
	return n < 0 ? NULL : s;
}

char **strv_split(const char *s)
{
	char **v = calloc(strlen(s) / 2 + 2, sizeof(*v));
	size_t n = 0;

	if (!v)
		return NULL;
	for (s += strspn(s, " \t,"); *s; s += strspn(s, " \t,")) {
		size_t length = strcspn(s, " \t,");

		v[n] = strndup(s, length);
		if (!v[n++])
			return strv_free(v);
		s += length;
	}
	return v;
}

size_t strv_length(char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

int strv_add(char ***v, const char *s)
{
	size_t n = strv_length(*v);
	char **bigger = reallocarray(*v, n + 2, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	*v = bigger;
	bigger[n] = strdup(s);
	bigger[n + 1] = NULL;
	return bigger[n] ? 0 : -ENOMEM;
}

int text_add_words(char **text, const char *words)
{
	char *more = text_printf("%s%s%s", *text, **text && *words ? " " : "", words);

	if (!more)
		return -ENOMEM;
	free(*text);
	*text = more;
	return 0;
}

char **strv_free(char **v)
{
	for (char **p = v; p && *p; p++)
		free(*p);
	free(v);
	return NULL;
}

bool strv_match(char *const *globs, const char *s)
{
	for (char *const *g = globs; g && *g; g++)
		if (fnmatch(*g, s, 0) == 0)
			return true;
	return false;
}
