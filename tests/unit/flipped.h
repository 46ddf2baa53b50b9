/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the tests of the state files share: texts of any bytes, and files with one bit flipped. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Up to size - 1 bytes of 1 to 255, and a NUL. */
static inline char *any_text(uint64_t *seed, char *buf, size_t size)
{
	size_t n = draw(seed) % size;

	for (size_t i = 0; i < n; i++)
		buf[i] = (char)(1 + draw(seed) % 255);
	buf[n] = '\0';
	return buf;
}

/* Flips bit number `at` of the text; a second call puts it back. False behind the last bit. */
static inline bool flip(char *text, size_t n, size_t at)
{
	if (at >= 8 * n)
		return false;
	text[at / 8] ^= (char)(1 << at % 8);
	return true;
}
