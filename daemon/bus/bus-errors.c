/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

/* Root may, and the user who runs the daemon, who may be a plain user on a private bus. */
bool bus_may_change(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

int bus_check_sender(sd_bus_message *m, sd_bus_error *error)
{
	_cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
	uid_t uid;
	int r = sd_bus_query_sender_creds(m, SD_BUS_CREDS_EUID, &creds);

	if (r >= 0)
		r = sd_bus_creds_get_euid(creds, &uid);
	if (r < 0)
		return sd_bus_error_setf(error, BUS_ERROR_NOT_AUTHORIZED,
					 "%s: cannot tell who is calling: %s",
					 sd_bus_message_get_member(m), strerror(-r));
	if (bus_may_change(uid))
		return 0;
	return sd_bus_error_setf(error, BUS_ERROR_NOT_AUTHORIZED,
				 "%s is for root alone, you are uid %u: try sudo",
				 sd_bus_message_get_member(m), (unsigned)uid);
}

/* bus-turns.c bounds the time that answers take, but not that of what is answered later, such as
 * plans, nor what the devices are asked for an answer. Those who may change something are exempt:
 * they can stop the daemon, so that a limit would protect nobody from them, and a service that
 * plans for a power budget is one of them. */
int bus_charge(Bus *b, sd_bus_message *m, double tokens, sd_bus_error *error)
{
	uid_t uid = bus_turns_uid(b->turns, m);
	uint64_t in_us = bus_may_change(uid) ? 0
					     : buckets_take(&b->buckets, uid, tokens,
							    clock_now_us(&b->config.clock));

	if (!in_us)
		return 0;
	return sd_bus_error_setf(
		error, BUS_ERROR_TOO_OFTEN,
		"%s: uid %u asks too often for what is costly: come again in %.1f s",
		sd_bus_message_get_member(m), (unsigned)uid,
		ceil((double)in_us / USEC_PER_SEC * 10) / 10);
}

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
