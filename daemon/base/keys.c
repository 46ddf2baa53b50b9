/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/keys.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define LIST_SIZE 320 /* of what a complaint lists; ini_complain() takes 512 in all */

static int parse_whole(const char *value, double *ret)
{
	unsigned long v;
	int r = parse_unsigned(value, 1UL << 53, &v);

	if (r >= 0)
		*ret = (double)v;
	return r;
}

static int parse_limit_in(const char *value, LimitUnit wanted, double *ret)
{
	LimitUnit unit;
	double v;
	int r = parse_limit(value, &v, &unit);

	if (r >= 0 && unit != wanted)
		r = -EINVAL;
	if (r >= 0)
		*ret = v;
	return r;
}

static int parse_watts(const char *value, double *ret)
{
	return parse_limit_in(value, LIMIT_WATTS, ret);
}

static int parse_share(const char *value, double *ret)
{
	return parse_limit_in(value, LIMIT_PERCENT, ret);
}

static int parse_joules(const char *value, double *ret)
{
	static const struct {
		const char *name;
		double scale;
	} units[] = { { "uJ", 1e-6 }, { "mJ", 1e-3 }, { "J", 1 } };
	const char *unit;
	double v;
	int r = parse_quantity(value, &v, &unit);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ELEMENTSOF(units); i++)
		if (streq(unit, units[i].name)) {
			*ret = v * units[i].scale;
			return 0;
		}
	return -EINVAL;
}

/* parse_duration_us() knows no zero, which here means "at once". */
static int parse_us(const char *value, double *ret)
{
	uint64_t us = 0;
	int r = streq(value, "0") ? 0 : parse_duration_us(value, &us);

	if (r >= 0)
		*ret = (double)us;
	return r;
}

static int parse_size(const char *value, double *ret)
{
	uint64_t bytes;
	int r = parse_bytes(value, &bytes);

	if (r >= 0)
		*ret = (double)bytes;
	return r;
}

static const struct {
	const char *expected, *unit, *example, *wrong;
	double max, per;
	int (*parse)(const char *value, double *ret); /* into the type's unit; NULL: no number */
} types[] = {
	[KEY_NUMBER] = { "a number", "", "0.5", "not a number", 0, 1, parse_double },
	[KEY_UNSIGNED] = { "a whole number", "", "4", "not a whole number", 0, 1, parse_whole },
	[KEY_WATTS] = { "watts", "W", "40W or 350mW", "not watts", 0, 1, parse_watts },
	[KEY_JOULES] = { "joules", "J", "25mJ", "not joules", 0, 1, parse_joules },
	[KEY_SHARE] = { "a percentage", "%", "70%", "not a percentage", 100, 100, parse_share },
	[KEY_DURATION] = { "a time", NULL, "90s, 15min or 2h", "not a time", 0, 1, parse_us },
	[KEY_BYTES] = { "a size", NULL, "64K", "not a size", 0, 1, parse_size },
	[KEY_BOOL] = { "yes or no", .wrong = "neither yes nor no" },
	[KEY_TEXT] = { "text" },
	[KEY_TEXT_OR_NULL] = { "text" },
	[KEY_NAME] = { "a name" },
	[KEY_SET] = { "a list of names" },
	[KEY_CUSTOM] = { "another value" },
};

static double max_of(const Key *k)
{
	return k->max > 0 ? k->max : types[k->type].max;
}

static void store_number(const Key *k, double v, void *member)
{
	switch (k->member) {
	case MEMBER_DOUBLE: *(double *)member = v; break;
	case MEMBER_UINT32: *(uint32_t *)member = (uint32_t)v; break;
	case MEMBER_UINT64: *(uint64_t *)member = (uint64_t)v; break;
	case MEMBER_OTHER: break;
	}
}

static int take_number(const Key *k, const char *value, void *member)
{
	double v;
	int r = types[k->type].parse(value, &v);

	if (r < 0)
		return r;
	if (v < k->min || (max_of(k) > 0 && v > max_of(k)))
		return -ERANGE;
	store_number(k, v / (k->per > 0 ? k->per : types[k->type].per), member);
	return 0;
}

static int take_text(const Key *k, const char *value, char **member)
{
	char *copy = NULL;

	if (*value || k->type == KEY_TEXT) {
		if (k->is_valid && !k->is_valid(value))
			return -EINVAL;
		copy = strdup(value);
		if (!copy)
			return -ENOMEM;
	}
	free(*member);
	*member = copy;
	return 0;
}

static int take_name(const Key *k, const char *value, int *member)
{
	int v = k->from_name(value);

	if (v >= 0)
		*member = v;
	return MIN(v, 0);
}

static int take_value(const Key *k, const IniLine *l, void *member)
{
	switch (k->type) {
	case KEY_BOOL: return parse_bool(l->value, member);
	case KEY_TEXT:
	case KEY_TEXT_OR_NULL: return take_text(k, l->value, member);
	case KEY_NAME: return take_name(k, l->value, member);
	case KEY_SET: return k->from_list(l->value, member);
	case KEY_CUSTOM: return k->take(l, member);
	default: return take_number(k, l->value, member);
	}
}

static void bound_text(char *buf, size_t size, KeyType type, double v)
{
	const char *prefix = " KMGT";

	if (type == KEY_DURATION) {
		format_duration(buf, size, (uint64_t)v);
		return;
	}
	if (type != KEY_BYTES) {
		snprintf(buf, size, "%.10g%s", v, types[type].unit);
		return;
	}
	for (; prefix[1] && v >= 1024 && fmod(v, 1024) == 0; prefix++)
		v /= 1024;
	snprintf(buf, size, *prefix == ' ' ? "%g" : "%g%c", v, *prefix);
}

