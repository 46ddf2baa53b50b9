/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "model/profile-file.h"

typedef enum Field {
	FIELD_STATE = 1 << 0,
	FIELD_DEPTH = 1 << 1,
	FIELD_CHUNK = 1 << 2,
	FIELD_DIRECTION = 1 << 3,
	FIELD_PATTERN = 1 << 4,
	FIELD_WATTS = 1 << 5,
	FIELD_MB_S = 1 << 6,
	FIELD_IOPS = 1 << 7,
	FIELD_P99 = 1 << 8,
	FIELD_ERROR = 1 << 9,
	FIELD_ESTIMATED = 1 << 10,
	FIELD_READ_SHARE = 1 << 11,
} Field;

/* A word is a prefix, a number and a suffix; those without a number stand for `value`. */
typedef struct Word {
	const char *prefix, *suffix;
	Field field;
	bool number;
	double min, max;
	int value;
} Word;

static const Word words[] = {
	{ "ps=", "", FIELD_STATE, true, 0, PROFILE_STATES_MAX - 1 },
	{ "qd=", "", FIELD_DEPTH, true, 1, 65536 },
	{ "chunk=", "K", FIELD_CHUNK, true, 1, 65536 },
	{ "p99=", "us", FIELD_P99, true, 0, 1e9 },
	{ "error=", "%", FIELD_ERROR, true, 0.1, 100 },
	{ "", "W", FIELD_WATTS, true, 0, 1000 },
	{ "", "MB/s", FIELD_MB_S, true, 0, 1e6 },
	{ "", "iops", FIELD_IOPS, true, 0, 1e9 },
	{ "read=", "%", FIELD_READ_SHARE, true, 1, 99 },
	{ "read", "", FIELD_DIRECTION, .value = READ_IO },
	{ "write", "", FIELD_DIRECTION, .value = WRITE_IO },
	{ "random", "", FIELD_PATTERN, .value = RANDOM_IO },
	{ "sequential", "", FIELD_PATTERN, .value = SEQUENTIAL_IO },
	{ "estimated", "", FIELD_ESTIMATED, .value = 1 },
};

static const struct {
	unsigned fields; /* one of them */
	const char *what;
} required[] = {
	{ FIELD_DEPTH, "qd=" },
	{ FIELD_CHUNK, "chunk=" },
	{ FIELD_DIRECTION | FIELD_READ_SHARE, "read, write or read=, the share of reads" },
	{ FIELD_PATTERN, "random or sequential" },
	{ FIELD_WATTS, "W" },
	{ FIELD_MB_S, "MB/s" },
};

static void point_set(Point *p, Field field, double v)
{
	switch (field) {
	case FIELD_STATE: p->power_state = (int)v; break;
	case FIELD_DEPTH: p->depth = (unsigned)v; break;
	case FIELD_CHUNK: p->chunk_kib = (unsigned)v; break;
	case FIELD_DIRECTION: p->direction = (Direction)v; break;
	case FIELD_PATTERN: p->pattern = (Pattern)v; break;
	case FIELD_WATTS: p->watts = v; break;
	case FIELD_MB_S: p->mb_s = v; break;
	case FIELD_IOPS: p->iops = v; break;
	case FIELD_P99: p->p99_us = v; break;
	case FIELD_ERROR: p->error = v / 100; break;
	case FIELD_ESTIMATED: p->estimated = true; break;
	case FIELD_READ_SHARE: p->read_share = v / 100; break;
	}
}

/* The number of a word that has this prefix and suffix. */
static bool word_number(const Word *w, const char *text, double *ret)
{
	size_t n = strlen(text), before = strlen(w->prefix), after = strlen(w->suffix);
	char number[32];

	if (n <= before + after || n - before - after >= sizeof(number) ||
	    strncmp(text, w->prefix, before) != 0 || !streq(text + n - after, w->suffix))
		return false;
	memcpy(number, text + before, n - before - after);
	number[n - before - after] = '\0';
	return parse_double(number, ret) >= 0;
}

static bool is_whole(Field f)
{
	return f == FIELD_STATE || f == FIELD_DEPTH || f == FIELD_CHUNK;
}

static int point_word(const IniLine *l, Point *p, unsigned *seen, char *text)
{
	size_t n = strlen(text);

	if (n > 1 && text[n - 1] == ':')
		text[n - 1] = '\0';
	for (const Word *w = words; w < words + ELEMENTSOF(words); w++) {
		double v = w->value;

		if (w->number ? !word_number(w, text, &v) : !streq(text, w->prefix))
			continue;
		if (*seen & w->field)
			return ini_complain(l, "point says twice what \"%s\" says: keep one", text);
		if (w->number && (v < w->min || v > w->max || (is_whole(w->field) && v != (int)v)))
			return ini_complain(l, "point: \"%s\" must be %s%g to %g%s", text,
					    is_whole(w->field) ? "whole, " : "", w->min, w->max,
					    w->suffix);
		*seen |= w->field;
		point_set(p, w->field, v);
		return 0;
	}
	return ini_complain(l,
			    "point: \"%s\" is not understood; the form is \"ps=0 qd=64 chunk=256K "
			    "write random: 14W 1500MB/s 5722iops p99=900us error=5%% estimated\"",
			    text);
}

int point_parse(const IniLine *l, Point *ret)
{
	_cleanup_(strv_freep) char **texts = strv_split(l->value);
	unsigned seen = 0;
	Point p = {};

	if (!texts)
		return -ENOMEM;
	for (char **t = texts; *t; t++)
		if (point_word(l, &p, &seen, *t) < 0)
			return -EINVAL;
	for (size_t i = 0; i < ELEMENTSOF(required); i++)
		if (!(seen & required[i].fields))
			return ini_complain(l, "point without %s", required[i].what);
	if ((seen & FIELD_DIRECTION) && (seen & FIELD_READ_SHARE))
		return ini_complain(l, "point: a share of reads is neither read nor write");
	if (seen & FIELD_DIRECTION)
		p.read_share = p.direction == READ_IO;
	if (!(seen & FIELD_IOPS))
		p.iops = p.mb_s * 1e6 / (p.chunk_kib * 1024.0);
	*ret = p;
	return 0;
}
