/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How deep a disk may be put to sleep now, and why not deeper. */

#include "control/tools.h"

void rest_init(Managed *md);
void rest_done(Managed *md);
/* Idle as far as no cache above would have kept the IO off it. USEC_NEVER: all is kept off. */
uint64_t rest_idle_for_us(const Managed *md, uint64_t now_us);
/* How deep it may be put to sleep by that policy; why: of REST_WHY_SIZE, why not deeper. */
SleepLimits rest_limits(const Managed *md, const Policy *p, const Tools *t, char *why);
void rest_judge(Managed *md, const Policy *p, Tools *t);
bool rest_limits_differ(const SleepLimits *a, const SleepLimits *b);
/* Those it serves need it: it is not asked again for a while. */
void rest_refuse(Managed *md, const char *why, Tools *t);
/* A hook does not want it to be stopped for that claim (NULL: for none): likewise. */
void rest_veto(Managed *md, const char *why, const Claim *claim, Tools *t);
ClaimMark rest_claim_mark(const Claim *claim);
bool rest_is_marked(const ClaimMark *m, const Claim *claim);
/* Hooks are asked again at once if the claim is another one, or was changed. */
void rest_end_veto(Managed *md, const Claim *claim);

/* Its step into a sleeping condition has to wait until then; 0: it need not. */
uint64_t rest_settled_us(const Managed *md, uint64_t now_us);
/* A cache that holds back what it can may not hold back enough. */
void rest_watch_settling(Managed *md, Tools *t);
/* Is it still to be put to sleep, once what comes before is done? */
void rest_await(Managed *md);
/* Whether it still is. `same`: the budget for which it was. True: what was planned for it can no
 * longer be. */
bool rest_await_on(Managed *md, bool same, const Policy *p, Tools *t);
