/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Aligned columns for people. */

#include "ctl/ctl.h"

typedef struct Table Table;

/* columns: NULL-terminated headers; one that starts with '>' is aligned to the right. */
Table *table_new(const char *const *columns);
Table *table_free(Table *t);
DEFINE_CLEANUP(Table *, table_free);
/* As many texts as columns; "" prints as "-". */
void table_row(Table *t, ...);
/* A text below the last row, from its second column on, in as many lines as it takes. */
void table_below(Table *t, const char *text);
void table_indent(Table *t, size_t indent); /* blanks before each line */
/* These columns, "3 7 1", are left out where they say nothing, and, the first named first, until
 * the lines fit, but for -o wide. */
void table_may_drop(Table *t, const Ctl *c, const char *columns);
/* The last column goes on in the next line where it does not fit, but for -o wide. */
void table_print(const Table *t, const Ctl *c);
/* "1234" MB/s and the like, into the caller's buffer; NAN prints "-". */
char *format_number(char *buf, size_t size, double v);
/* "4.00 KiB"; powers of two. */
/* "13 us", "1.2 ms", "2.5 s"; "-": unknown */
char *format_wait(char *buf, size_t size, double us);
char *format_bytes(char *buf, size_t size, double bytes);
/* "2026-11-21 16:04:41", local time. */
char *format_time(char *buf, size_t size, uint64_t realtime_us);
