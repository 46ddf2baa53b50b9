/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/wish.h"

#include <errno.h>
#include <string.h>

void wish_done(Wish *w)
{
	free(w->key);
	free(w->target.device);
	free(w->target.group);
	free(w->reason);
	*w = (Wish){ 0 };
}

static bool copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return *ret || !text;
}

int wish_copy(const Wish *w, Wish *ret)
{
	Wish copy = { .limit = w->limit, .unit = w->unit, .class = w->class };

	if (!copy_text(w->key, &copy.key) || !copy_text(w->target.device, &copy.target.device) ||
	    !copy_text(w->target.group, &copy.target.group) ||
	    !copy_text(w->reason, &copy.reason)) {
		wish_done(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

bool wish_is_same(const Wish *a, const Wish *b)
{
	return streq(a->key, b->key) && same_text(a->target.device, b->target.device) &&
	       same_text(a->target.group, b->target.group);
}

bool wish_is_equal(const Wish *a, const Wish *b)
{
	return a->limit == b->limit && a->unit == b->unit && streq(a->class, b->class) &&
	       streq(a->reason, b->reason);
}

const char *wish_target_words(const Wish *w, char *buf, size_t size)
{
	const WishTarget *t = &w->target;

	snprintf(buf, size, "%s%s", t->device ? "device " : t->group ? "group " : "node",
		 t->device ?: t->group ?: "");
	return buf;
}

void wishes_done(Wishes *w)
{
	for (size_t i = 0; i < w->n; i++)
		wish_done(&w->list[i]);
	free(w->list);
	*w = (Wishes){ 0 };
}

int wishes_add(Wishes *w, Wish *wish)
{
	Wish *place = ARRAY_GROW(w->list, w->n);

	if (!place) {
		wish_done(wish);
		return -ENOMEM;
	}
	*place = *wish;
	*wish = (Wish){ 0 };
	return 0;
}
