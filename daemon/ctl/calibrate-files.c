/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "ctl/calibrate-real.h"
#include "ctl/calibrate-record.h"

#define READABLE_BY_ALL 0644

static int write_file(const char *path, const char *text)
{
	int r = write_file_atomic(path, text, READABLE_BY_ALL);

	return r < 0 ? complain(STATUS_FAILURE, "%s: %s", path, strerror(-r)) : STATUS_OK;
}

/* What is written is read again, as the daemon would, before it takes the place of what was there.
 */
static int put_profile(const char *path, const char *text, Profile **ret)
{
	_cleanup_free_ char *new_path = text_printf("%s.new", path);
	int status, r;

	if (!new_path)
		return complain(STATUS_FAILURE, "Out of memory");
	status = write_file(new_path, text);
	if (status)
		return status;
	r = profile_read(new_path, ret);
	if (r >= 0 && rename(new_path, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(new_path);
	if (r == -EINVAL)
		return complain(STATUS_FAILURE,
				"%s is not written: what is wrong with it stands above", path);
	return r < 0 ? complain(STATUS_FAILURE, "%s: %s", path, strerror(-r)) : STATUS_OK;
}

static int export_record(const char *path, const Profile *p, const char *firmware)
{
	_cleanup_free_ char *text = NULL;
	int r = calibrate_export(p, firmware, &text);

	return r < 0 ? complain(STATUS_FAILURE, "%s: %s", path, strerror(-r))
		     : write_file(path, text);
}

static void print_results(const Calibration *c, const Profile *p, const char *path)
{
	printf("%s: %zu points measured, %zu in all", path, c->n_points, p->n_points + p->n_mixes);
	if (!isnan(c->watts_left_out))
		printf("; left out, a point is told by the others to %.1f %% of its watts and %.1f %% "
		       "of its throughput",
		       100 * c->watts_left_out, 100 * c->mb_s_left_out);
	puts("\nPut it into /etc/storpower/profiles to have it used.");
}

int calibrate_write(const Ctl *c, const Calibration *calibration, const char *path)
{
	_cleanup_(profile_freep) Profile *p = NULL;
	_cleanup_free_ char *text = NULL;
	int r = calibrate_profile(calibration, time(NULL), &text), status;

	if (r < 0)
		return complain(STATUS_FAILURE, "%s: %s", path, strerror(-r));
	status = put_profile(path, text, &p);
	if (!status && c->calibrate.export)
		status = export_record(c->calibrate.export, p, calibration->subject.firmware);
	if (!status && p)
		print_results(calibration, p, path);
	return status;
}

int calibrate_import_file(const Ctl *c)
{
	_cleanup_free_ char *record = NULL, *text = NULL;
	_cleanup_(profile_freep) Profile *p = NULL;
	const char *from = c->calibrate.import;
	int r = read_file(from, &record);

	if (c->n_args != 1)
		return complain(STATUS_USAGE, "Usage: storpowerctl calibrate --import=RECORD FILE");
	if (r >= 0)
		r = calibrate_import(record, &text);
	if (r == -EBADMSG || r == -ENOTUNIQ)
		return complain(STATUS_FAILURE, "%s holds %s record of a drive's power", from,
				r == -EBADMSG ? "no" : "more than one");
	if (r < 0)
		return complain(STATUS_FAILURE, "%s: %s", from, strerror(-r));
	return put_profile(c->args[0], text, &p);
}
