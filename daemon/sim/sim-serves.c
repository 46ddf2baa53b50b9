/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-serves.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define LEAST_SHARE 0.001
#define DEPTH_MOST  65536
#define CHUNK_MOST  65536 /* KiB */

static int take_limit(const char *text, unsigned long most, unsigned *ret)
{
	unsigned long v;
	int r = parse_unsigned(text, most, &v);

	if (r >= 0 && !v)
		r = -ERANGE;
	if (r >= 0)
		*ret = (unsigned)v;
	return r;
}

/* "4K" is 4 KiB, and none is smaller. */
static int take_chunk(char *text, unsigned *ret)
{
	size_t n = strlen(text);

	if (n < 2 || (text[n - 1] != 'K' && text[n - 1] != 'k'))
		return -EINVAL;
	text[n - 1] = '\0';
	return take_limit(text, CHUNK_MOST, ret);
}

static int take_where(char *list, SimServes *v)
{
	char *rest = list, *word;
	int r = -EINVAL;

	while ((word = strsep(&rest, ","))) {
		if (!strncmp(word, "depth<=", 7) && !v->depth)
			r = take_limit(word + 7, DEPTH_MOST, &v->depth);
		else if (!strncmp(word, "chunk<=", 7) && !v->chunk_kib)
			r = take_chunk(word + 7, &v->chunk_kib);
		else
			r = -EINVAL;
		if (r < 0)
			return r;
	}
	return r;
}

int sim_take_serves(const IniLine *l, void *member)
{
	_cleanup_free_ char *where = strdup(l->value);
	char *share = where ? strrchr(where, ' ') : NULL;
	SimServes v = {};
	const char *unit;
	int r;

	if (!where)
		return -ENOMEM;
	if (!share)
		return -EINVAL;
	*share++ = '\0';
	r = parse_quantity(share, &v.share, &unit);
	if (r < 0)
		return r;
	if (!streq(unit, "%"))
		return -EINVAL;
	v.share /= 100;
	if (v.share < LEAST_SHARE || v.share > 1)
		return -ERANGE;
	r = take_where(where, &v);
	if (r >= 0)
		*(SimServes *)member = v;
	return r;
}

double sim_serves_share(const SimServes *v, const Setting *s)
{
	if (!v->share || (v->depth && (!s->depth || s->depth > v->depth)) ||
	    (v->chunk_kib && (!s->chunk_kib || s->chunk_kib > v->chunk_kib)))
		return 1;
	return v->share;
}
