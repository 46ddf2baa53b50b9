/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/spawn.h"
#include "ctl/calibrate-fio.h"

#define PROBE_PATIENCE_US (20 * USEC_PER_SEC)
#define ANSWER_MAX        65536
/* One job keeps a processor busy with about so many IOs of small chunks outstanding. */
#define DEPTH_OF_JOB 16
#define SMALL_KIB    16
#define JOBS_MAX     8

int fio_version(char version[FIO_VERSION_SIZE])
{
	const Program p = { .argv = (const char *const[]){ "fio", "--version", NULL },
			    .answer_max = ANSWER_MAX,
			    .within_us = PROBE_PATIENCE_US };
	_cleanup_free_ char *answer = NULL;
	int r = spawn_and_read(&p, &answer);

	if (r != 0)
		return r < 0 ? r : -ENOENT;
	snprintf(version, FIO_VERSION_SIZE, "%.*s", (int)strcspn(answer, "\n"), answer);
	return 0;
}

/* fio takes a colon in a name for the beginning of another one. */
static int add_file_name(char ***v, const char *path)
{
	_cleanup_free_ char *text = malloc(2 * strlen(path) + sizeof("--filename="));
	char *to = text;

	if (!text)
		return -ENOMEM;
	to = stpcpy(to, "--filename=");
	for (const char *c = path; *c; c++) {
		if (*c == ':')
			*to++ = '\\';
		*to++ = *c;
	}
	*to = '\0';
	return strv_add(v, text);
}

static int _printf_(2, 3) add(char ***v, const char *format, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return strv_add(v, text);
}

int fio_engine(const char *path, const char **ret)
{
	static const char *const engines[] = { "io_uring", "libaio" };

	for (size_t i = 0; i < ELEMENTSOF(engines); i++) {
		_cleanup_(strv_freep) char **argv = NULL;
		_cleanup_free_ char *answer = NULL;
		Program p = { .answer_max = ANSWER_MAX, .within_us = PROBE_PATIENCE_US };
		int r = add(&argv, "fio");

		if (r >= 0)
			r = add_file_name(&argv, path);
		if (r >= 0)
			r = add(&argv, "--ioengine=%s", engines[i]);
		for (const char *const *o =
			     (const char *const[]){ "--name=probe", "--readonly", "--rw=randread",
						    "--bs=4k", "--direct=1", "--number_ios=1",
						    NULL };
		     *o && r >= 0; o++)
			r = strv_add(&argv, *o);
		p.argv = (const char *const *)argv;
		if (r >= 0)
			r = spawn_and_read(&p, &answer);
		if (r < 0)
			return r;
		if (r == 0) {
			*ret = engines[i];
			return 0;
		}
	}
	return -EIO;
}

static const char *direction_of(const Point *p)
{
	bool random = p->pattern == RANDOM_IO;

	if (p->read_share >= 1)
		return random ? "randread" : "read";
	if (p->read_share <= 0)
		return random ? "randwrite" : "write";
	return random ? "randrw" : "rw";
}

/* Several jobs would make one another's stream random. */
static unsigned jobs_of(const FioJob *job)
{
	const Point *p = &job->at;

	if (p->pattern != RANDOM_IO || p->chunk_kib > SMALL_KIB)
		return 1;
	return CLAMP(MIN(p->depth / DEPTH_OF_JOB, job->processors), 1U, (unsigned)JOBS_MAX);
}

static int add_shape(char ***v, const FioJob *job)
{
	const Point *p = &job->at;
	unsigned jobs = jobs_of(job);
	int r = add(v, "--rw=%s", direction_of(p));

	if (r >= 0 && p->read_share > 0 && p->read_share < 1)
		r = add(v, "--rwmixread=%.0f", 100 * p->read_share);
	if (r >= 0)
		r = add(v, "--bs=%uk", p->chunk_kib);
	if (r >= 0)
		r = add(v, "--numjobs=%u", jobs);
	if (r >= 0)
		r = add(v, "--iodepth=%u", MAX(p->depth / jobs, 1U));
	if (r >= 0)
		r = add(v, "--runtime=%u", job->most_s);
	if (r >= 0)
		r = add(v, "--ioengine=%s", job->engine);
	/* what a drive can compress away it need not write */
	if (r >= 0)
		r = strv_add(v, p->read_share >= 1 ? "--readonly" : "--refill_buffers");
	return r;
}

int fio_arguments(const FioJob *job, char ***ret)
{
	static const char *const always[] = {
		/* threads end with it, however it ends; processes may write on */
		"--thread=1",
		"--name=storpower",
		"--direct=1",
		"--time_based",
		"--status-interval=1",
		"--eta=never",
		"--output-format=json+",
		"--percentile_list=50",
		"--norandommap",
		"--random_generator=tausworthe64",
		"--group_reporting=1",
	};
	_cleanup_(strv_freep) char **v = NULL;
	int r = strv_add(&v, "fio");

	if (r >= 0)
		r = add_file_name(&v, job->path);
	for (size_t i = 0; i < ELEMENTSOF(always) && r >= 0; i++)
		r = strv_add(&v, always[i]);
	if (r >= 0)
		r = add_shape(&v, job);
	if (r >= 0)
		*ret = TAKE_PTR(v);
	return r;
}
