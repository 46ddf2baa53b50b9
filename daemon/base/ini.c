/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

/* inih hands lines to the handler without their numbers, but it asks for each line first: they are
 * counted there. */
typedef struct Reader {
	const char *path;
	const char *rest;
	unsigned line;
	unsigned too_long; /* line number, 0: none */
	char section[200]; /* inih cuts its own off after 49 characters; ids of disks are longer */
	bool headings;
	IniHandler handler;
	void *userdata;
	int error;
} Reader;

static void note_section(Reader *r, const char *line)
{
	const char *start = line + strspn(line, " \t"), *end = strchr(start, ']');

	if (*start != '[' || !end)
		return;
	snprintf(r->section, sizeof(r->section), "%.*s", (int)(end - start - 1), start + 1);
	if (r->headings)
		r->error = r->handler(&(IniLine){ r->path, r->line, .section = r->section },
				      r->userdata);
}

static char *next_line(char *buf, int size, void *stream)
{
	Reader *r = stream;
	size_t n = strcspn(r->rest, "\n");
	size_t kept = MIN(n, (size_t)size - 1);

	if (!*r->rest || r->error)
		return NULL;
	r->line++;
	if (n > kept && !r->too_long)
		r->too_long = r->line;
	memcpy(buf, r->rest, kept);
	buf[kept] = '\0';
	note_section(r, buf);
	r->rest += n + (r->rest[n] == '\n');
	return buf;
}

/* inih: non-zero is good */
static int on_entry(void *user, const char *section, const char *key, const char *value)
{
	Reader *r = user;
	bool same = strncmp(section, r->section, strlen(section)) == 0;
	IniLine l = { .path = r->path,
		      .line = r->line,
		      .section = *section && same ? r->section : section,
		      .key = key,
		      .value = value ?: "" };

	if (!r->error)
		r->error = r->handler(&l, r->userdata);
	return 1;
}

static int read_all(Reader *r)
{
	int bad = ini_parse_stream(next_line, r, on_entry, r);

	if (r->error)
		return r->error;
	if (bad < 0)
		return -ENOMEM;
	if (r->too_long) {
		log_warning("%s:%u: line is longer than 198 characters: split it or shorten it",
			    r->path, r->too_long);
		return -EBADMSG;
	}
	if (bad > 0) {
		log_warning("%s:%d: neither \"[section]\", \"key = value\" nor a comment", r->path,
			    bad);
		return -EBADMSG;
	}
	return 0;
}

int ini_read_text(const char *path, const char *text, IniHandler handler, void *userdata)
{
	return read_all(
		&(Reader){ .path = path, .rest = text, .handler = handler, .userdata = userdata });
}

int ini_read_headings(const char *path, const char *text, IniHandler handler, void *userdata)
{
	return read_all(&(Reader){ .path = path,
				   .rest = text,
				   .headings = true,
				   .handler = handler,
				   .userdata = userdata });
}

int ini_read(const char *path, IniHandler handler, void *userdata)
{
	_cleanup_free_ char *text = NULL;
	int r = read_file(path, &text);

	return r < 0 ? r : ini_read_text(path, text, handler, userdata);
}

int ini_complain(const IniLine *l, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	log_warning("%s:%u: %s", l->path, l->line, text);
	return -EINVAL;
}
