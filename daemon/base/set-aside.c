/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/set-aside.h"

#include <errno.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

int set_aside(const char *path, const char *going_on)
{
	_cleanup_free_ char *aside = text_printf("%s.damaged", path);

	if (!aside || rename(path, aside) < 0)
		return log_error_errno(errno, "%s cannot be moved aside", path);
	log_error("%s cannot be understood: moved to %s, %s", path, aside, going_on);
	return 0;
}

int set_aside_copy(const char *path, const char *found, size_t n)
{
	_cleanup_free_ char *aside = text_printf("%s.damaged", path);
	int r = aside ? write_bytes_atomic(aside, found, n, 0600) : -ENOMEM;

	if (r < 0)
		return log_warning_errno(r, "%s: the damaged file cannot be kept as %s.damaged",
					 path, path);
	log_warning("%s: the damaged file is kept as %s; what is whole in it is used", path, aside);
	return 0;
}
