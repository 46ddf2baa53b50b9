/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text to numbers and back, strictly: the whole string must parse, NaN and infinity never do. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"

static inline bool streq(const char *a, const char *b)
{
	return __builtin_strcmp(a, b) == 0;
}

/* All return 0, -EINVAL (not a number of that form) or -ERANGE. */
int parse_double(const char *s, double *ret);
int parse_unsigned(const char *s, unsigned long max, unsigned long *ret);
int parse_bool(const char *s, bool *ret); /* yes/no, true/false, on/off, 1/0 */
/* Splits "12.5 kW" into its number and its unit, whatever that is. */
int parse_quantity(const char *s, double *ret_value, const char **ret_unit);

#define LIMIT_MAX_W 1e8 /* the highest limit: nothing ever draws as much */

typedef enum LimitUnit { LIMIT_WATTS, LIMIT_PERCENT } LimitUnit;

/* "80%", "350W", "350 w", "0.35kW", "120mW" or "2MW" ("mw" could be either); a bare number is
 * refused because nobody can know what it means. Range: 0 % to 100 %, 0 W to 100 MW. */
int parse_limit(const char *s, double *ret_value, LimitUnit *ret_unit);
bool limit_is_unit(const char *s); /* "%", "W", ... */

/* "90s", "5min", "2h", "2hours", "1d", "1h30min", "500ms"; a bare number is seconds. Greater than
 * zero, at most 366 days. */
int parse_duration_us(const char *s, uint64_t *ret_us);

/* Bytes: "4096", "4K"/"4KiB", "1M"/"1MiB" (powers of two). */
int parse_bytes(const char *s, uint64_t *ret_bytes);

/* Into the caller's buffer, which is returned: "312.4 W", "1.20 kW", "0.35 W". NaN prints "-". */
char *format_watts(char *buf, size_t size, double watts);
/* "2h", "1h30min", "45s", "120ms"; USEC_NEVER prints "never". */
char *format_duration(char *buf, size_t size, uint64_t us);

/* malloc'd printf; NULL when out of memory. */
char *text_printf(const char *format, ...) _printf_(1, 2);

/* Splits at blanks and commas into a NULL-terminated vector; free with strv_free(). */
char **strv_split(const char *s);
/* Appends a copy to *v, which may be NULL. */
int strv_add(char ***v, const char *s);
/* Appends them to a malloc'd text of words with a blank between. -ENOMEM: it is as it was. */
int text_add_words(char **text, const char *words);
size_t strv_length(char *const *v);
char **strv_free(char **v);                         /* always returns NULL */
bool strv_match(char *const *globs, const char *s); /* fnmatch(3), any of them */
DEFINE_CLEANUP(char **, strv_free);
