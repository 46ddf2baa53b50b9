/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl metrics: to standard output, or into a file that node_exporter's textfile collector
 * reads while another is written. */

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "ctl/ctl-metrics.h"
#include "ctl/words.h"

/* Who scrapes every 15 s wants to know within that time that the daemon hangs. */
#define PATIENCE_US (5 * USEC_PER_SEC)

void metrics_write(Exposition *e, const Figures *f)
{
	metrics_write_node(e, f);
	if (f->state) {
		metrics_write_devices(e, f);
		metrics_write_units(e, f);
	}
	exposition_end(e);
}

static void figures_done(Figures *f)
{
	json_object_put(f->state);
	json_object_put(f->devices);
	json_object_put(f->planned);
}

/* The floors are of a plan, which only a limit needs. */
static void get_planned(Ctl *c, Figures *f)
{
	_cleanup_json_ json_object *plan = NULL;

	if (json_true(f->state, "Enforcing") &&
	    ctl_try_plan(c, &(PlanAsked){ .value = 100, .unit = "%" }, NULL, &plan) >= 0)
		f->planned = json_object_get(json_member(plan, "Devices"));
}

/* All or nothing. A call would start a daemon that somebody has stopped: it is asked for first. */
static int get_figures(Ctl *c, Figures *ret)
{
	_cleanup_(figures_done) Figures f = {};
	int status = ctl_need_running(c);

	if (!status)
		status = ctl_get_state(c, &f.state);
	if (!status)
		status = ctl_get_devices(c, &f.devices);
	if (status)
		return status;
	fold_sort(f.devices);
	get_planned(c, &f);
	*ret = f;
	f = (Figures){};
	return STATUS_OK;
}

static int write_file(const char *path, const char *text)
{
	int r;

	/* who collects it is another user */
	umask(S_IWGRP | S_IWOTH);
	r = write_file_atomic(path, text, 0644);
	return r < 0 ? complain(STATUS_FAILURE,
				"%s cannot be written: %s: is its directory there, and yours?",
				path, strerror(-r))
		     : STATUS_OK;
}

static int put_out(const char *path, const char *text)
{
	if (path)
		return write_file(path, text);
	if (fputs(text, stdout) < 0 || fflush(stdout) < 0)
		return complain(STATUS_FAILURE, "Standard output cannot be written");
	return STATUS_OK;
}

static int parse_format(const Ctl *c, bool *ret_openmetrics)
{
	const char *format = c->format ?: "prometheus";

	if (c->json)
		return complain(STATUS_USAGE, "metrics takes no --json: the same figures are in "
					      "storpowerctl status --json and list --json");
	if (!streq(format, "openmetrics") && !streq(format, "prometheus"))
		return complain(STATUS_USAGE,
				"--format=%s: prometheus or openmetrics would be right", format);
	*ret_openmetrics = streq(format, "openmetrics");
	return STATUS_OK;
}

static int print_figures(const Ctl *c, const Figures *f, bool openmetrics)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	Exposition e = { .to = open_memstream(&text, &size), .openmetrics = openmetrics };
	bool failed;

	if (!e.to)
		return complain(STATUS_FAILURE, "Out of memory");
	metrics_write(&e, f);
	failed = ferror(e.to);
	if (fclose(e.to) || failed)
		return complain(STATUS_FAILURE, "Out of memory");
	return put_out(c->output, text);
}

int verb_metrics(Ctl *c)
{
	_cleanup_(figures_done) Figures f = {};
	bool openmetrics = false;
	int status = parse_format(c, &openmetrics), written;

	if (status)
		return status;
	c->patience_us = PATIENCE_US;
	status = get_figures(c, &f);
	if (status == STATUS_USAGE)
		return status;
	written = print_figures(c, &f, openmetrics);
	return status ?: written;
}
