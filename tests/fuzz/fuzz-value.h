/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Values as people write them: numbers with their units, without the daemon's own readers; and
 * numbers as text that reads back to the last bit. */

#include <math.h>
#include <stdbool.h>

#include "base/text.h"
#include "fuzz.h"

enum { FUZZ_BARE, FUZZ_WATTS, FUZZ_JOULES, FUZZ_SECONDS, FUZZ_BYTES, FUZZ_RATE };

/* Takes one number and its unit from *at. */
static bool fuzz_one_quantity(const char **at, double *ret, int *ret_dimension)
{
	static const struct {
		const char *name;
		double scale;
		int dimension;
	} units[] = {
		{ "", 1, FUZZ_BARE },          { "%", 0.01, FUZZ_BARE },
		{ "mW", 1e-3, FUZZ_WATTS },    { "W", 1, FUZZ_WATTS },
		{ "kW", 1e3, FUZZ_WATTS },     { "MW", 1e6, FUZZ_WATTS },
		{ "uJ", 1e-6, FUZZ_JOULES },   { "mJ", 1e-3, FUZZ_JOULES },
		{ "J", 1, FUZZ_JOULES },       { "us", 1e-6, FUZZ_SECONDS },
		{ "ms", 1e-3, FUZZ_SECONDS },  { "s", 1, FUZZ_SECONDS },
		{ "m", 60, FUZZ_SECONDS },     { "min", 60, FUZZ_SECONDS },
		{ "h", 3600, FUZZ_SECONDS },   { "d", 86400, FUZZ_SECONDS },
		{ "B", 1, FUZZ_BYTES },        { "K", 1024, FUZZ_BYTES },
		{ "KB", 1024, FUZZ_BYTES },    { "KiB", 1024, FUZZ_BYTES },
		{ "M", 0x1p20, FUZZ_BYTES },   { "MB", 0x1p20, FUZZ_BYTES },
		{ "MiB", 0x1p20, FUZZ_BYTES }, { "G", 0x1p30, FUZZ_BYTES },
		{ "GB", 0x1p30, FUZZ_BYTES },  { "GiB", 0x1p30, FUZZ_BYTES },
		{ "T", 0x1p40, FUZZ_BYTES },   { "TB", 0x1p40, FUZZ_BYTES },
		{ "TiB", 0x1p40, FUZZ_BYTES }, { "Ki", 1024, FUZZ_BYTES },
		{ "Mi", 0x1p20, FUZZ_BYTES },  { "Gi", 0x1p30, FUZZ_BYTES },
		{ "Ti", 0x1p40, FUZZ_BYTES },  { "MB/s", 1, FUZZ_RATE },
		{ "GB/s", 1e3, FUZZ_RATE },    { "iops", 1, FUZZ_BARE },
	};
	char *end;
	double v = strtod(*at, &end);
	const char *unit = end + strspn(end, " ");
	size_t n = strcspn(unit, "+-.0123456789 ");

	if (end == *at || !strchr("+-.0123456789", **at) || !isfinite(v))
		return false;
	for (size_t i = 0; i < ELEMENTSOF(units); i++)
		if (strlen(units[i].name) == n && strncmp(unit, units[i].name, n) == 0) {
			*ret = v * units[i].scale;
			*ret_dimension = units[i].dimension;
			*at = unit + n + strspn(unit + n, " ");
			return true;
		}
	return false;
}

/* "1h30min" is a sum. */
static bool fuzz_quantity(const char *text, double *ret, int *ret_dimension)
{
	double sum = 0, v;
	int dimension;

	*ret_dimension = FUZZ_BARE;
	do {
		if (!fuzz_one_quantity(&text, &v, &dimension))
			return false;
		if (dimension != FUZZ_BARE)
			*ret_dimension = dimension;
		sum += v;
	} while (*text);
	*ret = sum;
	return true;
}

static bool fuzz_same_quantity(const char *a, const char *b)
{
	static const double grain[] = {
		[FUZZ_SECONDS] = 1.01e-6, [FUZZ_BYTES] = 1, [FUZZ_RATE] = 0
	};
	double x, y;
	int of_a, of_b, of;

	if (!fuzz_quantity(a, &x, &of_a) || !fuzz_quantity(b, &y, &of_b) ||
	    (of_a && of_b && of_a != of_b))
		return false;
	of = of_a ?: of_b;
	return fabs(x - y) <= grain[of] + 1e-12 * fabs(x);
}

static int fuzz_bool(const char *word)
{
	bool v;

	return parse_bool(word, &v) >= 0 ? v : -1;
}

static size_t fuzz_trim_colon(char *word)
{
	size_t n = strlen(word);

	if (n && word[n - 1] == ':')
		word[n - 1] = '\0';
	return strcspn(word, "=:");
}

/* "ps=0", "10min:800", "14W" in a point or a demand; a name in a list. A colon may follow a point's
 * words. */
