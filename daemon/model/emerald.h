/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The figures of SNIA's Emerald Power Efficiency Measurement Specification. Nothing is planned with
 * them: they are for comparing drives. */

typedef enum EmeraldLoad {
	EMERALD_HOT_BAND, /* at random, 70 % of it reads; IOs of 8 KiB */
	EMERALD_RANDOM_READ,
	EMERALD_RANDOM_WRITE,
	EMERALD_SEQUENTIAL_READ, /* IOs of 256 KiB */
	EMERALD_SEQUENTIAL_WRITE,
	_EMERALD_MAX,
} EmeraldLoad;

/* All 0 where they were not measured. */
typedef struct Emerald {
	double ready_idle_gb_w;     /* GB of capacity, 10^9 bytes, of a watt without IO */
	double per_w[_EMERALD_MAX]; /* of a watt drawn: IOs a second at random, MB/s else */
	double kib[_EMERALD_MAX];   /* of the IOs that were measured, the nearest in size */
} Emerald;

/* Of a profile's section: "hot_band_iops_w" and "hot_band_chunk". */
const char *emerald_key(EmeraldLoad l);
const char *emerald_chunk_key(EmeraldLoad l);
