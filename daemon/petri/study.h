/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The devices of Borba, Tavares and Maciel, "Analytical models for performance and energy
 * consumption evaluation of storage devices": an HDD of 1 TB and an SSD of 120 GB, alone and as a
 * hybrid. */

#include "petri/tier.h"

#define STUDY_THINK_S    1e-6 /* a request sets out */
#define STUDY_TRANSFER_S 9e-6 /* inferred from the study's figures, which do not print it */

typedef enum StudyDrive { STUDY_HDD, STUDY_SSD, _STUDY_DRIVE_MAX } StudyDrive;

/* One row of its table. */
typedef struct StudyOperation {
	double mean_ms, deviation_ms, energy_j;
} StudyOperation;

/* Shares of the requests, 0..1: κ write, α random, β small (4 KiB, else 1 MiB). */
typedef struct StudyMix {
	double write, random, small;
} StudyMix;

const StudyOperation *study_operation(StudyDrive drive, bool write, bool random, bool small);

/* So many SSDs behind one queue, which get ssd_share of the requests, and so many HDDs behind
 * another. One device: one of the numbers is 1, the other 0; then the share does not matter.
 * -EINVAL: no device, or a share outside 0..1. */
int study_tier(unsigned requests, const StudyMix *mix, unsigned n_ssd, unsigned n_hdd,
	       double ssd_share, Tier *ret);
