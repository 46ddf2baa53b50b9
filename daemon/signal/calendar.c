/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/calendar.h"

#include <errno.h>
#include <string.h>

#define LOOK_AGAIN_S 3600

static int add_wish(const CalendarSection *s, const Window *w, Wishes *wishes)
{
	const Wish like = { .key = w->key,
			    .target = s->target,
			    .limit = w->limit,
			    .unit = w->unit,
			    .class = "schedule",
			    .reason = w->words };
	Wish wish;

	if (wish_copy(&like, &wish) < 0)
		return -ENOMEM;
	return wishes_add(wishes, &wish);
}

static int add_section(const CalendarSection *s, time_t now, Wishes *wishes, time_t *look_again)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		time_t change;

		if (span_holds(&s->windows[i].span, now, &change))
			r = add_wish(s, &s->windows[i], wishes);
		*look_again = MIN(*look_again, change);
	}
	return r;
}

int calendar_wishes(const Calendar *c, time_t now, Wishes *ret, time_t *ret_look_again)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	int r = 0;

	*ret_look_again = now + LOOK_AGAIN_S;
	for (size_t i = 0; r >= 0 && i < c->n; i++)
		r = add_section(&c->sections[i], now, &wishes, ret_look_again);
	if (r < 0)
		return r;
	*ret = wishes;
	wishes = (Wishes){ 0 };
	return 0;
}
