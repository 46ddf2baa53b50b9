/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Between the files of the holder: the messages to storpowerd. */

#include <stdint.h>

#include "base/bus-connect.h"
#include "signal/wish.h"

#define BUS_NAME "org.storpower1"

/* Calls without starting the daemon. */
int message_set_budget(sd_bus *bus, const Wish *w, const char *source, sd_bus_message **ret);
int message_update(sd_bus *bus, const Wish *w, uint64_t cookie, sd_bus_message **ret);
int message_release(sd_bus *bus, uint64_t cookie, sd_bus_message **ret);

/* What an answer means for a claim. */
typedef enum Answer {
	ANSWER_DONE,
	ANSWER_NO_CLAIM,  /* it has ended */
	ANSWER_NO_DAEMON, /* nobody has answered */
	ANSWER_REFUSED,
} Answer;

Answer answer_of(sd_bus_message *reply);
