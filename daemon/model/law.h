/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive gives and draws, by a law with few constants. An IO takes a time of its own, and the
 * drive so long for it that no other is served meanwhile: the time of an IO or that of its bytes,
 * whichever is longer. Each IO and each byte takes its energy (facts/studies.md: the devices' watts
 * are idle watts and the joules of what they serve). Where that would be more than a power state
 * allows, less is served. Pure. */

#include <stddef.h>

typedef struct LawPlace {
	double depth, kib;
	size_t stream, state; /* which of a fit's; the state 0 is the highest */
} LawPlace;

/* All constants are natural logarithms: of seconds, joules and watts, or of ratios. */
enum {
	/* of a stream: a direction and a pattern, or a mix */
	LAW_WAIT_S, /* of an IO, while others are served */
	LAW_ALONE,  /* how much longer an IO by itself is served than one of many; ratio */
	LAW_IO_S,   /* at least so long an IO keeps the drive busy, */
	LAW_KIB_S,  /* and so long a KiB */
	LAW_IO_J,   /* energies */
	LAW_KIB_J,
	LAW_OF_STREAM,
	/* of a power state */
	LAW_CAP_W = LAW_OF_STREAM, /* above idle */
	LAW_SLOWER,                /* all times; ratio */
	LAW_DEARER,                /* all energies; ratio */
	LAW_WITH_STATE,
	/* of the drive: how sharp its bends are */
	LAW_BEND_DEPTH = LAW_WITH_STATE,
	LAW_BEND_SIZE,
	LAW_BEND_CAP,
	LAW_CAP_WITHIN, /* by how much the cap makes each IO longer, not the pauses between them;
			   ratio */
	LAW_CONSTANTS
};

typedef struct LawAnswer {
	double mb_s, watts; /* logarithms; watts above idle */
	double saturated;   /* logarithm: so many times the depth that saturates the drive */
} LawAnswer;

/* The constants of the place's stream and state. */
LawAnswer law_answer(const LawPlace *p, const double constants[LAW_CONSTANTS]);
