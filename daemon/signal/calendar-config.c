/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/keys.h"
#include "signal/calendar.h"

#define BLANKS " \t"

static void section_done(CalendarSection *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->windows[i].words);
		free(s->windows[i].key);
	}
	free(s->windows);
	free(s->target.device);
	free(s->target.group);
}

Calendar *calendar_free(Calendar *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n; i++)
		section_done(&c->sections[i]);
	free(c->sections);
	free(c);
	return NULL;
}

/* The last word, with its unit where that stands by itself: "Sat,Sun 70%", "Sat,Sun 350 W". */
static const char *find_limit(const char *value)
{
	const char *last = value + strlen(value), *word;

	do {
		while (last > value && strchr(BLANKS, last[-1]))
			last--;
		word = last;
		while (word > value && !strchr(BLANKS, word[-1]))
			word--;
		last = word;
	} while (limit_is_unit(word) && word > value);
	return word;
}

/* One line is known from another of the same section by what it says. */
static int fill(const IniLine *l, size_t span_length, Window *w)
{
	w->words = strndup(l->value, span_length);
	w->key = strdup(l->value);
	return w->words && w->key ? 0 : -ENOMEM;
}

static int add_window(const IniLine *l, CalendarSection *s, const Window *like, size_t span_length)
{
	Window *w;

	for (size_t i = 0; i < s->n; i++)
		if (streq(s->windows[i].key, l->value))
			return ini_complain(l, "%s: \"%s\" is there already: remove one", l->key,
					    l->value);
	w = ARRAY_GROW(s->windows, s->n);
	if (!w)
		return -ENOMEM;
	*w = *like;
	return fill(l, span_length, w);
}

static int take_limit(const IniLine *l, void *section)
{
	const char *limit = find_limit(l->value), *why;
	size_t n = (size_t)(limit - l->value);
	_cleanup_free_ char *words = NULL;
	Window w = { 0 };
	int r;

	while (n && strchr(BLANKS, l->value[n - 1]))
		n--;
	words = strndup(l->value, n);
	if (!words)
		return -ENOMEM;
	if (parse_limit(limit, &w.limit, &w.unit) < 0)
		return ini_complain(
			l,
			"%s: expected a span and a limit, such as \"Mon..Fri "
			"07:00..19:00 70%%\" or \"Sat,Sun 350W\", but \"%s\" is no limit",
			l->key, limit);
	r = span_parse(words, &w.span, &why);
	if (r == -EINVAL)
		return ini_complain(l, "%s: \"%s\" is no span: %s", l->key, words, why);
	return r < 0 ? r : add_window(l, section, &w, n);
}

static const Key section_keys[] = {
	{ "limit", KEY_CUSTOM, .many = true, .take = take_limit },
};

static bool is_target(const WishTarget *t, const char *device, const char *group)
{
	return streq(t->device ?: "", device ?: "") && streq(t->group ?: "", group ?: "");
}

static int open_target(Calendar *c, const char *device, const char *group, void **ret)
{
	CalendarSection *s;

	for (size_t i = 0; i < c->n; i++)
		if (is_target(&c->sections[i].target, device, group)) {
			*ret = &c->sections[i];
			return 0;
		}
	s = ARRAY_GROW(c->sections, c->n);
	if (!s)
		return -ENOMEM;
	s->target.device = device ? strdup(device) : NULL;
	s->target.group = group ? strdup(group) : NULL;
	*ret = s;
	return (device && !s->target.device) || (group && !s->target.group) ? -ENOMEM : 0;
}

static int open_node(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l, (void)rest;
	return open_target(userdata, NULL, NULL, ret);
}

static int open_group(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l;
	return *rest ? open_target(userdata, NULL, rest, ret) : -ENOENT;
}

static int open_device(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l;
	return *rest ? open_target(userdata, rest, NULL, ret) : -ENOENT;
}

static const KeySection sections[] = {
	{ "node", NULL, KEY_LIST(section_keys), .open = open_node },
	{ "group", "NAME", KEY_LIST(section_keys), .open = open_group },
	{ "device", "NAME", KEY_LIST(section_keys), .open = open_device },
};

int calendar_read_text(const char *path, const char *text, Calendar **ret, size_t *ret_warnings)
{
	_cleanup_(calendar_freep) Calendar *c = calloc(1, sizeof(*c));
	int r = c ? keys_read_text(sections, ELEMENTSOF(sections), path, text, c, ret_warnings)
		  : -ENOMEM;

	if (r >= 0)
		*ret = TAKE_PTR(c);
	return r;
}

int calendar_read(const char *path, Calendar **ret, size_t *ret_warnings)
{
	_cleanup_free_ char *text = NULL;
	int r = ini_load(path, &text);

	return r < 0 ? r : calendar_read_text(path, text, ret, ret_warnings);
}
