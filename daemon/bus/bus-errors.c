/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

int bus_manager_error(sd_bus_error *error, int r, const char *text, const char *invalid,
		      const char *missing)
{
	_cleanup_free_ char *shown = printable_copy(text ?: strerror(-r));
	const char *name = BUS_ERROR_FAILED;

	if (r == -ENOMEM || !shown)
		return sd_bus_error_set_errno(error, -ENOMEM);
	if (r == -EINVAL || r == -ERANGE)
		name = invalid;
	else if (r == -ENOENT)
		name = missing;
	else if (r == -EACCES)
		name = BUS_ERROR_NOT_AUTHORIZED;
	else if (r == -EBUSY || r == -EPERM)
		name = BUS_ERROR_REFUSED;
	else if (r == -E2BIG)
		name = BUS_ERROR_TOO_MANY_CLAIMS;
	return sd_bus_error_setf(error, name, "%s", shown);
}
