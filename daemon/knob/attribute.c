/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/attribute.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

#define WORD_MAX 64

int attribute_read(Device *d, const char *attr, char *buf, size_t size)
{
	return d->ops->attr_read ? d->ops->attr_read(d, attr, buf, size) : -EOPNOTSUPP;
}

bool attribute_is_writable(Device *d, const char *attr)
{
	return !d->ops->attr_writable || d->ops->attr_writable(d, attr) >= 0;
}

int attribute_read_unsigned(Device *d, const char *attr, unsigned *ret)
{
	char text[WORD_MAX];
	unsigned long v;
	int r = attribute_read(d, attr, text, sizeof(text));

	if (r < 0)
		return r;
	r = parse_unsigned(text, UINT_MAX, &v);
	if (r < 0)
		return r;
	*ret = (unsigned)v;
	return 0;
}

bool attribute_has_disk_depth(Device *d)
{
	unsigned depth;

	return attribute_read_unsigned(d, DISK_DEPTH_ATTR, &depth) >= 0 &&
	       attribute_is_writable(d, DISK_DEPTH_ATTR);
}

void attribute_take_choice(char *text)
{
	char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return;
	*close = '\0';
	memmove(text, open + 1, strlen(open + 1) + 1);
}

static int read_head(Device *d, const AttributeGroup *g, KnobValue *ret)
{
	int r = attribute_read(d, g->attr, ret->text, sizeof(ret->text));

	if (r < 0)
		return r;
	if (g->choice)
		attribute_take_choice(ret->text);
	return 0;
}

static int append_word(KnobValue *v, const char *key, const char *word)
{
	size_t n = strlen(v->text), room = sizeof(v->text) - n;

	return (size_t)snprintf(v->text + n, room, " %s=%s", key, word) < room ? 0 : -ENOBUFS;
}

int attribute_group_read(Device *d, const AttributeGroup *g, KnobValue *ret)
{
	KnobValue v;
	int r = read_head(d, g, &v);

	for (size_t i = 0; i < g->n_companions && r >= 0; i++) {
		char word[WORD_MAX];

		r = attribute_read(d, g->companions[i].attr, word, sizeof(word));
		if (r == -ENODEV)
			break;
		/* it is another scheduler's tunable, or there is no wbt here (EINVAL) */
		r = r < 0 ? 0 : append_word(&v, g->companions[i].key, word);
	}
	if (r < 0)
		return r;
	*ret = v;
	return 0;
}

static int write_head(Device *d, const AttributeGroup *g, const KnobValue *before,
		      const KnobValue *value)
{
	char head[WORD_MAX];

	/* writing many of these freezes the queue even when nothing changes */
	if (value_same_head(d, before, value))
		return 0;
	if (!d->ops->attr_write)
		return -EOPNOTSUPP;
	return d->ops->attr_write(d, g->attr, value_head(value, head, sizeof(head)));
}

static int write_companion(Device *d, const Companion *c, const char *word)
{
	char now[WORD_MAX];
	int r = attribute_read(d, c->attr, now, sizeof(now));

	if (r == -ENODEV)
		return r;
	if (r < 0 || streq(now, word))
		return 0;
	return d->ops->attr_write(d, c->attr, word);
}

int attribute_group_write(Device *d, const AttributeGroup *g, const KnobValue *value)
{
	KnobValue before;
	int r, first = 0;

	r = attribute_group_read(d, g, &before);
	if (r >= 0)
		r = write_head(d, g, &before, value);
	if (r < 0)
		return r;
	for (size_t i = 0; i < g->n_companions && first != -ENODEV; i++) {
		const Companion *c = &g->companions[i];
		char word[WORD_MAX];
		bool named = value_word(value, c->key, word, sizeof(word));

		if (!named && !(c->keep && value_word(&before, c->key, word, sizeof(word))))
			continue;
		r = write_companion(d, c, word);
		if (r == -EINVAL && !named)
			log_warning("%s: %s: the kernel does not take %s back after %s=%s; "
				    "leaving what it chose",
				    d->name, c->attr, word, g->attr, value->text);
		else if (r < 0 && !first)
			first = r;
	}
	return first;
}

bool attribute_has_scheduler(Device *d, const char *name)
{
	_cleanup_(strv_freep) char **names = NULL;
	char text[KNOB_VALUE_MAX];

	if (attribute_read(d, "queue/scheduler", text, sizeof(text)) < 0)
		return false;
	for (char *c = text; *c; c++)
		if (*c == '[' || *c == ']')
			*c = ' ';
	names = strv_split(text);
	for (char **n = names; n && *n; n++)
		if (streq(*n, name))
			return true;
	return false;
}

bool attribute_is_multiqueue_block(Device *d)
{
	char text[KNOB_VALUE_MAX];

	return attribute_read(d, "queue/scheduler", text, sizeof(text)) >= 0 && strchr(text, '[');
}

int value_print(KnobValue *ret, const char *format, ...)
{
	KnobValue v;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(v.text, sizeof(v.text), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(v.text))
		return -ENOBUFS;
	*ret = v;
	return 0;
}

char *value_head(const KnobValue *v, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(v->text, " "), v->text);
	return buf;
}

int value_head_unsigned(const KnobValue *v, unsigned *ret)
{
	char head[WORD_MAX];
	unsigned long n;
	int r = parse_unsigned(value_head(v, head, sizeof(head)), UINT_MAX, &n);

	if (r < 0)
		return r;
	*ret = (unsigned)n;
	return 0;
}

/* The " key=word" in it, or NULL. */
static const char *find_word(const KnobValue *v, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = strchr(v->text, ' '); at; at = strchr(at + 1, ' '))
		if (strncmp(at + 1, key, n) == 0 && at[n + 1] == '=')
			return at;
	return NULL;
}

bool value_word(const KnobValue *v, const char *key, char *buf, size_t size)
{
	const char *at = find_word(v, key);

	if (!at)
		return false;
	at += strlen(key) + 2;
	snprintf(buf, size, "%.*s", (int)strcspn(at, " "), at);
	return true;
}

void value_drop_word(KnobValue *v, const char *key)
{
	char *at = (char *)find_word(v, key);
	size_t n = at ? 1 + strcspn(at + 1, " ") : 0;

	if (at)
		memmove(at, at + n, strlen(at + n) + 1);
}

bool value_same_head(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	char a[WORD_MAX], b[WORD_MAX];

	(void)d;
	return streq(value_head(wanted, a, sizeof(a)), value_head(found, b, sizeof(b)));
}

int not_offered(char **ret_why_not, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (ret_why_not) {
		*ret_why_not = strdup(text);
		if (!*ret_why_not)
			return -ENOMEM;
	}
	return -EOPNOTSUPP;
}
