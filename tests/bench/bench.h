/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the benchmarks in C have in common: a table on stdout for people and, after --json=FILE, one
 * JSON object a line added to that file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static inline int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Takes the option out of the arguments. Without it: a stream that leads nowhere. */
static inline FILE *bench_json(int *argc, char **argv)
{
	static const char option[] = "--json=";
	const char *path = "/dev/null";
	FILE *f;
	int n = 1;

	for (int i = 1; i < *argc; i++)
		if (strncmp(argv[i], option, strlen(option)) == 0)
			path = argv[i] + strlen(option);
		else
			argv[n++] = argv[i];
	*argc = n;
	f = fopen(path, "ae");
	if (!f) {
		log_error("%s cannot be written: name a file in a folder that exists", path);
		exit(EXIT_FAILURE);
	}
	return f;
}
