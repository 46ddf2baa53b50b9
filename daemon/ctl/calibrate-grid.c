/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings that a calibration chooses from. */

#include <errno.h>
#include <string.h>

#include "ctl/calibrate-grid.h"
#include "model/surface.h" /* a profile's tables have axes of AXIS_MAX */

#define DEPTH_MAX 1024 /* as many as an NVMe queue commonly holds */
#define CHUNK_MAX (4 * 1024 * 1024)

static int parse_depth(const char *text, unsigned *ret)
{
	unsigned long v;
	int r = parse_unsigned(text, DEPTH_MAX, &v);

	*ret = r < 0 ? 0 : (unsigned)v;
	return r < 0 || v == 0 ? -EINVAL : 0;
}

static int parse_chunk(const char *text, unsigned *ret_kib)
{
	uint64_t bytes;
	int r = parse_bytes(text, &bytes);

	if (r < 0 || bytes == 0 || bytes > CHUNK_MAX || bytes % 1024 != 0)
		return -EINVAL;
	*ret_kib = (unsigned)(bytes / 1024);
	return 0;
}

static int parse_axis(const char *text, int (*parse)(const char *, unsigned *), unsigned *axis,
		      size_t *ret_n)
{
	_cleanup_(strv_freep) char **words = strv_split(text);
	size_t n = 0;

	if (!words)
		return -ENOMEM;
	for (; words[n]; n++)
		if (n == AXIS_MAX || parse(words[n], &axis[n]) < 0 ||
		    (n > 0 && axis[n] <= axis[n - 1]))
			return -EINVAL;
	*ret_n = n;
	return n > 0 ? 0 : -EINVAL;
}

static void fill_depths(DesignGrid *g, DeviceKind kind)
{
	static const unsigned flash[] = { 1, 2, 4, 8, 16, 32, 64, 128 }, disk[] = { 1, 4, 16, 32 };
	const unsigned *depths = kind == KIND_HDD ? disk : flash;

	g->n_depths = kind == KIND_HDD ? ELEMENTSOF(disk) : ELEMENTSOF(flash);
	memcpy(g->depths, depths, g->n_depths * sizeof(*depths));
}

static void fill_chunks(DesignGrid *g)
{
	static const unsigned chunks[] = { 4, 16, 64, 128, 256, 1024 };

	g->n_chunks = ELEMENTSOF(chunks);
	memcpy(g->chunks_kib, chunks, sizeof(chunks));
}

static void fill_streams(DesignGrid *g, bool writes)
{
	static const DesignStream streams[] = { { 1, RANDOM_IO },
						{ 1, SEQUENTIAL_IO },
						{ 0, RANDOM_IO },
						{ 0, SEQUENTIAL_IO },
						{ 0.7, RANDOM_IO } };

	g->n_streams = writes ? ELEMENTSOF(streams) : 2;
	memcpy(g->streams, streams, g->n_streams * sizeof(*streams));
}

void calibrate_grid_fill(DeviceKind kind, bool writes, DesignGrid *g)
{
	if (g->n_depths == 0)
		fill_depths(g, kind);
	if (g->n_chunks == 0)
		fill_chunks(g);
	fill_streams(g, writes);
}

int calibrate_grid_parse(const CalibrateOptions *o, DesignGrid *g)
{
	if (o->depths && parse_axis(o->depths, parse_depth, g->depths, &g->n_depths) < 0)
		return complain(STATUS_USAGE,
				"--depths=%s: rising numbers of IOs such as 1,8,64, at most %d of "
				"them up to %d, would be right",
				o->depths, AXIS_MAX, DEPTH_MAX);
	if (o->chunks && parse_axis(o->chunks, parse_chunk, g->chunks_kib, &g->n_chunks) < 0)
		return complain(STATUS_USAGE,
				"--chunks=%s: rising sizes of IOs such as 4K,64K,1M, at most %d of "
				"them up to 4M, would be right",
				o->chunks, AXIS_MAX);
	return STATUS_OK;
}
