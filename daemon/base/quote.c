/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/quote.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

void quote_write(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", f);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -EBADMSG;
}

/* The byte meant by what follows a backslash; an escaped NUL is refused, as no text holds one. */
static int read_escape(const char **p)
{
	char c = *(*p)++;
	int high, low;

	if (c == '"' || c == '\\')
		return c;
	if (c == 'n')
		return '\n';
	if (c != 'x')
		return -EBADMSG;
	high = hex_digit((*p)[0]);
	low = high < 0 ? high : hex_digit((*p)[1]);
	if (low < 0 || (high == 0 && low == 0))
		return -EBADMSG;
	*p += 2;
	return high * 16 + low;
}

int quote_read(const char **p, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	const char *s = *p;
	size_t n = 0;

	if (*s++ != '"')
		return -EBADMSG;
	text = malloc(strlen(s) + 1);
	if (!text)
		return -ENOMEM;
	while (*s && *s != '"') {
		int c = (unsigned char)*s++;

		if (c == '\\')
			c = read_escape(&s);
		if (c < 0)
			return c;
		text[n++] = (char)c;
	}
	if (*s != '"')
		return -EBADMSG;
	text[n] = '\0';
	*p = s + 1;
	*ret_text = TAKE_PTR(text);
	return 0;
}
