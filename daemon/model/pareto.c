/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/pareto.h"

#include <string.h>

/* Watts and MB/s that differ by less than this share are equal: the difference is rounding, not
 * gain. */
#define SAME 1e-9

/* Pieces of a segment that are narrower than this are rounding, too. */
#define NARROW_W 1e-6

static bool no_more(double a, double b)
{
	return a <= b + SAME * b;
}

static int count_mechanisms(const Candidate *c)
{
	return __builtin_popcount(setting_mechanisms(&c->setting));
}

static void remove_range(Pareto *p, size_t from, size_t to)
{
	memmove(&p->c[from], &p->c[to], (p->n - to) * sizeof(*p->c));
	p->n -= to - from;
}

static void insert(Pareto *p, size_t at, const Candidate *c)
{
	memmove(&p->c[at + 1], &p->c[at], (p->n - at) * sizeof(*p->c));
	p->c[at] = *c;
	p->n++;
}

/* The first that can draw more than `cap_w`. */
static size_t upper_bound(const Pareto *p, double cap_w)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (no_more(p->c[mid].cap_w, cap_w))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void pareto_add(Pareto *p, const Candidate *c)
{
	size_t at = upper_bound(p, c->cap_w), end;

	if (at > 0 && no_more(c->mb_s, p->c[at - 1].mb_s)) {
		Candidate *better = &p->c[at - 1];

		if (no_more(c->cap_w, better->cap_w) && no_more(better->mb_s, c->mb_s) &&
		    count_mechanisms(c) < count_mechanisms(better))
			*better = *c;
		return;
	}
	if (at > 0 && no_more(c->cap_w, p->c[at - 1].cap_w))
		at--;
	for (end = at; end < p->n && no_more(p->c[end].mb_s, c->mb_s); end++)
		;
	remove_range(p, at, end);
	if (p->n == PARETO_MAX)
		pareto_thin(p, PARETO_MAX - 1);
	insert(p, upper_bound(p, c->cap_w), c);
}

/* The segment as a line. */
static double line_mb_s(const Candidate *s, double watts)
{
	return s->mb_s + (watts - s->cap_w) * (s->mb_s_hi - s->mb_s) / (s->cap_hi_w - s->cap_w);
}

static double line_watts(const Candidate *s, double mb_s)
{
	return s->cap_w + (mb_s - s->mb_s) * (s->cap_hi_w - s->cap_w) / (s->mb_s_hi - s->mb_s);
}

typedef struct Cutter {
	const Candidate *segment;
	const Profile *profile;
	const Mix *mix;
	Pareto *out;
	double from_w; /* the segment is dealt with up to here */
} Cutter;

static void emit_piece(Cutter *k, double to_w)
{
	Candidate piece;

	if (to_w - k->from_w < NARROW_W || k->out->n == PARETO_MAX)
		return;
	candidate_at(k->profile, k->mix, k->segment, k->from_w, &piece);
	piece.paced = true;
	piece.cap_hi_w = to_w;
	piece.mb_s_hi = line_mb_s(k->segment, to_w);
	insert(k->out, k->out->n, &piece);
}

static void pass_point(Cutter *k, const Candidate *point)
{
	const Candidate *s = k->segment;
	double as_good_w = line_watts(s, point->mb_s); /* here the segment gives as much */

	if (point->cap_w >= s->cap_w && as_good_w <= MIN(point->cap_w, s->cap_hi_w))
		return;
	emit_piece(k, MIN(point->cap_w, s->cap_hi_w));
	k->from_w = MAX(k->from_w, MIN(as_good_w, s->cap_hi_w));
	if (k->out->n < PARETO_MAX)
		insert(k->out, k->out->n, point);
}

void pareto_add_segment(Pareto *p, const Candidate *segment, const Profile *profile, const Mix *mix)
{
	Pareto out = {};
	Cutter k = { segment, profile, mix, &out, segment->cap_w };

	for (size_t i = 0; i < p->n; i++)
		pass_point(&k, &p->c[i]);
	emit_piece(&k, segment->cap_hi_w);
	*p = out;
}

void pareto_thin(Pareto *p, size_t max)
{
	while (p->n > max) {
		size_t least = 1;

		for (size_t i = 2; i < p->n; i++)
			if (p->c[i].mb_s_hi - p->c[i - 1].mb_s_hi <
			    p->c[least].mb_s_hi - p->c[least - 1].mb_s_hi)
				least = i;
		remove_range(p, least, least + 1);
	}
}
