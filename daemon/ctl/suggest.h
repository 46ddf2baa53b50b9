/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What was probably meant by a word that nobody knows. */

#include <stddef.h>

/* How many letters have to be put in, left out, changed or swapped with their neighbour to make one
 * of the other. Words are taken as 64 bytes at most. */
size_t suggest_distance(const char *a, const char *b);
/* The nearest of the names, or the only one that begins so; NULL: none is near enough to be a slip
 * of the fingers. names: a vector that NULL ends, or NULL. */
const char *suggest(const char *word, const char *const *names);
