/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/records.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/quote.h"
#include "base/text.h"

#define SEAL_LENGTH strlen(" #01234567")

typedef struct Reader {
	const RecordsFormat *format;
	const char *path;
	void *userdata;
	char header[64];
	unsigned line;
	bool headed; /* the header was seen */
	int found;   /* what records_read() returns */
} Reader;

uint32_t records_checksum(const char *text, size_t n)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (unsigned char)text[i]) * 16777619u;
	return sum;
}

static bool is_sealed(const char *line, size_t n)
{
	char seal[16];

	if (n < SEAL_LENGTH)
		return false;
	n -= SEAL_LENGTH;
	snprintf(seal, sizeof(seal), " #%08x", records_checksum(line, n));
	return memcmp(line + n, seal, SEAL_LENGTH) == 0;
}

static void write_number(FILE *f, double number)
{
	char text[40];

	/* 15 digits where they read back as the same number: 0.1 stays 0.1 */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	fputs(text, f);
}

static void write_field(FILE *f, const RecordField *field, const void *at)
{
	const char *text = field->type == FIELD_TEXT ? *(char *const *)at : NULL;
	uint64_t count = field->type == FIELD_COUNT ? *(const uint64_t *)at : 0;
	double number = field->type == FIELD_NUMBER ? *(const double *)at : 0;

	if (field->optional && !text && !count && number == 0)
		return;
	fprintf(f, " %s=", field->key);
	switch (field->type) {
	case FIELD_TEXT: quote_write(f, text); break;
	case FIELD_COUNT: fprintf(f, "%" PRIu64, count); break;
	case FIELD_NUMBER: write_number(f, number); break;
	}
}

/* Ends the line that began at `start`. A failure stays with the stream until records_end(). */
static void seal(RecordsWriter *w, size_t start)
{
	fflush(w->stream);
	fprintf(w->stream, " #%08x\n", records_checksum(w->text + start, w->n - start));
	fflush(w->stream);
}

int records_begin(RecordsWriter *w, const char *name)
{
	*w = (RecordsWriter){ 0 };
	w->stream = open_memstream(&w->text, &w->n);
	if (!w->stream)
		return -ENOMEM;
	if (name) {
		fprintf(w->stream, "storpower-%s %d", name, RECORDS_VERSION);
		seal(w, 0);
	}
	return 0;
}

void records_add(RecordsWriter *w, const RecordKind *kind, const void *record)
{
	size_t start = w->n;

	fputs(kind->name, w->stream);
	for (const RecordField *field = kind->fields; field->key; field++)
		write_field(w->stream, field, (const char *)record + field->offset);
	seal(w, start);
}

int records_end(RecordsWriter *w, char **ret_text, size_t *ret_n)
{
	bool failed = ferror(w->stream);

	if (fclose(w->stream) != 0 || failed) {
		free(w->text);
		return -ENOMEM;
	}
	*ret_text = w->text;
	*ret_n = w->n;
	return 0;
}

static int read_number(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return *text && !*end && isfinite(*ret) ? 0 : -EBADMSG;
}

static int read_count(const char *text, uint64_t *ret)
{
	unsigned long count;
	int r = parse_unsigned(text, UINT64_MAX, &count);

	if (r >= 0)
		*ret = count;
	return r;
}

/* A field's value, of which `bare` bytes are its own if it is not quoted. */
static int read_value(const char **p, size_t bare, const RecordField *field, void *at)
{
	_cleanup_free_ char *text = NULL;
	int r = 0;

	if (**p == '"') {
		r = quote_read(p, &text);
	} else {
		text = strndup(*p, bare);
		*p += bare;
	}
	if (r < 0 || !text)
		return r ?: -ENOMEM;
	switch (field->type) {
	case FIELD_TEXT: *(char **)at = TAKE_PTR(text); return 0;
	case FIELD_COUNT: return read_count(text, at);
	default: return read_number(text, at);
	}
}

/* Reads one KEY=VALUE at *p and sets the field's bit in *seen. In the first versions of the files
 * values have no key: such a value is of the next field, and a bare text is the rest of the line.
 */
static int read_field(const char **p, const RecordKind *kind, void *record, unsigned *seen)
{
	size_t n = strcspn(*p, "= \""), key_n = (*p)[n] == '=' ? n : 0;

	for (size_t i = 0; kind->fields[i].key; i++) {
		const RecordField *field = &kind->fields[i];
		bool whole = !key_n && field->type == FIELD_TEXT;

		if (*seen & (1U << i))
			continue;
		if (key_n && (strlen(field->key) != key_n || strncmp(field->key, *p, key_n) != 0))
			continue;
		*seen |= 1U << i;
		*p += key_n ? key_n + 1 : 0;
		return read_value(p, whole ? strlen(*p) : strcspn(*p, " "), field,
				  (char *)record + field->offset);
	}
	return -EBADMSG;
}

