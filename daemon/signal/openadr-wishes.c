/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-wishes.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"

static bool is_of(char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (streq(*names, name))
			return true;
	return false;
}

/* OpenADR 3.1 has names, which a VTN has looked at already before it lets a VEN see the event; 3.0
 * has types as well, and leaves it to the VEN. */
static bool is_our_target(const OpenadrConfig *c, const char *target)
{
	const char *value = strchr(target, '\n');

	if (!value)
		return !c->targets || is_of(c->targets, target) || streq(target, c->ven ?: "");
	value++;
	if (strncmp(target, "VEN_NAME\n", strlen("VEN_NAME\n")) == 0 && streq(value, c->ven ?: ""))
		return true;
	return is_of(c->targets, value);
}

bool openadr_is_ours(const OpenadrConfig *c, const OpenadrEvent *e)
{
	for (char *const *t = e->targets; t && *t; t++)
		if (is_our_target(c, *t))
			return true;
	return !e->targets || !*e->targets;
}

/* What one kind of payload says now, and who says it. */
typedef struct Said {
	const OpenadrEvent *by;
	double value; /* NaN: nothing */
} Said;

static bool is_stricter(OpenadrKind kind, double a, double b)
{
	return kind == OPENADR_SIMPLE ? a > b : a < b;
}

static bool counts_more(OpenadrKind kind, const OpenadrEvent *e, double value, const Said *than)
{
	if (!than->by)
		return true;
	if (e->priority != than->by->priority)
		return e->priority < than->by->priority;
	return is_stricter(kind, value, than->value);
}

static void hear(const OpenadrEvent *e, int64_t now_s, Said said[_OPENADR_KIND_MAX])
{
	OpenadrInterval i;

	if (!openadr_event_at(e, now_s, &i))
		return;
	for (int k = 0; k < _OPENADR_KIND_MAX; k++)
		if (!isnan(i.values[k]) && counts_more(k, e, i.values[k], &said[k]))
			said[k] = (Said){ e, i.values[k] };
}

static int add_wish(Wishes *wishes, const char *key, const OpenadrLevel *level,
		    const OpenadrEvent *e, const char *words)
{
	_cleanup_free_ char *reason =
		text_printf("OpenADR event %.64s: %s", *e->name ? e->name : e->id, words);
	const Wish like = { .key = (char *)key,
			    .limit = level->limit,
			    .unit = level->unit,
			    .class = level->class,
			    .reason = reason };
	Wish wish;

	if (reason)
		make_printable(reason);
	if (!reason || wish_copy(&like, &wish) < 0)
		return -ENOMEM;
	return wishes_add(wishes, &wish);
}

static int add_simple(const OpenadrConfig *c, const Said *s, Wishes *wishes)
{
	char words[32];
	int level = s->by ? (int)s->value : 0;

	if (level <= 0 || level >= OPENADR_LEVELS || !c->levels[level].given)
		return 0;
	snprintf(words, sizeof(words), "SIMPLE level %d", level);
	return add_wish(wishes, "simple", &c->levels[level], s->by, words);
}

static int add_watts(const OpenadrConfig *c, const char *key, const OpenadrEvent *by, double watts,
		     Wishes *wishes)
{
	const OpenadrLevel level = { .limit = MIN(watts * c->share, LIMIT_MAX_W),
				     .unit = LIMIT_WATTS,
				     .class = "signal" };
	char words[64], of[32] = "";

	if (c->share < 1)
		snprintf(of, sizeof(of), "%g %% of ", c->share * 100);
	snprintf(words, sizeof(words), "%san import %s of %g kW", of, key, watts / 1000);
	return add_wish(wishes, key, &level, by, words);
}

/* A reservation is on top of what is subscribed. */
static int add_capacity(const OpenadrConfig *c, const Said said[_OPENADR_KIND_MAX], Wishes *wishes)
{
	const Said *subscribed = &said[OPENADR_SUBSCRIBED], *reserved = &said[OPENADR_RESERVATION];
	double watts = subscribed->by ? subscribed->value : c->subscribed_w;

	if (!subscribed->by && !reserved->by)
		return 0;
	if (reserved->by)
		watts += reserved->value;
	return add_watts(c, "capacity", reserved->by ?: subscribed->by, watts, wishes);
}

int openadr_wishes(const OpenadrConfig *c, const OpenadrEvents *events, int64_t now_s, Wishes *ret,
		   int64_t *ret_change_s)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	Said said[_OPENADR_KIND_MAX] = { 0 };
	int r;

	*ret_change_s = OPENADR_NEVER;
	for (size_t i = 0; i < events->n; i++) {
		const OpenadrEvent *e = &events->list[i];

		if (!openadr_is_ours(c, e))
			continue;
		hear(e, now_s, said);
		*ret_change_s = MIN(*ret_change_s, openadr_event_changes(e, now_s));
	}
	r = add_simple(c, &said[OPENADR_SIMPLE], &wishes);
	if (r >= 0 && said[OPENADR_LIMIT].by)
		r = add_watts(c, "limit", said[OPENADR_LIMIT].by, said[OPENADR_LIMIT].value,
			      &wishes);
	if (r >= 0)
		r = add_capacity(c, said, &wishes);
	if (r < 0)
		return r;
	*ret = wishes;
	wishes = (Wishes){ 0 };
	return 0;
}
