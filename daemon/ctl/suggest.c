/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/suggest.h"

#include <string.h>

#include "base/cleanup.h"

#define WORD_MAX 64

/* One row of the table of optimal string alignment; row[j]: of i letters of a and j of b. */
static void next_row(const char *a, const char *b, size_t n, size_t i, size_t (*rows)[WORD_MAX + 1])
{
	size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

	row[0] = i;
	for (size_t j = 1; j <= n; j++) {
		size_t changed = above[j - 1] + (a[i - 1] != b[j - 1]);

		row[j] = MIN(changed, MIN(above[j], row[j - 1]) + 1);
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			row[j] = MIN(row[j], before[j - 2] + 1);
	}
}

size_t suggest_distance(const char *a, const char *b)
{
	size_t m = strnlen(a, WORD_MAX), n = strnlen(b, WORD_MAX);
	size_t rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= m; i++)
		next_row(a, b, n, i, rows);
	return rows[m % 3][n];
}

/* Every third letter may be wrong; of two letters none, as any word of two would do. */
static const char *find_nearest(const char *word, const char *const *names)
{
	size_t best = strnlen(word, WORD_MAX) / 3 + 1;
	const char *nearest = NULL;

	for (; *names; names++) {
		size_t distance = suggest_distance(word, *names);

		if (distance < best) {
			best = distance;
			nearest = *names;
		}
	}
	return nearest;
}

/* The only one that begins so. */
static const char *find_longer(const char *word, const char *const *names)
{
	const char *longer = NULL;
	size_t n = strlen(word);

	for (; n >= 2 && *names; names++) {
		if (strncmp(word, *names, n))
			continue;
		if (longer)
			return NULL;
		longer = *names;
	}
	return longer;
}

const char *suggest(const char *word, const char *const *names)
{
	if (!names)
		return NULL;
	return find_nearest(word, names) ?: find_longer(word, names);
}
