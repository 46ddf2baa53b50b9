/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a claim did while it was the limit in force: what a demand-response programme settles on.
 * The baseline is what would have been drawn without the limit. Figures that make no sense are NAN.
 */

#include "ctl/report.h"

typedef struct ClaimRecord {
	uint64_t cookie;
	int64_t created_s, first_s, last_s; /* asked for; in force from, to */
	char *reason, *source, *scope, *class;
	Amounts sum;
	unsigned step_s;    /* what is known of its time is known by so many seconds */
	int64_t run_us;     /* of the overload that is not over yet */
	int64_t longest_us; /* of the longest */
	int64_t next_s;     /* at which the run goes on */
} ClaimRecord;

typedef struct ClaimFigures {
	double limited_s, compliant_s, compliance; /* the share of the time in force */
	double above_s, longest_s;
	double baseline_w, mean_w, budget_w;
	double asked_w, delivered_w, delivered; /* the share of what was asked */
	double not_drawn_j, error_j, shortfall_w;
	double lost_bytes, lost, lost_mb_s;
} ClaimFigures;

/* Adds what was counted from time_s on; in order. */
void claim_record_add(ClaimRecord *record, int64_t time_s, const Amounts *sum);
void claim_record_figures(const ClaimRecord *record, ClaimFigures *ret);
void claim_record_clear(ClaimRecord *record);

/* report-claim-print.c. Return an exit status. */
int claim_print(const Ctl *c, const ClaimRecord *record);
int claim_json(const Ctl *c, const ClaimRecord *record);
int claim_csv(const ClaimRecord *record);
