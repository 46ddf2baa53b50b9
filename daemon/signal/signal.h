/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the programs storpower-signal-* share: the command line, the event loop, reload and end. */

#include <systemd/sd-event.h>

#include "signal/holder.h"

/* What a source works with. */
typedef struct SignalHost {
	sd_event *event;
	Holder *holder;
	const char *sysfs; /* "/sys" */
} SignalHost;

/* A source of wishes. */
typedef struct Signal {
	const char *name;   /* "calendar": of storpower-signal-calendar and its calendar.conf */
	const char *source; /* of its claims, for people: "calendar" */
	const char *about;  /* a sentence, for --help */
	/* Reads the configuration. Complains, with file and line, of each line that cannot be used,
	 * leaves it out and counts it. Other errors are returned and not logged. */
	int (*read)(const char *path, void **ret_config, size_t *ret_warnings);
	void (*free_config)(void *config);
	/* Goes on by this configuration from now on, which stays the caller's and valid until
	 * stop(). It calls holder_hold() with what is wanted, at once and whenever that changes.
	 * before: the state by another configuration, which goes now, and what it knows may be
	 * taken over; NULL at first. */
	int (*start)(const SignalHost *host, void *config, const void *before, void **ret_state);
	void (*stop)(void *state);
} Signal;

/* The exit status. */
int signal_main(const Signal *s, int argc, char **argv);