/* Says what would be right. A range shows the form of the value as well as an example does. */
static void describe(char *buf, size_t size, const Key *k)
{
	const char *example = types[k->type].example;
	char min[32], max[32];

	if (k->expected || !example) {
		snprintf(buf, size, "%s", k->expected ?: types[k->type].expected);
		return;
	}
	if (max_of(k) <= 0) {
		snprintf(buf, size, "%s such as %s", types[k->type].expected, example);
		return;
	}
	bound_text(min, sizeof(min), k->type, k->min);
	bound_text(max, sizeof(max), k->type, max_of(k));
	snprintf(buf, size, "%s from %s to %s", types[k->type].expected, min, max);
}

static int complain_of_value(const Key *k, const IniLine *l, int error)
{
	char right[LIST_SIZE];

	if (k->type == KEY_CUSTOM && !k->expected)
		return -EINVAL;
	describe(right, sizeof(right), k);
	return ini_complain(l, "%s: expected %s, but \"%s\" is %s%s", l->key, right, l->value,
			    types[k->type].wrong ?: "something else",
			    types[k->type].parse && error == -ERANGE ? " in range" : "");
}

static int apply(const Key *k, const IniLine *l, void *into)
{
	int r;

	if (l->key_before && !k->many)
		return ini_complain(l, "[%s] has \"%s\" already, in line %u: keep one of them",
				    l->section, l->key, l->key_before);
	r = take_value(k, l, (char *)into + k->offset);
	return r == -EINVAL || r == -ERANGE ? complain_of_value(k, l, r) : r;
}

static void add_to_list(char list[LIST_SIZE], const char *word)
{
	size_t n = strlen(list);

	snprintf(list + n, LIST_SIZE - n, "%s%s", n ? ", " : "", word);
}

static int complain_of_key(const KeySection *s, const IniLine *l)
{
	char known[LIST_SIZE] = "";

	for (size_t i = 0; i < s->n_keys; i++)
		add_to_list(known, s->keys[i].name);
	ini_complain(l, "unknown key \"%s\": [%s] has no key \"%s\", only: %s", l->key, l->section,
		     l->key, known);
	return -ENOENT;
}

static int complain_of_section(const KeySection *sections, size_t n, const IniLine *l)
{
	char known[LIST_SIZE] = "", word[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "[%s%s%s]", sections[i].name,
			 sections[i].named ? " " : "", sections[i].named ?: "");
		add_to_list(known, word);
	}
	if (*l->section || !l->key)
		ini_complain(l, "unknown section [%s]: expected %s", l->section, known);
	else
		ini_complain(l, "\"%s\" stands before any section: expected %s above it", l->key,
			     known);
	return -ENOENT;
}

static int complain_of_second(const IniLine *l)
{
	return ini_complain(l,
			    "a second [%s], the first is in line %u: write all its keys below one "
			    "of them",
			    l->section, l->section_before);
}

static const KeySection *section_of(const KeySection *sections, size_t n, const char *text,
				    const char **ret_rest)
{
	for (const KeySection *s = sections; s < sections + n; s++) {
		size_t length = strlen(s->name);

		if (strncmp(text, s->name, length) != 0 || text[length] != (s->named ? ' ' : '\0'))
			continue;
		*ret_rest = text + length + (s->named != NULL);
		return s;
	}
	return NULL;
}

static const Key *key_of(const Key *keys, size_t n, const char *name)
{
	for (const Key *k = keys; k < keys + n; k++)
		if (streq(k->name, name))
			return k;
	return NULL;
}

/* -ENOENT: there is no such section. */
static int open_section(const KeySection *s, const char *rest, const IniLine *l, void *userdata,
			void **ret_struct)
{
	if (s && s->open)
		return s->open(l, rest, userdata, ret_struct);
	*ret_struct = userdata;
	return s ? 0 : -ENOENT;
}

int keys_apply(const KeySection *sections, size_t n, const IniLine *l, void *userdata)
{
	const char *rest = "";
	const KeySection *s = section_of(sections, n, l->section, &rest);
	bool of_heading = l->key && l->section_line; /* that was complained of already */
	const Key *k;
	void *into;
	int r;

	if (s && !s->many && l->section_before)
		return of_heading ? 0 : complain_of_second(l);
	r = open_section(s, rest, l, userdata, &into);
	if (r == -ENOENT && !of_heading)
		return complain_of_section(sections, n, l);
	if (r < 0 || !l->key)
		return of_heading && r != -ENOMEM ? 0 : r;
	k = key_of(s->keys, s->n_keys, l->key);
	return k ? apply(k, l, into) : complain_of_key(s, l);
}

typedef struct Reader {
	const KeySection *sections;
	size_t n, warnings;
	void *userdata;
} Reader;

static int on_line(const IniLine *l, void *userdata)
{
	Reader *reader = userdata;
	int r = keys_apply(reader->sections, reader->n, l, reader->userdata);

	if (r == -EINVAL || r == -ENOENT)
		reader->warnings++;
	return r == -ENOMEM ? r : 0;
}

int keys_read_text(const KeySection *sections, size_t n, const char *path, const char *text,
		   void *userdata, size_t *ret_warnings)
{
	Reader reader = { .sections = sections, .n = n, .userdata = userdata };
	int r = ini_read_text(path, text, on_line, &reader);

	if (r < 0 && r != -EBADMSG)
		return r;
	*ret_warnings = reader.warnings + (r == -EBADMSG);
	return 0;
}

bool keys_have(const Key *keys, size_t n, const char *name)
{
	return key_of(keys, n, name) != NULL;
}
