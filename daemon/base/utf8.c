/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/utf8.h"

#include <stdint.h>
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

/* The length of the valid, printable sequence at s; 0 when there is none. Overlong forms,
 * surrogates and what lies beyond U+10FFFF are none. */
static size_t sequence(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0x20, 0x80, 0x800, 0x10000 };
	size_t n = announced(s[0]);
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n == 0 || c < least[n] || c == 0x7f || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return 0;
	return n;
}

char *utf8_copy(const char *s)
{
	char *copy = strdup(s);

	for (unsigned char *p = (unsigned char *)copy; p && *p;) {
		size_t n = sequence(p);

		if (n == 0)
			*p = '?';
		p += n ?: 1;
	}
	return copy;
}
