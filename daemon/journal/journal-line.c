/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "journal/journal-line.h"

#include <errno.h>
#include <string.h>

#include "base/quote.h"
#include "base/text.h"

#define HEADER       "storpower-journal "
#define HEADER_V1    HEADER "1 boot="
#define WAS          "was "
#define FORGET       "forget "
#define CHECKSUM_LEN strlen(" #01234567")

uint32_t journal_checksum(const char *text, size_t n)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (unsigned char)text[i]) * 16777619u;
	return sum;
}

void journal_line_clear(JournalLine *l)
{
	free(l->boot);
	free(l->device);
	free(l->knob);
	*l = (JournalLine){ 0 };
}

static bool skip(const char **p, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*p, prefix, n) != 0)
		return false;
	*p += n;
	return true;
}

/* The quoted name, and the blank that sets it off from what follows. */
static int read_name(const char **p, char **ret)
{
	int r = quote_read(p, ret);

	return r < 0 || **p == '\0' || skip(p, " ") ? r : -EBADMSG;
}

static int read_original(const char **p, KnobValue *ret)
{
	_cleanup_free_ char *text = NULL;
	int r = quote_read(p, &text);

	if (r < 0)
		return r;
	if (strlen(text) >= sizeof(ret->text))
		return -EBADMSG;
	memcpy(ret->text, text, strlen(text) + 1);
	return 0;
}

static int read_body(const char *p, JournalLine *l)
{
	int r;

	if (skip(&p, HEADER_V1)) {
		l->kind = LINE_HEADER;
		l->boot = strdup(p);
		return l->boot ? 0 : -ENOMEM;
	}
	if (skip(&p, HEADER))
		return -EPROTONOSUPPORT;
	if (skip(&p, WAS))
		l->kind = LINE_WAS;
	else if (skip(&p, FORGET))
		l->kind = LINE_FORGET;
	else
		return -EBADMSG;
	r = read_name(&p, &l->device);
	if (r >= 0)
		r = read_name(&p, &l->knob);
	if (r >= 0 && l->kind == LINE_WAS)
		r = read_original(&p, &l->original);
	return r < 0 || *p == '\0' ? r : -EBADMSG;
}

int journal_line_read(const char *text, JournalLine *ret)
{
	_cleanup_(journal_line_clear) JournalLine l = { 0 };
	_cleanup_free_ char *body = NULL;
	char checksum[16];
	size_t n = strlen(text);
	int r;

	if (n < CHECKSUM_LEN)
		return -EBADMSG;
	n -= CHECKSUM_LEN;
	snprintf(checksum, sizeof(checksum), " #%08x", journal_checksum(text, n));
	if (!streq(text + n, checksum))
		return -EBADMSG;
	body = strndup(text, n);
	if (!body)
		return -ENOMEM;
	r = read_body(body, &l);
	if (r < 0)
		return r;
	*ret = l;
	l = (JournalLine){ 0 };
	return 0;
}

static void write_body(FILE *f, const JournalLine *l)
{
	if (l->kind == LINE_HEADER) {
		fprintf(f, HEADER_V1 "%s", l->boot);
		return;
	}
	fputs(l->kind == LINE_WAS ? WAS : FORGET, f);
	quote_write(f, l->device);
	fputc(' ', f);
	quote_write(f, l->knob);
	if (l->kind == LINE_WAS) {
		fputc(' ', f);
		quote_write(f, l->original.text);
	}
}

char *journal_line_write(const JournalLine *l)
{
	_cleanup_free_ char *body = NULL;
	size_t size;
	FILE *f = open_memstream(&body, &size);

	if (!f)
		return NULL;
	write_body(f, l);
	if (fclose(f) != 0)
		return NULL;
	return text_printf("%s #%08x\n", body, journal_checksum(body, size));
}
