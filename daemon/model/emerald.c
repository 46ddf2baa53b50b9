/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/emerald.h"

const char *emerald_key(EmeraldLoad l)
{
	static const char *const names[_EMERALD_MAX] = {
		[EMERALD_HOT_BAND] = "hot_band_iops_w",
		[EMERALD_RANDOM_READ] = "random_read_iops_w",
		[EMERALD_RANDOM_WRITE] = "random_write_iops_w",
		[EMERALD_SEQUENTIAL_READ] = "sequential_read_mb_s_w",
		[EMERALD_SEQUENTIAL_WRITE] = "sequential_write_mb_s_w",
	};

	return names[l];
}

const char *emerald_chunk_key(EmeraldLoad l)
{
	static const char *const names[_EMERALD_MAX] = {
		[EMERALD_HOT_BAND] = "hot_band_chunk",
		[EMERALD_RANDOM_READ] = "random_read_chunk",
		[EMERALD_RANDOM_WRITE] = "random_write_chunk",
		[EMERALD_SEQUENTIAL_READ] = "sequential_read_chunk",
		[EMERALD_SEQUENTIAL_WRITE] = "sequential_write_chunk",
	};

	return names[l];
}
