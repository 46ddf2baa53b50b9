/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/calibrate-progress.h"

#include <math.h>
#include <string.h>

#include "ctl/words.h"

#define BAR 20

static void point_text(char *buf, size_t size, const CalibratePoint *p)
{
	snprintf(buf, size, "ps %d, depth %u, %u KiB %s %s: %.1f MB/s, %.2f W%s", p->at.power_state,
		 p->at.depth, p->at.chunk_kib, p->at.pattern == RANDOM_IO ? "random" : "sequential",
		 p->at.read_share >= 1   ? "reads"
		 : p->at.read_share <= 0 ? "writes"
					 : "mix",
		 p->at.mb_s, p->at.watts, p->settled ? "" : ", not settled");
}

char *progress_line(char *buf, size_t size, const ProgressBar *bar, const CalibrateProgress *p)
{
	char point[160] = "", left[64] = "", hashes[BAR + 1] = "";
	size_t done = p->most > 0 ? BAR * p->done / p->most : 0;

	if (!p->point) {
		snprintf(buf, size, "It idles at %.2f W", bar->calibration->idle_w);
		return buf;
	}
	point_text(point, sizeof(point), p->point);
	if (!isnan(p->left_s)) {
		char span[48];

		snprintf(left, sizeof(left), ", at most %s left",
			 words_span(span, sizeof(span), p->left_s));
	}
	memset(hashes, '-', BAR);
	memset(hashes, '#', MIN(done, (size_t)BAR));
	if (bar->terminal)
		snprintf(buf, size, "[%s] %zu of %zu%s  %s", hashes, p->done, p->most, left, point);
	else
		snprintf(buf, size, "%zu of %zu%s: %s", p->done, p->most, left, point);
	return buf;
}

void progress_tell(const CalibrateProgress *p, void *userdata)
{
	const ProgressBar *bar = userdata;
	char line[320];

	progress_line(line, sizeof(line), bar, p);
	if (bar->terminal)
		printf("\r\033[K%.*s", (int)MIN(bar->width - 1, sizeof(line)), line);
	else
		puts(line);
	fflush(stdout);
}

void progress_end(const ProgressBar *bar)
{
	if (bar->terminal)
		putchar('\n');
}
