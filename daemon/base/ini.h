/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads ini files with line numbers, over inih. Headings are handed on as well. A line that is too
 * long, or holds what base/printable.h calls unfit, other than tabs and in comments, is complained
 * of and not handed on; of a heading neither are the keys below it. */

#include <stdbool.h>

#include "base/cleanup.h"

typedef struct IniLine {
	const char *path;
	unsigned line;
	const char *section; /* "" before the first [section] */
	const char *key;     /* NULL: the line is the section's heading */
	const char *value;
	unsigned section_line;   /* of its heading; 0 before the first */
	unsigned section_before; /* the line of another [section] of this name, 0: there is none */
	unsigned key_before;     /* the line in this section that has this key, too; 0 likewise */
} IniLine;

/* Return 0 to go on, -errno to stop; complaints go through ini_complain(), which is where file:line
 * is added. */
typedef int (*IniHandler)(const IniLine *l, void *userdata);

/* The text of such a file, malloc'd. -EBADMSG when it holds a NUL byte (logged with its line). */
int ini_load(const char *path, char **ret_text);
/* -ENOENT, -EBADMSG for a line that is not ini (logged with its number), or the handler's error. */
int ini_read(const char *path, IniHandler handler, void *userdata);
/* The same for text in memory; `path` is only what complaints call it. */
int ini_read_text(const char *path, const char *text, IniHandler handler, void *userdata);

/* Logs "PATH:LINE: ..." as a warning and returns -EINVAL. */
int ini_complain(const IniLine *l, const char *format, ...) _printf_(2, 3);
/* The same where the line is a heading. The keys below one that cannot be used say nothing more. */
int ini_complain_of_heading(const IniLine *l, const char *format, ...) _printf_(2, 3);
