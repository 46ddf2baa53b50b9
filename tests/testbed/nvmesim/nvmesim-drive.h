/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a simulated drive can do and draws. */

#include <stdbool.h>
#include <stdint.h>

#define DRIVE_STATES_MAX 32 /* NVMe base specification: 32 power state descriptors */

enum { READS, WRITES, DIRECTIONS };

typedef struct DriveState {
	double max_w;
	bool non_operational;
	uint32_t entry_us, exit_us;
	double mb_s[DIRECTIONS]; /* ceiling; in a drive file, 0 takes over the state before */
	double latency_us[DIRECTIONS];
} DriveState;

typedef struct Drive {
	char name[32];
	char model[41];
	DriveState states[DRIVE_STATES_MAX];
	unsigned n_states;
	double idle_w;               /* awake, no IO */
	double limit_min_w;          /* the least that feature 23h takes */
	unsigned units;              /* IOs worked on at once */
	double deviation;            /* standard deviation of latencies, relative to their mean */
	double io_j[DIRECTIONS];     /* above idle, of each IO ... */
	double page_j[DIRECTIONS];   /* ... and of each 4 KiB of it */
	double max_iops[DIRECTIONS]; /* 0: only latency and units bound them */
} Drive;

/* A name of the built-in table, or the path of a drive file (one with a slash). Complaints are
 * logged; -ENOENT for an unknown name. */
int drive_load(const char *name_or_path, Drive *ret);

/* Makes the drive slower in every respect by 0 < scale <= 1 while its watts stay: rates times
 * scale, latencies and joules divided by it. So an emulated processor keeps up, and how depth,
 * chunk and power hang together stays as it was. */
void drive_scale(Drive *d, double scale);

/* The lowest power of an operational state, and the highest. */
double drive_lowest_w(const Drive *d);
double drive_rated_w(const Drive *d);
