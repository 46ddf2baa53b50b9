/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Any text as one quoted field of a line, for the files that storpower keeps its own state in. */

#include <stdio.h>

/* Writes "text", with quotes, backslashes and control bytes escaped; UTF-8 stays readable. */
void quote_write(FILE *f, const char *text);
/* Reads the field that starts at *p and moves *p behind it. -EBADMSG when it is not one. */
int quote_read(const char **p, char **ret_text);
