/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "ctl/calibrate.h"

/* "[#####-----] 42 of 120, 13min left, ps 1 depth 16 ..."; without a terminal a line a point. */
typedef struct ProgressBar {
	const Calibration *calibration;
	bool terminal;
	size_t width;
} ProgressBar;

void progress_tell(const CalibrateProgress *p, void *bar);
/* The line of a point, without its end. */
char *progress_line(char *buf, size_t size, const ProgressBar *bar, const CalibrateProgress *p);
void progress_end(const ProgressBar *bar);
