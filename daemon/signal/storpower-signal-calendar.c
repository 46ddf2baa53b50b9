/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits by a calendar: claims of class "schedule" while its windows are open. */

#include "signal/calendar.h"
#include "signal/follow.h"

static int want(void *userdata, time_t now, Wishes *ret, time_t *ret_again)
{
	return calendar_wishes(userdata, now, ret, ret_again);
}

static int start(const SignalHost *host, void *config, const void *before, void **ret)
{
	(void)before;
	return follow_new(host, want, config, (Follow **)ret);
}

static void stop(void *state)
{
	follow_free(state);
}

static int read_config(const char *path, void **ret, size_t *ret_warnings)
{
	return calendar_read(path, (Calendar **)ret, ret_warnings);
}

static void free_config(void *config)
{
	calendar_free(config);
}

int main(int argc, char **argv)
{
	static const Signal calendar = {
		.name = "calendar",
		.source = "calendar",
		.about = "Limits the power of this node's storage by a calendar.",
		.read = read_config,
		.free_config = free_config,
		.start = start,
		.stop = stop,
	};

	return signal_main(&calendar, argc, argv);
}
