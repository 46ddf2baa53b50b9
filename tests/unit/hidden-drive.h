/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A drive whose truth is known to the test alone: an IO takes a time of its own and one for its
 * bytes, the drive saturates in IOs and in bytes a second, and where it would draw more than its
 * power state allows it serves less. */

#include <math.h>

#include "base/cleanup.h"
#include "base/splitmix.h"
#include "model/profile.h"

#define HIDDEN_IDLE_W 5.2

typedef struct HiddenStream {
	double wait_us, mb_s_one; /* one IO alone: its wait, and the rate of its bytes */
	double iops, mb_s;        /* at most */
	double io_j, byte_j;
} HiddenStream;

static const HiddenStream hidden_streams[_DIRECTION_MAX][_PATTERN_MAX] = {
	[READ_IO] = { { 78, 2800, 980e3, 6700, 4.8e-6, 0.85e-9 },
		      { 21, 3300, 1.1e6, 6900, 3.4e-6, 0.82e-9 } },
	[WRITE_IO] = { { 14, 1900, 210e3, 2100, 11e-6, 2.9e-9 },
		       { 13, 2400, 600e3, 4100, 4.0e-6, 2.1e-9 } },
};

static const double hidden_state_w[] = { 25, 12, 9.5, 7.5 };

typedef struct HiddenTruth {
	double mb_s, watts, p99_us;
} HiddenTruth;

static inline HiddenTruth hidden_pure(const HiddenStream *s, double depth, double kib)
{
	double bytes = kib * 1024, alone_s = s->wait_us * 1e-6 + bytes / (s->mb_s_one * 1e6);
	double asked = depth / alone_s, most = 1 / (1 / s->iops + bytes / (s->mb_s * 1e6));
	double iops = asked / pow(1 + pow(asked / most, 4), 0.25);

	return (HiddenTruth){ iops * bytes / 1e6,
			      HIDDEN_IDLE_W + iops * (s->io_j + bytes * s->byte_j),
			      2.2e6 * depth / iops };
}

/* A mix costs a fifth of its throughput, and of it some wait longer for the others. */
static inline HiddenTruth hidden_truth(const Point *p)
{
	HiddenTruth r = hidden_pure(&hidden_streams[READ_IO][p->pattern], p->depth, p->chunk_kib),
		    w = hidden_pure(&hidden_streams[WRITE_IO][p->pattern], p->depth, p->chunk_kib),
		    t;
	double reads = p->read_share, allowed_w = hidden_state_w[p->power_state], served;

	t.mb_s = (1 - 0.8 * reads * (1 - reads)) / (reads / r.mb_s + (1 - reads) / w.mb_s);
	t.watts = HIDDEN_IDLE_W + t.mb_s * (reads * (r.watts - HIDDEN_IDLE_W) / r.mb_s +
					    (1 - reads) * (w.watts - HIDDEN_IDLE_W) / w.mb_s);
	served = fmin(1, (allowed_w - HIDDEN_IDLE_W) / (t.watts - HIDDEN_IDLE_W));
	t.mb_s *= served;
	t.watts = fmin(t.watts, allowed_w);
	t.p99_us = (2.2e6 + 3e6 * reads * (1 - reads)) * p->depth /
		   (t.mb_s * 1e6 / (p->chunk_kib * 1024.0));
	return t;
}

static inline double hidden_uniform(uint64_t *chance)
{
	*chance += SPLITMIX_STEP;
	return (double)(splitmix(*chance) >> 11) * 0x1p-53;
}

/* Box and Muller. */
static inline double hidden_normal(uint64_t *chance)
{
	double r = sqrt(-2 * log(1 - hidden_uniform(chance)));

	return r * cos(2 * M_PI * hidden_uniform(chance));
}
