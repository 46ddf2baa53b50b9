/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/spawn.h"
#include "ctl/ctl.h"

#define ANSWER_MAX 4096
#define WITHIN_US  (60 * USEC_PER_SEC)

struct Plot {
	const char *file;
	char *path; /* of the script */
	FILE *script;
};

/* The terminal of gnuplot for a file's ending; NULL: none. */
static const char *terminal_for(const char *file)
{
	const char *dot = strrchr(file, '.');

	if (dot && streq(dot, ".svg"))
		return "svg size 900,600 background 'white'";
	return dot && streq(dot, ".png") ? "png size 900,600" : NULL;
}

static void plot_free(Plot *p)
{
	if (p->script)
		fclose(p->script);
	if (p->path)
		unlink(p->path);
	free(p->path);
	free(p);
}

static int open_script(Plot *p)
{
	int fd;

	p->path = text_printf("%s/storpowerctl-XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!p->path)
		return -ENOMEM;
	fd = mkostemp(p->path, O_CLOEXEC);
	if (fd < 0) {
		free(TAKE_PTR(p->path));
		return -errno;
	}
	p->script = fdopen(fd, "w");
	if (p->script)
		return 0;
	close(fd);
	return -ENOMEM;
}

void plot_quote(const Plot *p, const char *text)
{
	fputc('\'', p->script);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', p->script);
		fputc(*text, p->script);
	}
	fputc('\'', p->script);
}

int plot_begin(const char *file, Plot **ret)
{
	const char *terminal = terminal_for(file);
	Plot *p;
	int r;

	if (!terminal)
		return complain(STATUS_USAGE,
				"--plot=%s: a name that ends in .svg or .png would "
				"be right",
				file);
	p = calloc(1, sizeof(*p));
	r = p ? open_script(p) : -ENOMEM;
	if (r < 0) {
		if (p)
			plot_free(p);
		return complain(STATUS_FAILURE, "The script for gnuplot cannot be written: %s",
				strerror(-r));
	}
	p->file = file;
	fprintf(p->script, "set terminal %s noenhanced\nset output ", terminal);
	plot_quote(p, file);
	fputc('\n', p->script);
	*ret = p;
	return STATUS_OK;
}

FILE *plot_script(const Plot *p)
{
	return p->script;
}

static int judge(const char *file, int r, const char *answer)
{
	if (r == -ENOENT)
		return complain(STATUS_FAILURE,
				"gnuplot is not installed, and draws %s: install the package "
				"gnuplot-nox (Debian) or gnuplot (Fedora)",
				file);
	if (r < 0)
		return complain(STATUS_FAILURE, "%s: gnuplot cannot be run: %s", file,
				strerror(-r));
	if (r > 0)
		return complain(STATUS_FAILURE, "%s cannot be drawn: gnuplot says:%s%s", file,
				*answer == '\n' ? "" : "\n", answer);
	return STATUS_OK;
}

int plot_end(Plot *p)
{
	const char *const argv[] = { "gnuplot", p->path, NULL };
	const Program program = {
		.argv = argv, .with_errors = true, .answer_max = ANSWER_MAX, .within_us = WITHIN_US
	};
	_cleanup_free_ char *answer = NULL;
	int r = fflush(p->script) ? -errno : spawn_and_read(&program, &answer);
	int status = judge(p->file, r, answer ?: "");

	plot_free(p);
	return status;
}
