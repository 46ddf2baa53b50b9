/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Drawings by gnuplot(1), where it is installed. */

#include <stdio.h>

/* A script that draws to FILE.svg or FILE.png; NULL: it was complained of. */
typedef struct Plot Plot;

/* Returns an exit status, errors printed. */
int plot_begin(const char *file, Plot **ret);
FILE *plot_script(const Plot *p);
/* A text in the quotes of the script. */
void plot_quote(const Plot *p, const char *text);
/* Runs it; frees the plot in any case. */
int plot_end(Plot *p);
