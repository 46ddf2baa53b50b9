/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A limit that a signal wants in force now. */

#include <stddef.h>

#include "base/cleanup.h"
#include "base/text.h"

typedef struct WishTarget {
	char *device, *group; /* NULL: not this; both NULL: the node */
} WishTarget;

typedef struct Wish {
	char *key; /* what it is about: a source has one wish of a key at a time */
	WishTarget target;
	double limit;
	LimitUnit unit;
	const char *class; /* of the claim: "schedule", "emergency", ...; not owned */
	char *reason;
} Wish;

void wish_done(Wish *w);
/* -ENOMEM. */
int wish_copy(const Wish *w, Wish *ret);
/* Of the same key on the same target, so that one claim can be changed into the other. */
bool wish_is_same(const Wish *a, const Wish *b);
/* Of the same limit, class and reason. */
bool wish_is_equal(const Wish *a, const Wish *b);
/* "node", "group rack1", "device sda", for messages. */
const char *wish_target_words(const Wish *w, char *buf, size_t size);

typedef struct Wishes {
	Wish *list;
	size_t n;
} Wishes;

void wishes_done(Wishes *w);
/* Takes what the wish owns, also when it fails. -ENOMEM. */
int wishes_add(Wishes *w, Wish *wish);
