/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/power-config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/keys.h"

const char *feed_kind_name(FeedKind k)
{
	static const char *const names[] = { "ups", "supply", "alarm" };

	return names[k];
}

void feed_done(Feed *f)
{
	free(f->name);
	strv_free(f->rails);
	free(f->chip);
	strv_free(f->alarms);
}

PowerConfig *power_config_free(PowerConfig *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n_feeds; i++)
		feed_done(&c->feeds[i]);
	for (size_t i = 0; i < c->n_rails; i++) {
		free(c->rails[i].name);
		free(c->rails[i].group);
		strv_free(c->rails[i].devices);
	}
	free(c->feeds);
	free(c->rails);
	free(c);
	return NULL;
}

const Rail *power_config_rail(const PowerConfig *c, const char *name)
{
	for (size_t i = 0; i < c->n_rails; i++)
		if (streq(c->rails[i].name, name))
			return &c->rails[i];
	return NULL;
}

static int take_limit(const IniLine *l, void *feed)
{
	Feed *f = feed;
	int r = parse_limit(l->value, &f->limit, &f->unit);

	f->limited |= r >= 0;
	return r;
}

static int take_words(const IniLine *l, void *member)
{
	char **words = strv_split(l->value), ***list = member;

	if (!words)
		return -ENOMEM;
	if (!*words) {
		strv_free(words);
		return -EINVAL;
	}
	strv_free(*list);
	*list = words;
	return 0;
}

/* A claim's reason, which has 256 bytes at most, names a feed, how it fails, and its rail. */
#define FEED_NAME_MAX 64
#define RAIL_NAME_MAX 32

/* A part of a path below /sys, which must not lead out of it. */
static bool is_part(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/') && strlen(s) <= FEED_NAME_MAX;
}

#define LIMIT_EXPECTED "a limit such as 50% or 350W"

static const Key power_keys[] = {
	{ "back_for", KEY_DURATION, KEY_AT(PowerConfig, rules.back_us), .max = 86400e6 },
	{ "lost_after", KEY_DURATION, KEY_AT(PowerConfig, rules.lost_us), .min = 1e6,
	  .max = 86400e6 },
	{ "poll", KEY_DURATION, KEY_AT(PowerConfig, poll_us), .min = 1e5, .max = 60e6 },
};
static const Key feed_keys[] = {
	{ "limit", KEY_CUSTOM, .expected = LIMIT_EXPECTED, .take = take_limit },
	{ "rails", KEY_CUSTOM, KEY_AT(Feed, rails), .expected = "names of rails",
	  .take = take_words },
};
static const Key alarm_keys[] = {
	{ "limit", KEY_CUSTOM, .expected = LIMIT_EXPECTED, .take = take_limit },
	{ "rails", KEY_CUSTOM, KEY_AT(Feed, rails), .expected = "names of rails",
	  .take = take_words },
	{ "chip", KEY_TEXT, KEY_AT(Feed, chip), .expected = "a chip such as pmbus or pmbus@3-0058",
	  .is_valid = is_part },
	{ "alarms", KEY_CUSTOM, KEY_AT(Feed, alarms), .expected = "files such as in1_alarm",
	  .take = take_words },
};
static const Key rail_keys[] = {
	{ "group", KEY_TEXT_OR_NULL, KEY_AT(Rail, group) },
	{ "devices", KEY_CUSTOM, KEY_AT(Rail, devices), .expected = "names of devices",
	  .take = take_words },
};

static int open_feed(PowerConfig *c, FeedKind kind, const char *name, void **ret)
{
	Feed *f;

	for (size_t i = 0; i < c->n_feeds; i++)
		if (c->feeds[i].kind == kind && streq(c->feeds[i].name, name)) {
			*ret = &c->feeds[i];
			return 0;
		}
	f = ARRAY_GROW(c->feeds, c->n_feeds);
	if (!f)
		return -ENOMEM;
	f->kind = kind;
	f->name = strdup(name);
	*ret = f;
	return f->name ? 0 : -ENOMEM;
}

static int open_ups(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	NutAddress address;
	int r = nut_address_parse(rest, &address);

	if (r == -EINVAL)
		return ini_complain_of_heading(l,
					       "[%s]: expected UPS[@HOST[:PORT]], of which HOST is "
					       "localhost or an IP address",
					       l->section);
	if (r >= 0)
		r = open_feed(userdata, FEED_UPS, rest, ret);
	if (r >= 0)
		((Feed *)*ret)->address = address;
	return r;
}

static int open_supply(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l;
	return is_part(rest) ? open_feed(userdata, FEED_SUPPLY, rest, ret) : -ENOENT;
}

static int open_alarm(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	(void)l;
	return is_part(rest) ? open_feed(userdata, FEED_ALARM, rest, ret) : -ENOENT;
}

static int open_rail(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	PowerConfig *c = userdata;
	Rail *rail = (Rail *)power_config_rail(c, rest);

	(void)l;
	if (!*rest || strpbrk(rest, " ,") || strlen(rest) > RAIL_NAME_MAX)
		return -ENOENT;
	if (!rail) {
		rail = ARRAY_GROW(c->rails, c->n_rails);
		if (!rail || !(rail->name = strdup(rest)))
			return -ENOMEM;
	}
	*ret = rail;
	return 0;
}

static const KeySection sections[] = {
	{ "power", NULL, KEY_LIST(power_keys) },
	{ "ups", "NAME", KEY_LIST(feed_keys), .open = open_ups },
	{ "supply", "NAME", KEY_LIST(feed_keys), .open = open_supply },
	{ "alarm", "NAME", KEY_LIST(alarm_keys), .open = open_alarm },
	{ "rail", "NAME", KEY_LIST(rail_keys), .open = open_rail },
};

/* Returns how many. */
static size_t drop_incomplete(PowerConfig *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_feeds; i++) {
		if (feed_is_complete(c, &c->feeds[i]))
			continue;
		n++;
		feed_done(&c->feeds[i]);
		c->feeds[i--] = c->feeds[--c->n_feeds];
	}
	return n;
}

int power_config_read_text(const char *path, const char *text, PowerConfig **ret,
			   size_t *ret_warnings)
{
	_cleanup_(power_config_freep) PowerConfig *c = calloc(1, sizeof(*c));
	size_t warnings;
	int r;

	if (!c)
		return -ENOMEM;
	c->rules = (FeedRules){ .back_us = 30 * USEC_PER_SEC, .lost_us = 60 * USEC_PER_SEC };
	c->poll_us = 2 * USEC_PER_SEC;
	r = keys_read_text(sections, ELEMENTSOF(sections), path, text, c, &warnings);
	if (r < 0)
		return r;
	*ret_warnings = warnings + drop_incomplete(c);
	*ret = TAKE_PTR(c);
	return 0;
}

int power_config_read(const char *path, PowerConfig **ret, size_t *ret_warnings)
{
	_cleanup_free_ char *text = NULL;
	int r = ini_load(path, &text);

	return r < 0 ? r : power_config_read_text(path, text, ret, ret_warnings);
}
