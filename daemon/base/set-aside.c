/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/set-aside.h"

#include <errno.h>
#include <stdio.h>

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
