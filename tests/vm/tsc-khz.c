/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

/* Prints the frequency of this machine's time stamp counter, which an emulated processor shows as
 * its own. A guest that measures it itself on a busy machine gets it wrong, and its clock with it:
 * a clock five times too fast was seen. The kernel takes it as tsc_early_khz=. */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The pair whose reading took the least time, so that no interruption lay between. */
static void sample(int64_t *ret_ns, uint64_t *ret_ticks)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 100; i++) {
		int64_t before = now_ns();
		uint64_t ticks = __rdtsc();
		int64_t took = now_ns() - before;

		if (took < best) {
			best = took;
			*ret_ns = before + took / 2;
			*ret_ticks = ticks;
		}
	}
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = 100000000 };
	int64_t ns[2];
	uint64_t ticks[2];

	sample(&ns[0], &ticks[0]);
	nanosleep(&wait, NULL);
	sample(&ns[1], &ticks[1]);
	printf("%.0f\n", (double)(ticks[1] - ticks[0]) * 1e6 / (double)(ns[1] - ns[0]));
	return 0;
}
