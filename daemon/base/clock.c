/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"

static uint64_t read_clock_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * USEC_PER_SEC + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t boottime_now_us(void *userdata)
{
	(void)userdata;
	return read_clock_us(CLOCK_BOOTTIME);
}

static void boottime_sleep_us(void *userdata, uint64_t us)
{
	struct timespec t = { .tv_sec = (time_t)(us / USEC_PER_SEC),
			      .tv_nsec = (long)(us % USEC_PER_SEC) * 1000 };

	(void)userdata;
	while (clock_nanosleep(CLOCK_BOOTTIME, 0, &t, &t) == EINTR)
		;
}

const Clock clock_boottime = { .now_us = boottime_now_us, .sleep_us = boottime_sleep_us };

uint64_t realtime_us(void)
{
	return read_clock_us(CLOCK_REALTIME);
}

int read_boot_id(char ret[37])
{
	_cleanup_fclose_ FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[37];

	if (!f)
		return -errno;
	if (!fgets(line, sizeof(line), f) || strlen(line) != 36)
		return -EBADMSG;
	memcpy(ret, line, sizeof(line));
	return 0;
}