static bool fuzz_same_word(char *a, char *b)
{
	size_t n = fuzz_trim_colon(a), m = fuzz_trim_colon(b);
	_cleanup_free_ char *x = strndup(a, n), *y = strndup(b, m);

	if (!a[n] || !b[m])
		return streq(x, y) || fuzz_same_quantity(x, y);
	return a[n] == b[m] && (streq(x, y) || fuzz_same_quantity(x, y)) &&
	       (streq(a + n + 1, b + m + 1) || fuzz_same_quantity(a + n + 1, b + m + 1));
}

/* "5%/h" and "5%/60min". */
static bool fuzz_same_drift(const char *a, const char *b)
{
	const char *x = strchr(a, '/'), *y = strchr(b, '/');
	_cleanup_free_ char *of_a = NULL, *of_b = NULL, *in_a = NULL, *in_b = NULL;

	if (!x || !y)
		return false;
	of_a = strndup(a, (size_t)(x - a));
	of_b = strndup(b, (size_t)(y - b));
	in_a = text_printf("%s%s", strchr("0123456789", x[1]) ? "" : "1", x + 1);
	in_b = text_printf("%s%s", strchr("0123456789", y[1]) ? "" : "1", y + 1);
	return fuzz_same_quantity(of_a, of_b) && fuzz_same_quantity(in_a, in_b);
}

/* Is each word of a one of b? */
static bool fuzz_has_words(const char *a, const char *b)
{
	_cleanup_(strv_freep) char **x = strv_split(a), **y = strv_split(b);

	for (char **w = x; *w; w++) {
		bool found = false;

		for (char **v = y; *v && !found; v++)
			found = fuzz_same_word(*w, *v);
		if (!found)
			return false;
	}
	return true;
}

/* Does the report's value of the key say what the file's does? */
static bool fuzz_same_value(const char *key, const char *file, const char *report)
{
	_cleanup_free_ char *steps = NULL;

	if (streq(file, report) || (fuzz_bool(file) >= 0 && fuzz_bool(file) == fuzz_bool(report)))
		return true;
	if (streq(key, "point"))
		return fuzz_has_words(file, report);
	if (streq(key, "demand")) {
		size_t n = strlen("constant");

		n = strncmp(file, "constant", n) ? 0 : n + strspn(file + n, " ,");
		steps = text_printf("%s%s", n ? "0:" : "", file + n);
		return fuzz_has_words(steps, report);
	}
	if (streq(key, "drift"))
		return fuzz_same_drift(file, report);
	if (streq(key, "sensors") && (strstr(file, "all") || strstr(file, "none")))
		return true; /* they stand for others */
	if (streq(key, "forbid") || streq(key, "sensors") || streq(key, "of") ||
	    streq(key, "estimated"))
		return fuzz_has_words(file, report) && fuzz_has_words(report, file);
	return fuzz_same_quantity(file, report);
}

/* ---- the report ---- */

typedef struct FuzzReport {
	FILE *stream;
	char *text;
	size_t n;
	bool unfit; /* a text cannot say it */
} FuzzReport;

static inline void fuzz_report_begin(FuzzReport *r)
{
	*r = (FuzzReport){ 0 };
	r->stream = open_memstream(&r->text, &r->n);
	if (!r->stream)
		abort();
}

/* The text, NULL if it is not to be judged. */
static inline char *fuzz_report_end(FuzzReport *r)
{
	if (fclose(r->stream) != 0)
		abort();
	if (r->unfit)
		free(r->text);
	return r->unfit ? NULL : r->text;
}

/* A number for those readers that take exponents, as short as it can be. */
static inline void fuzz_put_number(FuzzReport *r, const char *before, double v, const char *after)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	fprintf(r->stream, "%s%s%s", before, text, after);
}

/* The same without an exponent. */
static inline void fuzz_put_fixed(FuzzReport *r, const char *key, double v, const char *unit)
{
	r->unfit |= v != 0 && fabs(v) < 1e-30;
	fprintf(r->stream, "%s=%.50f%s\n", key, v, unit);
}

/* The percentage that is read as this share. */
static inline double fuzz_percent_of(double share)
{
	double v = share * 100;

	for (int i = 0; i < 4 && v / 100 < share; i++)
		v = nextafter(v, INFINITY);
	for (int i = 0; i < 4 && v / 100 > share; i++)
		v = nextafter(v, 0);
	return v;
}

static inline void fuzz_put_percent(FuzzReport *r, const char *key, double share)
{
	double v = fuzz_percent_of(share);

	r->unfit |= v / 100 != share;
	fuzz_put_fixed(r, key, v, "%");
}

static inline void fuzz_put_us(FuzzReport *r, const char *key, double us)
{
	fprintf(r->stream, us > 0 ? "%s=%.0fus\n" : "%s=0\n", key, us);
}

static inline void fuzz_put_bool(FuzzReport *r, const char *key, bool v)
{
	fprintf(r->stream, "%s=%s\n", key, v ? "yes" : "no");
}

/* NULL: nothing is said. */
static inline void fuzz_put_text(FuzzReport *r, const char *key, const char *text)
{
	if (text)
		fprintf(r->stream, "%s=%s\n", key, text);
}
