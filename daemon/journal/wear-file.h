/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The wear accounts of all disks and the file that keeps them. */

#include "budget/wear.h"

/* All disks' accounts, by id; a disk that is away keeps its own. */
typedef struct WearBook WearBook;
/* The account of that id, made full by the terms when it is new; NULL when out of memory. Valid
 * until the book is freed. */
WearAccount *wear_book_get(WearBook *b, const char *id, const WearTerms *t, uint64_t realtime_us);
WearBook *wear_book_free(WearBook *b); /* returns NULL */
DEFINE_CLEANUP(WearBook *, wear_book_free);
/* path NULL: the book is in memory alone. An absent file is an empty book. A damaged line is logged
 * with file:line and left out, and the file as found is kept as PATH.damaged. -EPROTONOSUPPORT:
 * another version wrote it (the caller moves it aside). */
int wear_book_load(const char *path, WearBook **ret);
/* Writes the file atomically and syncs it. Call it before a disk is sent to sleep, so that a crash
 * never loses a charge. path NULL: there is nothing to do. */
int wear_book_save(const WearBook *b, const char *path);