static int read_fields(const char *p, const RecordKind *kind, void *record)
{
	unsigned seen = 0;

	while (*p) {
		int r = *p++ == ' ' ? read_field(&p, kind, record, &seen) : -EBADMSG;

		if (r < 0)
			return r;
	}
	for (size_t i = 0; kind->fields[i].key; i++)
		if (!kind->fields[i].optional && !(seen & (1U << i)))
			return -EBADMSG;
	return 0;
}

static int read_record(const Reader *r, const char *words, const RecordKind *kind)
{
	_cleanup_free_ char *record = calloc(1, kind->size);
	int q = record ? read_fields(words, kind, record) : -ENOMEM;

	if (q >= 0)
		q = kind->take(record, r->userdata);
	for (const RecordField *field = kind->fields; record && field->key; field++)
		if (field->type == FIELD_TEXT)
			free(*(char **)(record + field->offset));
	return q;
}

/* A name may stand for several kinds, because the record of an older version has other fields. */
static int read_body(Reader *r, const char *body)
{
	size_t name = strcspn(body, " "), magic = strcspn(r->header, " ") + 1;
	int q = -EBADMSG;

	if (streq(body, r->header)) {
		r->headed = true;
		return 0;
	}
	for (const RecordKind *const *kind = r->format->kinds; *kind && q == -EBADMSG; kind++)
		if (strlen((*kind)->name) == name && strncmp(body, (*kind)->name, name) == 0)
			q = read_record(r, body + name, *kind);
	if (strncmp(body, r->header, magic) != 0)
		return q;
	r->headed = true;
	return q == -EBADMSG ? -EPROTONOSUPPORT : q;
}

static int read_copy(Reader *r, const char *line, size_t n)
{
	_cleanup_free_ char *body = strndup(line, n);

	if (!body)
		return -ENOMEM;
	return strlen(body) == n ? read_body(r, body) : -EBADMSG;
}

static void complain(Reader *r, const char *what)
{
	log_warning("%s:%u: %s: %s", r->path, r->line, what, r->format->loss);
	r->found |= RECORDS_DAMAGED;
}

static void take_damaged(Reader *r, const char *line, size_t n)
{
	complain(r, "this line is damaged");
	if (r->format->damaged)
		r->format->damaged(line, n, r->userdata);
}

static int read_sealed(Reader *r, const char *line, size_t n, bool ended)
{
	if (is_sealed(line, n)) {
		r->found |= ended ? 0 : RECORDS_UNFINISHED;
		return read_copy(r, line, n - SEAL_LENGTH);
	}
	if (ended || !n)
		return -EBADMSG;
	if (is_sealed(line, n - 1)) {
		log_warning("%s:%u: the end of this line is damaged, the line is not", r->path,
			    r->line);
		r->found |= RECORDS_DAMAGED;
		return read_copy(r, line, n - 1 - SEAL_LENGTH);
	}
	if (!r->format->appended)
		return -EBADMSG;
	log_notice("%s:%u: the last line was never finished: dropping it", r->path, r->line);
	r->found |= RECORDS_UNFINISHED;
	return 0;
}

static int read_unsealed(Reader *r, const char *line, size_t n, bool ended)
{
	if (!ended)
		return -EBADMSG;                  /* what is there may look right all the same */
	while (n && strchr(" \t\r", line[n - 1])) /* an editor's */
		n--;
	return n == 0 || *line == '#' ? 0 : read_copy(r, line, n);
}

int records_read(const RecordsFormat *format, const char *path, const char *text, size_t n,
		 void *userdata)
{
	Reader r = { .format = format, .path = path, .userdata = userdata };
	const char *end = text + n;

	snprintf(r.header, sizeof(r.header), "storpower-%s %d", format->name,
		 format->unsealed ? 1 : RECORDS_VERSION);
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ?: end) - text);
		int q;

		r.line++;
		q = (format->unsealed ? read_unsealed : read_sealed)(&r, text, length, newline);
		if (q == -ENOMEM || q == -EPROTONOSUPPORT)
			return q;
		if (q < 0)
			take_damaged(&r, text, length);
		text += length + (newline != NULL);
	}
	if (!r.headed && !r.found && !format->unsealed && !(format->appended && n == 0))
		complain(&r, "the first line of such a file is missing");
	return r.found;
}
