/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What devices were measured to draw at most in operation where that is above what their profiles
 * know. A percentage is of it: without a memory, a restart would lower the watts that 80 % are. */

#include "base/cleanup.h"

typedef struct OperatingBook OperatingBook;

/* path NULL: kept in memory alone. An absent file is an empty book; a damaged line is logged with
 * file:line and left out, and the file as found is kept as PATH.damaged. -EPROTONOSUPPORT: another
 * version wrote the file, which is left alone; -EIO, -EACCES, -ENOMEM. */
int operating_book_open(const char *path, OperatingBook **ret);
OperatingBook *operating_book_free(OperatingBook *b); /* returns NULL */
DEFINE_CLEANUP(OperatingBook *, operating_book_free);

double operating_book_get(const OperatingBook *b, const char *id); /* 0: nothing is known */
/* Notes it and writes the file atomically before it returns; where writing fails it holds for this
 * run all the same. */
int operating_book_set(OperatingBook *b, const char *id, double watts);
