/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/keys.h"
#include "base/log.h"
#include "signal/series.h"

#define LEAST_PRICE -1e5

static void series_done(Series *s)
{
	free(s->file);
	free(s->unit);
	for (size_t i = 0; i < s->n; i++)
		free(s->thresholds[i].words);
	free(s->thresholds);
	intensity_done(&s->figures);
}

SeriesConfig *series_config_free(SeriesConfig *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < _SERIES_MAX; i++)
		series_done(&c->of[i]);
	free(c);
	return NULL;
}

static SeriesConfig *series_config_new(void)
{
	_cleanup_(series_config_freep) SeriesConfig *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->of[SERIES_CARBON] = (Series){ .name = "carbon", .told = NAN, .unit = strdup("g/kWh") };
	c->of[SERIES_PRICE] =
		(Series){ .name = "price", .least = LEAST_PRICE, .told = NAN, .unit = strdup("") };
	return c->of[SERIES_CARBON].unit && c->of[SERIES_PRICE].unit ? TAKE_PTR(c) : NULL;
}

/* "above 400 until 350 70%"; the limit may have a blank before its unit. */
static int parse_threshold(char *const *words, Threshold *t)
{
	size_t n = strv_length(words), at = 2;
	_cleanup_free_ char *limit = NULL;

	if (n < 3 || !streq(words[0], "above") || parse_double(words[1], &t->above) < 0)
		return -EINVAL;
	t->until = t->above;
	if (streq(words[2], "until")) {
		if (n < 5 || parse_double(words[3], &t->until) < 0 || t->until > t->above)
			return -EINVAL;
		at = 4;
	}
	if (n > at + 2)
		return -EINVAL;
	limit = text_printf("%s%s", words[at], words[at + 1] ?: "");
	return limit ? parse_limit(limit, &t->limit, &t->unit) : -ENOMEM;
}

static int take_limit(const IniLine *l, void *series)
{
	_cleanup_(strv_freep) char **words = strv_split(l->value);
	Series *s = series;
	Threshold t = { 0 }, *place;
	int r = words ? parse_threshold(words, &t) : -ENOMEM;

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++)
		if (streq(s->thresholds[i].words, l->value))
			return -EINVAL;
	t.words = strdup(l->value);
	place = t.words ? ARRAY_GROW(s->thresholds, s->n) : NULL;
	if (!place) {
		free(t.words);
		return -ENOMEM;
	}
	*place = t;
	return 0;
}

static int kind_from_name(const char *name)
{
	if (streq(name, "average"))
		return CARBON_AVERAGE;
	return streq(name, "marginal") ? CARBON_MARGINAL : -EINVAL;
}

static int from_from_name(const char *name)
{
	if (streq(name, "file"))
		return FROM_FILE;
	return streq(name, "storpowerd") ? FROM_DAEMON : -EINVAL;
}

static bool is_path(const char *s)
{
	return *s == '/';
}

static bool is_short(const char *s)
{
	return strlen(s) <= 16;
}

#define LIMIT_EXPECTED "\"above 400 until 350 70%\" or \"above 400 350W\", each once"

static const Key carbon_keys[] = {
	{ "from", KEY_NAME, KEY_AT(Series, from), .expected = "file or storpowerd",
	  .from_name = from_from_name },
	{ "file", KEY_TEXT, KEY_AT(Series, file), .expected = "an absolute path",
	  .is_valid = is_path },
	{ "kind", KEY_NAME, KEY_AT(Series, kind), .expected = "average or marginal",
	  .from_name = kind_from_name },
	{ "limit", KEY_CUSTOM, .many = true, .expected = LIMIT_EXPECTED, .take = take_limit },
};
static const Key price_keys[] = {
	{ "from", KEY_NAME, KEY_AT(Series, from), .expected = "file or storpowerd",
	  .from_name = from_from_name },
	{ "file", KEY_TEXT, KEY_AT(Series, file), .expected = "an absolute path",
	  .is_valid = is_path },
	{ "unit", KEY_TEXT, KEY_AT(Series, unit), .expected = "a unit such as EUR/MWh",
	  .is_valid = is_short },
	{ "limit", KEY_CUSTOM, .many = true, .expected = LIMIT_EXPECTED, .take = take_limit },
};

static int open_carbon(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l, (void)rest;
	*ret = &((SeriesConfig *)userdata)->of[SERIES_CARBON];
	return 0;
}

static int open_price(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l, (void)rest;
	*ret = &((SeriesConfig *)userdata)->of[SERIES_PRICE];
	return 0;
}

static const KeySection sections[] = {
	{ "carbon", NULL, KEY_LIST(carbon_keys), .open = open_carbon },
	{ "price", NULL, KEY_LIST(price_keys), .open = open_price },
};

static size_t complain_of_source(const Series *s)
{
	bool file = s->from == FROM_FILE;

	if (file ? !s->n || s->file : !s->file)
		return 0;
	log_warning(file ? "[%s]: file= is missing: its limits never hold"
			 : "[%s]: file= is not read with from=storpowerd",
		    s->name);
	return 1;
}

static size_t complain_of_sources(const SeriesConfig *c)
{
	size_t n = 0;

	for (size_t i = 0; i < _SERIES_MAX; i++)
		n += complain_of_source(&c->of[i]);
	return n;
}

int series_config_read_text(const char *path, const char *text, SeriesConfig **ret,
			    size_t *ret_warnings)
{
	_cleanup_(series_config_freep) SeriesConfig *c = series_config_new();
	size_t warnings;
	int r = c ? keys_read_text(sections, ELEMENTSOF(sections), path, text, c, &warnings)
		  : -ENOMEM;

	if (r < 0)
		return r;
	*ret_warnings = warnings + complain_of_sources(c);
	*ret = TAKE_PTR(c);
	return 0;
}

int series_config_read(const char *path, SeriesConfig **ret, size_t *ret_warnings)
{
	_cleanup_free_ char *text = NULL;
	int r = ini_load(path, &text);

	return r < 0 ? r : series_config_read_text(path, text, ret, ret_warnings);
}
