/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* power.conf: feeds of power, what hangs on them, and the limits while they fail. */

#include "base/text.h"
#include "signal/feed.h"
#include "signal/nut-address.h"

typedef enum FeedKind { FEED_UPS, FEED_SUPPLY, FEED_ALARM } FeedKind;

typedef struct Feed {
	FeedKind kind;
	char *name;
	bool limited; /* the limit was given */
	double limit;
	LimitUnit unit;
	char **rails;       /* what it feeds; NULL: the node */
	NutAddress address; /* of a UPS */
	char *chip;         /* of an alarm */
	char **alarms;      /* its files, as globs; NULL: every alarm */
} Feed;

typedef struct Rail {
	char *name, *group;
	char **devices;
} Rail;

typedef struct PowerConfig {
	FeedRules rules;
	uint64_t poll_us;
	Feed *feeds;
	size_t n_feeds;
	Rail *rails;
	size_t n_rails;
} PowerConfig;

/* As the other configurations of signals; what is incomplete is left out and counted as well. */
int power_config_read(const char *path, PowerConfig **ret, size_t *ret_warnings);
int power_config_read_text(const char *path, const char *text, PowerConfig **ret,
			   size_t *ret_warnings);
PowerConfig *power_config_free(PowerConfig *c); /* returns NULL */
DEFINE_CLEANUP(PowerConfig *, power_config_free);

const Rail *power_config_rail(const PowerConfig *c, const char *name); /* NULL */
const char *feed_kind_name(FeedKind k); /* "ups", "supply", "alarm" */
void feed_done(Feed *f);

/* power-check.c: Has it all that is needed? Otherwise that is logged. */
bool feed_is_complete(const PowerConfig *c, const Feed *f);
