/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/calibrate-fio.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/spawn.h"

#define ROUND_PATIENCE_US                                                                          \
	(20 * USEC_PER_SEC) /* fio lays out nothing: its first word comes soon                     \
			     */
#define END_PATIENCE_US (5 * USEC_PER_SEC)
#define ROUND_LEAST_MS  500
#define REPORTS_MAX     4096

struct FioRun {
	Running child;
	json_tokener *parser;
	char *rest; /* of what was read and not parsed yet */
	size_t n_rest;
	json_object *reports[REPORTS_MAX]; /* each from the beginning of the job */
	size_t n_reports;
};

int fio_start(const FioJob *job, FioRun **ret)
{
	_cleanup_(fio_endp) FioRun *f = calloc(1, sizeof(*f));
	_cleanup_(strv_freep) char **argv = NULL;
	Program p = {};
	int r;

	if (!f)
		return -ENOMEM;
	f->child = RUNNING_NONE;
	f->parser = json_tokener_new();
	r = f->parser ? fio_arguments(job, &argv) : -ENOMEM;
	p.argv = (const char *const *)argv;
	if (r >= 0)
		r = spawn_start(&p, &f->child);
	if (r >= 0)
		*ret = TAKE_PTR(f);
	return r;
}

FioRun *fio_end(FioRun *f)
{
	if (!f)
		return NULL;
	spawn_end(&f->child, END_PATIENCE_US);
	for (size_t i = 0; i < f->n_reports; i++)
		json_object_put(f->reports[i]);
	if (f->parser)
		json_tokener_free(f->parser);
	free(f->rest);
	free(f);
	return NULL;
}

/* What fio says between reports, in words, is skipped. */
static void skip_words(FioRun *f)
{
	char *brace;
	size_t words;

	if (f->n_rest == 0)
		return;
	brace = memchr(f->rest, '{', f->n_rest);
	words = brace ? (size_t)(brace - f->rest) : f->n_rest;
	f->n_rest -= words;
	memmove(f->rest, f->rest + words, f->n_rest);
}

/* A report out of what was read. -EAGAIN: it has not ended yet. */
static int parse_report(FioRun *f, bool *inside, json_object **ret)
{
	json_object *o;
	size_t used;

	if (!*inside)
		skip_words(f);
	if (f->n_rest == 0)
		return -EAGAIN;
	o = json_tokener_parse_ex(f->parser, f->rest, (int)f->n_rest);
	*inside = json_tokener_get_error(f->parser) == json_tokener_continue;
	if (!*inside && !o)
		return -EBADMSG;
	used = *inside ? f->n_rest : json_tokener_get_parse_end(f->parser);
	f->n_rest -= used;
	memmove(f->rest, f->rest + used, f->n_rest);
	if (*inside)
		return -EAGAIN;
	json_tokener_reset(f->parser);
	*ret = o;
	return 0;
}

static int listen_more(FioRun *f)
{
	char text[65536], *longer;
	ssize_t n = spawn_listen(&f->child, text, sizeof(text), ROUND_PATIENCE_US);

	if (n <= 0)
		return n < 0 ? (int)n : -ENODATA;
	longer = realloc(f->rest, f->n_rest + (size_t)n);
	if (!longer)
		return -ENOMEM;
	memcpy(longer + f->n_rest, text, (size_t)n);
	f->rest = longer;
	f->n_rest += (size_t)n;
	return 0;
}

static int next_report(FioRun *f, json_object **ret)
{
	bool inside = false;
	int r;

	while ((r = parse_report(f, &inside, ret)) == -EAGAIN) {
		r = listen_more(f);
		if (r < 0)
			return r;
	}
	return r;
}

static json_object *job_of(json_object *report)
{
	json_object *jobs = json_member(report, "jobs");

	return json_count(jobs) > 0 ? json_object_array_get_idx(jobs, 0) : NULL;
}

static const char *const directions[] = { "read", "write" };

/* Of both directions. */
static double sum_of(json_object *report, const char *key)
{
	double sum = 0;

	for (size_t i = 0; i < ELEMENTSOF(directions); i++) {
		double v = json_number(json_member(job_of(report), directions[i]), key);

		sum += isnan(v) ? 0 : v;
	}
	return sum;
}

