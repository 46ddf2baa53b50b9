/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/series.h"

#include <errno.h>
#include <math.h>

#include "base/file.h"
#include "base/log.h"

#define LOOK_AGAIN_S 60

static void take_over(Series *s, const Series *before)
{
	s->told = before->told;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < before->n; k++)
			if (streq(s->thresholds[i].words, before->thresholds[k].words))
				s->thresholds[i].open = before->thresholds[k].open;
}

void series_take_over(SeriesConfig *c, const SeriesConfig *before)
{
	for (size_t i = 0; i < _SERIES_MAX; i++)
		take_over(&c->of[i], &before->of[i]);
}

static int read_figures(const Series *s, Intensity *ret, unsigned *ret_line)
{
	_cleanup_free_ char *text = NULL;
	int r = read_file(s->file, &text);

	*ret_line = 0;
	return r < 0 ? r : intensity_parse_from(text, s->least, ret, ret_line);
}

static void complain(Series *s, int r, unsigned line)
{
	if (s->unreadable)
		return;
	s->unreadable = true;
	if (line)
		log_warning("%s:%u: expected a time, later than that before, and a figure, such as "
			    "\"2026-11-24T10:00:00Z 381\": what was read before counts",
			    s->file, line);
	else
		log_warning_errno(r, "%s: cannot be read: what was read before counts", s->file);
}

static void load(Series *s)
{
	Intensity figures;
	unsigned line;
	int r = read_figures(s, &figures, &line);

	if (r < 0) {
		complain(s, r, line);
		return;
	}
	s->unreadable = false;
	intensity_done(&s->figures);
	s->figures = figures;
}

void series_load(SeriesConfig *c)
{
	for (size_t i = 0; i < _SERIES_MAX; i++)
		if (c->of[i].file && c->of[i].from == FROM_FILE)
			load(&c->of[i]);
}

void series_tell(SeriesConfig *c, double price, double g_kwh)
{
	c->of[SERIES_CARBON].told = g_kwh;
	c->of[SERIES_PRICE].told = price;
}

bool series_asks_daemon(const SeriesConfig *c)
{
	for (size_t i = 0; i < _SERIES_MAX; i++)
		if (c->of[i].from == FROM_DAEMON)
			return true;
	return false;
}

static char *describe(const Series *s, const Threshold *t, double figure)
{
	static const char *const kinds[] = { "average", "marginal" };
	bool carbon = streq(s->name, "carbon"), above = figure > t->above;

	return text_printf("%s%s%s %g%s%s, %s %g", carbon ? kinds[s->kind] : "", carbon ? " " : "",
			   carbon ? "carbon intensity" : "price", figure, *s->unit ? " " : "",
			   s->unit, above ? "above" : "not yet at", above ? t->above : t->until);
}

static int add_wish(const Series *s, const Threshold *t, double figure, Wishes *wishes)
{
	_cleanup_free_ char *reason = describe(s, t, figure);
	_cleanup_free_ char *key = text_printf("%s %s", s->name, t->words);
	const Wish like = {
		.key = key, .limit = t->limit, .unit = t->unit, .class = "signal", .reason = reason
	};
	Wish wish;

	if (!key || !reason || wish_copy(&like, &wish) < 0)
		return -ENOMEM;
	return wishes_add(wishes, &wish);
}

/* What nobody knows any more limits nothing. */
static int add_series(Series *s, time_t now, Wishes *wishes)
{
	double figure = s->from == FROM_DAEMON ? s->told : intensity_at(&s->figures, now);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n; i++) {
		Threshold *t = &s->thresholds[i];

		t->open = !isnan(figure) && figure > (t->open ? t->until : t->above);
		if (t->open)
			r = add_wish(s, t, figure, wishes);
	}
	return r;
}

static time_t next_figure(const Series *s, time_t now, time_t latest)
{
	for (size_t i = 0; i < s->figures.n; i++)
		if (s->figures.points[i].time_s > now)
			return MIN(latest, (time_t)s->figures.points[i].time_s);
	return latest;
}

int series_wishes(SeriesConfig *c, time_t now, Wishes *ret, time_t *ret_look_again)
{
	_cleanup_(wishes_done) Wishes wishes = { 0 };
	int r = 0;

	*ret_look_again = now + LOOK_AGAIN_S;
	for (size_t i = 0; r >= 0 && i < _SERIES_MAX; i++) {
		r = add_series(&c->of[i], now, &wishes);
		*ret_look_again = next_figure(&c->of[i], now, *ret_look_again);
	}
	if (r < 0)
		return r;
	*ret = wishes;
	wishes = (Wishes){ 0 };
	return 0;
}
