/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Has held what is wanted by the wall clock: it looks when something changes, and when the clock is
 * set. */

#include <time.h>

#include "signal/signal.h"

typedef struct Follow Follow;

/* What is wanted now, and when to look again. */
typedef int (*FollowWant)(void *userdata, time_t now, Wishes *ret, time_t *ret_again);

/* Looks at once. */
int follow_new(const SignalHost *host, FollowWant want, void *userdata, Follow **ret);
Follow *follow_free(Follow *f); /* returns NULL */
DEFINE_CLEANUP(Follow *, follow_free);

/* Something else than the clock has changed. */
void follow_look(Follow *f);
