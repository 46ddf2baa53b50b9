/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "device/wake-record.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

/* A line that says something of an HBA, or any other, which is kept as it is. */
typedef struct Line {
	WakeTested tested; /* WAKE_UNTESTED: any other */
	char *text;        /* the HBA, or the whole line */
} Line;

struct WakeRecord {
	char *path;           /* NULL: in memory alone */
	pthread_mutex_t lock; /* of what follows: workers ask while the daemon's thread records */
	Line *lines;
	size_t n;
};

static const char *const words[] = { [WAKE_TESTED] = "tested ", [WAKE_FAILED] = "failed " };

static int add_line(WakeRecord *r, WakeTested tested, const char *text)
{
	Line *line;
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	line = ARRAY_GROW(r->lines, r->n);
	if (!line) {
		free(copy);
		return -ENOMEM;
	}
	*line = (Line){ tested, copy };
	return 0;
}

/* The last word counts, as when somebody has added a line by hand. */
static Line *find_line(const WakeRecord *r, const char *hba)
{
	for (size_t i = r->n; i-- > 0;)
		if (r->lines[i].tested != WAKE_UNTESTED && streq(r->lines[i].text, hba))
			return &r->lines[i];
	return NULL;
}

static void drop_lines(WakeRecord *r, const char *hba)
{
	Line *line;

	while ((line = find_line(r, hba))) {
		free(line->text);
		memmove(line, line + 1, (size_t)(r->lines + r->n - line - 1) * sizeof(*line));
		r->n--;
	}
}

static int load_line(WakeRecord *r, const char *text, unsigned number)
{
	for (WakeTested t = WAKE_TESTED; t <= WAKE_FAILED; t++) {
		size_t n = strlen(words[t]);

		if (strncmp(text, words[t], n) == 0 && text[n])
			return add_line(r, t, text + n);
	}
	if (*text && *text != '#')
		log_warning("%s:%u: neither \"tested HBA\" nor \"failed HBA\": not used", r->path,
			    number);
	return add_line(r, WAKE_UNTESTED, text);
}

static int load_lines(WakeRecord *r)
{
	_cleanup_free_ char *text = NULL;
	unsigned number = 1;
	int q = read_file(r->path, &text);

	for (char *p = text, *next; q >= 0 && *p; p = next, number++) {
		char *end = p + strcspn(p, "\n");

		next = end + (*end == '\n');
		while (end > p && strchr(" \t\r", end[-1])) /* an editor may have left them */
			end--;
		*end = '\0';
		q = load_line(r, p, number);
	}
	return q == -ENOENT ? 0 : q;
}

int wake_record_open(const char *path, WakeRecord **ret)
{
	_cleanup_(wake_record_closep) WakeRecord *r = calloc(1, sizeof(*r));
	int q = 0;

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	if (path) {
		r->path = strdup(path);
		q = r->path ? load_lines(r) : -ENOMEM;
	}
	if (q < 0)
		return q;
	*ret = TAKE_PTR(r);
	return 0;
}

WakeRecord *wake_record_close(WakeRecord *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->n; i++)
		free(r->lines[i].text);
	free(r->lines);
	free(r->path);
	pthread_mutex_destroy(&r->lock);
	free(r);
	return NULL;
}

WakeTested wake_record_get(const WakeRecord *r, const char *hba)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&r->lock; /* asking changes nothing else */
	const Line *line;
	WakeTested tested;

	pthread_mutex_lock(lock);
	line = find_line(r, hba);
	tested = line ? line->tested : WAKE_UNTESTED;
	pthread_mutex_unlock(lock);
	return tested;
}

static int save_lines(const WakeRecord *r)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++)
		fprintf(f, "%s%s\n", words[r->lines[i].tested] ?: "", r->lines[i].text);
	if (fclose(f) != 0)
		return -ENOMEM;
	return write_file_atomic(r->path, text, 0644);
}

int wake_record_set(WakeRecord *r, const char *hba, WakeTested tested)
{
	Line *line;
	int q = 0;

	if (!*hba || strchr(hba, '\n'))
		return -EINVAL;
	pthread_mutex_lock(&r->lock);
	line = find_line(r, hba);
	if (tested == WAKE_UNTESTED)
		drop_lines(r, hba);
	else if (line)
		line->tested = tested;
	else
		q = add_line(r, tested, hba);
	if (q >= 0 && r->path)
		q = save_lines(r);
	pthread_mutex_unlock(&r->lock);
	return q;
}
