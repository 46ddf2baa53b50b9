/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* From the state of the node to what the pure functions see of it. */

#include "control/control-state.h"
#include "control/facts.h"

/* Both allocate; the matching *_done() frees. policy: to plan by. */
int gather_facts(const Control *c, const Policy *policy, Facts *ret);
void facts_done(Facts *f);
int gather_in_force(const Control *c, InForce *ret);
void in_force_done(InForce *f);

/* It cannot be changed now: in transition, failed, being given back, or not known yet. */
/* Does what the devices are expected to draw count, rather than what they can? */
bool gather_counts_expected(const Control *c);
/* For how many times its demand a device is planned. Where what can be drawn does not count, who
 * gets what it asks for may draw what it likes. */
double gather_headroom(const Policy *p, bool counts_expected);
bool gather_is_held(const Managed *md, uint64_t now_us);
const Policy *gather_policy(const Control *c);
/* The most urgent of the lowest claims that limit the device; NULL: there is none. */
const Claim *gather_binding_claim(const Control *c, const Managed *md);
