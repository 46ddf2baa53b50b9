/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/printable.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* How many bytes the first byte announces (RFC 3629); 0: it begins nothing. */
static size_t announced(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

/* The length of the valid sequence at s, of which n bytes are there; 0 when there is none. Overlong
 * forms, surrogates and what lies beyond U+10FFFF are none. */
static size_t sequence(const unsigned char *s, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = announced(s[0]);
	uint32_t c = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));

	if (length == 0 || length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[length] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return 0;
	*ret = c;
	return length;
}

/* NULL: it is fit. */
static const char *why_unfit(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		const char *what;
	} unfit[] = {
		{ 0x00, 0x1f, "the control character" },
		{ 0x7f, 0x9f, "the control character" },
		{ 0x61c, 0x61c, "the bidirectional control" },
		{ 0x200e, 0x200f, "the bidirectional control" },
		{ 0x2028, 0x2029, "the line separator" },
		{ 0x202a, 0x202e, "the bidirectional control" },
		{ 0x2066, 0x2069, "the bidirectional control" },
		{ 0xfdd0, 0xfdef, "the noncharacter" },
	};

	for (size_t i = 0; i < ELEMENTSOF(unfit); i++)
		if (c >= unfit[i].first && c <= unfit[i].last)
			return unfit[i].what;
	return (c & 0xfffe) == 0xfffe ? "the noncharacter" : NULL;
}

/* The length of what stands at s, and what makes it unfit, else "". */
static size_t look(const char *s, size_t n, char *what, size_t size)
{
	uint32_t c = 0;
	size_t length = sequence((const unsigned char *)s, n, &c);
	const char *why = length ? why_unfit(c) : NULL;

	*what = '\0';
	if (!length)
		snprintf(what, size, "the byte 0x%02X, which is not UTF-8", (unsigned char)*s);
	else if (why)
		snprintf(what, size, "%s U+%04X", why, (unsigned)c);
	return length ?: 1;
}

bool is_printable(const char *text, size_t n, Unfit *ret)
{
	Unfit u = {};
	size_t length;

	for (; u.at < n; u.at += length) {
		length = look(text + u.at, n - u.at, u.what, sizeof(u.what));
		if (!*u.what)
			continue;
		*ret = u;
		return false;
	}
	return true;
}

bool is_plain_name(const char *text)
{
	Unfit why;

	if (!*text || strchr(".:+@-", *text) || !is_printable(text, strlen(text), &why))
		return false;
	for (const char *p = text; *p; p++)
		if (!((unsigned char)*p >= 0x80 || isalnum((unsigned char)*p) ||
		      strchr("._:+@-", *p)))
			return false;
	return true;
}

char *make_printable(char *text)
{
	size_t n = strlen(text);
	Unfit u;

	for (char *p = text; !is_printable(p, n, &u);) {
		size_t length = look(p + u.at, n - u.at, u.what, sizeof(u.what));

		memset(p + u.at, '?', length);
		p += u.at + length;
		n -= u.at + length;
	}
	return text;
}

const char *printable_text(char *buf, size_t size, const char *text)
{
	snprintf(buf, size, "%s", text);
	return make_printable(buf);
}

char *printable_copy(const char *text)
{
	char *copy = strdup(text);

	return copy ? make_printable(copy) : NULL;
}
