/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The file of the claims. What changes is appended, so that a claim costs no more beside thousands
 * of others; now and then the file is written anew. */

#include "budget/claim.h"

typedef struct ClaimsStore {
	bool current;      /* the file holds all claims but for those named in `changed` */
	uint64_t *changed; /* cookies of claims that have come or ended */
	size_t n_changed;
	size_t n_appended; /* since it was written anew */
} ClaimsStore;

void claims_store_done(ClaimsStore *s);
void claims_store_note(ClaimsStore *s, uint64_t cookie);
/* When this returns 0, all claims are on disk. After an error the file holds what it held, and the
 * next call writes it anew. */
int claims_store_save(ClaimsStore *s, const Claims *c, const char *path, const ClaimsClock *clock);
