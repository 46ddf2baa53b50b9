/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/text.h"

#define BLANKS          " \t"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

typedef struct Seen {
	char *name;
	unsigned line;
} Seen;

typedef struct SeenList {
	Seen *list;
	size_t n;
} SeenList;

/* inih hands lines to the handler without their numbers, but it asks for each line first: they are
 * counted there. */
typedef struct Reader {
	const char *path;
	const char *rest;
	unsigned line;
	bool unfit;        /* a line was left out */
	bool lost;         /* nobody knows the section: its heading cannot be read */
	char section[200]; /* inih cuts its own off after 49 characters; ids of disks are longer */
	unsigned section_line, section_before;
	SeenList sections; /* of the file */
	SeenList keys;     /* of this section */
	IniHandler handler;
	void *userdata;
	int error;
} Reader;

static void seen_clear(SeenList *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].name);
	free(s->list);
	*s = (SeenList){ 0 };
}

/* Gives the line in which the name was seen before; 0: it was not, and is noted now. */
static int see(SeenList *s, const char *name, unsigned line, unsigned *ret_before)
{
	char *copy;

	*ret_before = 0;
	for (size_t i = 0; i < s->n; i++)
		if (streq(s->list[i].name, name)) {
			*ret_before = s->list[i].line;
			return 0;
		}
	copy = strdup(name);
	if (!copy || !ARRAY_GROW(s->list, s->n)) {
		free(copy);
		return -ENOMEM;
	}
	s->list[s->n - 1] = (Seen){ copy, line };
	return 0;
}

static int hand_on(Reader *r, const char *key, const char *value)
{
	IniLine l = { .path = r->path,
		      .line = r->line,
		      .section = r->section,
		      .key = key,
		      .value = value,
		      .section_line = r->section_line,
		      .section_before = r->section_before };
	int e = key ? see(&r->keys, key, r->line, &l.key_before) : 0;

	return e < 0 ? e : r->handler(&l, r->userdata);
}

/* Without blanks around it, and with one between its first word and the rest: "[device  sda ]" is
 * "[device sda]". */
static void set_section(Reader *r, const char *name, const char *end)
{
	int word, rest;

	name += strspn(name, BLANKS);
	while (end > name && strchr(BLANKS, end[-1]))
		end--;
	word = rest = (int)MIN(strcspn(name, BLANKS), (size_t)(end - name));
	while (name + rest < end && strchr(BLANKS, name[rest]))
		rest++;
	snprintf(r->section, sizeof(r->section), "%.*s%s%.*s", word, name, rest > word ? " " : "",
		 (int)(end - name) - rest, name + rest);
}

/* Its "]", which a blank or a comment may follow but nothing else: a glob has brackets, too. */
static const char *end_of_heading(const char *line)
{
	const char *end = strchr(line, ']');

	while (end && end[1] && !strchr(BLANKS "\r#;", end[1]))
		end = strchr(end + 1, ']');
	return end && strchr("#;", end[1 + strspn(end + 1, BLANKS "\r")]) ? end : NULL;
}

/* An empty line stands for one that was left out. */
static void begin_section(Reader *r, const char *line)
{
	const char *begin = strchr(line, '['), *end = end_of_heading(line);

	r->lost = !end;
	if (r->lost) {
		log_warning("%s:%u: expected \"[section]\" and nothing behind it: the keys below "
			    "it are left out",
			    r->path, r->line);
		r->unfit = true;
		return;
	}
	set_section(r, begin + 1, end);
	seen_clear(&r->keys);
	r->section_line = r->line;
	r->error = see(&r->sections, r->section, r->line, &r->section_before);
	if (!r->error)
		r->error = hand_on(r, NULL, NULL);
}

static bool complain_of(Reader *r, size_t column, const char *what)
{
	log_warning("%s:%u: column %zu has %s: write plain text in UTF-8", r->path, r->line, column,
		    what);
	r->unfit = true;
	return false;
}

static bool is_fit(Reader *r, const char *line, size_t n)
{
	size_t blanks = strspn(line, " \t");
	Unfit why;

	if (blanks < n && strchr("#;", line[blanks]))
		return true;
	if (n && line[n - 1] == '\r')
		n--;
	for (size_t start = 0, length; start < n; start += length + 1) {
		length = strcspn(line + start, "\t\n");
		length = MIN(length, n - start);
		if (!is_printable(line + start, length, &why))
			return complain_of(r, start + why.at + 1, why.what);
	}
	return true;
}

static bool is_short(Reader *r, size_t n, size_t most)
{
	if (n <= most)
		return true;
	log_warning("%s:%u: line is longer than %zu characters: split it or shorten it", r->path,
		    r->line, most);
	r->unfit = true;
	return false;
}

/* inih need not know which section begins. */
static char *next_line(char *buf, int size, void *stream)
{
	Reader *r = stream;
	const char *line = r->rest;
	size_t n = strcspn(line, "\n");
	bool good;

	if (!*line || r->error)
		return NULL;
	r->line++;
	r->rest += n + (line[n] == '\n');
	good = is_short(r, n, (size_t)size - 2) && is_fit(r, line, n);
	snprintf(buf, (size_t)size, "%.*s", good ? (int)n : 0, line);
	if (line[strspn(line, BLANKS)] == '[') {
		begin_section(r, buf);
		memcpy(buf, "[]", sizeof("[]"));
	}
	return buf;
}

/* inih: non-zero is good. It knows the section, too, but cuts its name. */
static int on_entry(void *user, const char *section, const char *key, const char *value)
{
	Reader *r = user;

	(void)section;
	if (!r->error && !r->lost)
		r->error = hand_on(r, key, value ?: "");
	return 1;
}

static int verdict(const Reader *r, int bad)
{
	if (r->error)
		return r->error;
	if (bad < 0)
		return -ENOMEM;
	if (bad > 0) {
		log_warning("%s:%d: neither \"[section]\", \"key = value\" nor a comment", r->path,
			    bad);
		return -EBADMSG;
	}
	return r->unfit ? -EBADMSG : 0;
}

int ini_read_text(const char *path, const char *text, IniHandler handler, void *userdata)
{
	bool marked = strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0;
	Reader r = { .path = path,
		     .rest = text + (marked ? strlen(BYTE_ORDER_MARK) : 0),
		     .handler = handler,
		     .userdata = userdata };
	int e = verdict(&r, ini_parse_stream(next_line, &r, on_entry, &r));

	seen_clear(&r.sections);
	seen_clear(&r.keys);
	return e;
}

int ini_load(const char *path, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	unsigned line = 1;
	int r = read_bytes(path, &text, &n);

	if (r < 0)
		return r;
	if (strlen(text) != n) {
		for (const char *p = text; *p; p++)
			line += *p == '\n';
		log_warning("%s:%u: it holds a NUL byte, which is no text", path, line);
		return -EBADMSG;
	}
	*ret_text = TAKE_PTR(text);
	return 0;
}

int ini_read(const char *path, IniHandler handler, void *userdata)
{
	_cleanup_free_ char *text = NULL;
	int r = ini_load(path, &text);

	return r < 0 ? r : ini_read_text(path, text, handler, userdata);
}

static void complain(const IniLine *l, const char *format, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, ap);
	log_warning("%s:%u: %s", l->path, l->line, text);
}

int ini_complain(const IniLine *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(l, format, ap);
	va_end(ap);
	return -EINVAL;
}

int ini_complain_of_heading(const IniLine *l, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (!l->key)
		complain(l, format, ap);
	va_end(ap);
	return -EINVAL;
}
