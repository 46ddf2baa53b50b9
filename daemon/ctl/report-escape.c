/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>

#include "base/text.h"
#include "ctl/report-page.h"

void html_text(FILE *f, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&': fputs("&amp;", f); break;
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '"': fputs("&quot;", f); break;
		case '\'': fputs("&#39;", f); break;
		case ' ': fputs(text[1] == '%' ? "&nbsp;" : " ", f); break;
		default: putc(*text, f);
		}
}

void html_printf(FILE *f, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		text = NULL;
	else
		html_text(f, text);
}
