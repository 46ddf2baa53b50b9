/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#define USEC_PER_MSEC 1000ULL
#define USEC_PER_SEC  1000000ULL
#define USEC_NEVER    UINT64_MAX

/* Time as the daemon sees it. All decisions use µs of CLOCK_BOOTTIME, which counts through suspend
 * and never jumps; tests put a virtual clock behind the same two calls. */
typedef struct Clock {
	uint64_t (*now_us)(void *userdata);
	void (*sleep_us)(void *userdata, uint64_t us);
	void *userdata;
} Clock;

static inline uint64_t clock_now_us(const Clock *c)
{
	return c->now_us(c->userdata);
}

static inline void clock_sleep_us(const Clock *c, uint64_t us)
{
	c->sleep_us(c->userdata, us);
}

/* The real clock. */
extern const Clock clock_boottime;

uint64_t realtime_us(void);

/* 36 characters and a NUL. Returns -errno when /proc is not mounted. */
int read_boot_id(char ret[37]);
