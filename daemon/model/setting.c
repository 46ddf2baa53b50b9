/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/setting.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

static const char *const condition_names[_CONDITION_MAX] = {
	[CONDITION_ACTIVE] = "active",       [CONDITION_IDLE_A] = "idle_a",
	[CONDITION_IDLE_B] = "idle_b",       [CONDITION_IDLE_C] = "idle_c",
	[CONDITION_STANDBY_Y] = "standby_y", [CONDITION_STANDBY_Z] = "standby_z",
};

static const struct {
	Mechanism mechanism;
	const char *name;
	Exactness exactness;
} mechanisms[] = {
	{ MECHANISM_POWER_STATE, "power-state", EXACT },
	{ MECHANISM_POWER_LIMIT, "power-limit", EXACT },
	/* any IO wakes the disk */
	{ MECHANISM_CONDITION, "condition", ADVISORY },
	{ MECHANISM_LINK, "link", ADVISORY },
	{ MECHANISM_DEPTH, "depth", EXACT },
	{ MECHANISM_CHUNK, "chunk", EXACT },
	{ MECHANISM_PACING, "pacing", MEAN },
	{ MECHANISM_REDIRECT, "redirect", EXACT }, /* no watts hang on it */
};

const char *condition_name(Condition c)
{
	return (unsigned)c < _CONDITION_MAX ? condition_names[c] : "unknown";
}

int condition_from_name(const char *name)
{
	for (int c = 0; c < _CONDITION_MAX; c++)
		if (streq(name, condition_names[c]))
			return c;
	return -EINVAL;
}

const char *mechanism_name(Mechanism m)
{
	for (size_t i = 0; i < ELEMENTSOF(mechanisms); i++)
		if (mechanisms[i].mechanism == m)
			return mechanisms[i].name;
	return "unknown";
}

int mechanism_from_name(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(mechanisms); i++)
		if (streq(name, mechanisms[i].name))
			return mechanisms[i].mechanism;
	return -EINVAL;
}

int mechanisms_from_list(const char *list, unsigned *ret_mechanisms)
{
	_cleanup_(strv_freep) char **names = strv_split(list);
	unsigned set = 0;

	if (!names)
		return -ENOMEM;
	for (char **n = names; *n; n++) {
		int m = mechanism_from_name(*n);

		if (m < 0)
			return m;
		set |= (unsigned)m;
	}
	*ret_mechanisms = set;
	return 0;
}

const char *exactness_name(Exactness e)
{
	static const char *const names[] = { "exact", "mean", "advisory" };

	return (unsigned)e < ELEMENTSOF(names) ? names[e] : "unknown";
}

unsigned setting_mechanisms(const Setting *s)
{
	unsigned set = 0;

	if (s->power_state >= 0)
		set |= MECHANISM_POWER_STATE;
	if (s->limit_w > 0)
		set |= MECHANISM_POWER_LIMIT;
	if (s->condition != CONDITION_ACTIVE)
		set |= MECHANISM_CONDITION;
	if (s->link != LINK_AS_FOUND || s->idle_latency_us > 0)
		set |= MECHANISM_LINK;
	if (s->depth > 0)
		set |= MECHANISM_DEPTH;
	if (s->chunk_kib > 0)
		set |= MECHANISM_CHUNK;
	if (s->pace_w > 0)
		set |= MECHANISM_PACING;
	if (s->redirect != REDIRECT_AS_FOUND)
		set |= MECHANISM_REDIRECT;
	return set;
}

void setting_take(Setting *to, const Setting *from, Mechanism m)
{
	switch (m) {
	case MECHANISM_POWER_STATE: to->power_state = from->power_state; break;
	case MECHANISM_POWER_LIMIT: to->limit_w = from->limit_w; break;
	case MECHANISM_CONDITION: to->condition = from->condition; break;
	case MECHANISM_LINK:
		to->link = from->link;
		to->idle_latency_us = from->idle_latency_us;
		break;
	case MECHANISM_DEPTH: to->depth = from->depth; break;
	case MECHANISM_CHUNK: to->chunk_kib = from->chunk_kib; break;
	case MECHANISM_PACING: to->pace_w = from->pace_w; break;
	case MECHANISM_REDIRECT: to->redirect = from->redirect; break;
	case MECHANISM_ALL: *to = *from; break;
	}
}

bool setting_equal(const Setting *a, const Setting *b)
{
	return a->power_state == b->power_state && a->limit_w == b->limit_w &&
	       a->condition == b->condition && a->link == b->link &&
	       a->idle_latency_us == b->idle_latency_us && a->depth == b->depth &&
	       a->chunk_kib == b->chunk_kib && a->pace_w == b->pace_w && a->redirect == b->redirect;
}

bool offer_equal(const Offer *a, const Offer *b)
{
	return a->mechanisms == b->mechanisms && a->power_states == b->power_states &&
	       a->conditions == b->conditions && a->depth_one == b->depth_one &&
	       a->depth_min == b->depth_min && a->depth_max == b->depth_max &&
	       a->chunk_min_kib == b->chunk_min_kib && a->chunk_max_kib == b->chunk_max_kib &&
	       a->pace_min_w == b->pace_min_w && a->limit_min_w == b->limit_min_w &&
	       a->limit_max_w == b->limit_max_w && a->redirects_writes == b->redirects_writes &&
	       a->redirects_reads == b->redirects_reads;
}

Exactness setting_exactness(const Setting *s)
{
	Setting saving = *s;
	Exactness worst = EXACT;
	unsigned used;

	saving.idle_latency_us = 0; /* no watts hang on it */
	used = setting_mechanisms(&saving);
	for (size_t i = 0; i < ELEMENTSOF(mechanisms); i++)
		if (used & mechanisms[i].mechanism)
			worst = MAX(worst, mechanisms[i].exactness);
	return worst;
}

static _printf_(4, 5) void append(char *buf, size_t size, size_t *at, const char *format, ...)
{
	va_list ap;
	int n;

	if (*at && *at < size)
		*at += (size_t)snprintf(buf + *at, size - *at, ", ");
	if (*at >= size)
		return;
	va_start(ap, format);
	n = vsnprintf(buf + *at, size - *at, format, ap);
	va_end(ap);
	*at += n > 0 ? (size_t)n : 0;
}

char *setting_text(char *buf, size_t size, const Setting *s)
{
	char watts[32];
	size_t at = 0;

	if (s->power_state >= 0)
		append(buf, size, &at, "power state %d", s->power_state);
	if (s->limit_w > 0)
		append(buf, size, &at, "limited to %s",
		       format_watts(watts, sizeof(watts), s->limit_w));
	if (s->condition != CONDITION_ACTIVE)
		append(buf, size, &at, "%s", condition_name(s->condition));
	if (s->link != LINK_AS_FOUND)
		append(buf, size, &at, "link power saving");
	if (s->idle_latency_us > 0)
		append(buf, size, &at, "wakes from idle within %g ms", s->idle_latency_us / 1e3);
	if (s->depth > 0)
		append(buf, size, &at, "depth %u", s->depth);
	if (s->chunk_kib > 0)
		append(buf, size, &at, "chunk %u KiB", s->chunk_kib);
	if (s->pace_w > 0)
		append(buf, size, &at, "IO held to %s above idle",
		       format_watts(watts, sizeof(watts), s->pace_w));
	if (s->redirect != REDIRECT_AS_FOUND)
		append(buf, size, &at,
		       s->redirect == REDIRECT_HOLD ? "IO kept off it"
						    : "what is held above it drains");
	if (at == 0)
		append(buf, size, &at, "as found");
	return buf;
}