/* Of all jobs: their mean, in milliseconds. */
static double time_of(json_object *report)
{
	double longest = 0;

	for (size_t i = 0; i < ELEMENTSOF(directions); i++)
		longest = fmax(longest,
			       json_number(json_member(job_of(report), directions[i]), "runtime"));
	return longest;
}

static double since(json_object *before, json_object *report, const char *key)
{
	return sum_of(report, key) - (before ? sum_of(before, key) : 0);
}

/* One that covers a moment only, as the first may, or repeats the one before it, as the last does,
 * is left out. */
static int next_round(FioRun *f, json_object *before, json_object **ret, double *ret_ms)
{
	for (;;) {
		json_object *report = NULL;
		int r = next_report(f, &report);

		if (r >= 0 && json_number(job_of(report), "error") > 0)
			r = -EIO;
		*ret_ms = r < 0 ? 0 : time_of(report) - (before ? time_of(before) : 0);
		if (r >= 0 && *ret_ms >= ROUND_LEAST_MS) {
			*ret = report;
			return 0;
		}
		json_object_put(report);
		if (r < 0)
			return r;
	}
}

int fio_round(FioRun *f, FioRound *ret)
{
	json_object *before = f->n_reports > 0 ? f->reports[f->n_reports - 1] : NULL;
	json_object *report = NULL;
	double ms;
	int r;

	if (f->n_reports >= REPORTS_MAX)
		return -ENODATA;
	r = next_round(f, before, &report, &ms);
	if (r < 0)
		return r;
	f->reports[f->n_reports++] = report;
	*ret = (FioRound){
		.seconds = ms / 1e3,
		.mb_s = since(before, report, "io_bytes") / ms / 1e3,
		.iops = since(before, report, "total_ios") / ms * 1e3,
	};
	return 0;
}

typedef struct Bin {
	double ns, ios;
} Bin;

static json_object *bins_of(json_object *report, const char *direction)
{
	return json_member(json_member(json_member(job_of(report), direction), "clat_ns"), "bins");
}

static int by_time(const void *a, const void *b)
{
	double x = ((const Bin *)a)->ns, y = ((const Bin *)b)->ns;

	return (x > y) - (x < y);
}

/* What has come into each bin since the earlier report, which may be NULL. */
static int bins_between(json_object *earlier, json_object *later, Bin **bins, size_t *n)
{
	for (size_t i = 0; i < ELEMENTSOF(directions); i++) {
		json_object *was = bins_of(earlier, directions[i]);
		json_object *is = bins_of(later, directions[i]);

		if (!is)
			continue;
		json_object_object_foreach(is, key, count)
		{
			double before = was ? json_number(was, key) : NAN;
			Bin *b = ARRAY_GROW(*bins, *n);

			if (!b)
				return -ENOMEM;
			b->ns = strtod(key, NULL);
			b->ios = json_object_get_double(count) - (isnan(before) ? 0 : before);
		}
	}
	return 0;
}

static double quantile(const Bin *bins, size_t n, double part)
{
	double sum = 0, passed = 0;

	for (size_t i = 0; i < n; i++)
		sum += bins[i].ios;
	for (size_t i = 0; i < n; i++) {
		passed += bins[i].ios;
		if (passed > 0 && passed >= part * sum)
			return bins[i].ns / 1e3;
	}
	return NAN;
}

int fio_percentiles(const FioRun *f, size_t from, double *ret_p50_us, double *ret_p99_us)
{
	_cleanup_free_ Bin *bins = NULL;
	size_t n = 0;
	int r;

	if (f->n_reports <= from)
		return -ENODATA;
	r = bins_between(from > 0 ? f->reports[from - 1] : NULL, f->reports[f->n_reports - 1],
			 &bins, &n);
	if (r < 0)
		return r;
	if (n > 0)
		qsort(bins, n, sizeof(*bins), by_time);
	*ret_p50_us = quantile(bins, n, 0.5);
	*ret_p99_us = quantile(bins, n, 0.99);
	return isnan(*ret_p99_us) ? -ENODATA : 0;
}
