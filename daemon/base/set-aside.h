/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A state file that cannot be used as it is: storpower goes on without it, but nothing is lost. */

#include <stddef.h>

/* Moves the file to PATH.damaged and says so. going_on: what storpower does without it, for the
 * log. */
int set_aside(const char *path, const char *going_on);
/* Keeps the n bytes that were found in the file as PATH.damaged and says so; the file stays. */
int set_aside_copy(const char *path, const char *found, size_t n);
