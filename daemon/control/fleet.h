/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The devices that come and go. */

#include "control/tools.h"

/* It counts at its rated watts until it has said what it offers, which it is asked next. NULL: out
 * of memory. */
Managed *fleet_add(Fleet *f, Device *d, Tools *t);
void fleet_remove(Fleet *f, Managed *md, Tools *t);
/* A job of a device that is gone has come back: freed with the last. */
void fleet_forget(Fleet *f, Managed *md);
Managed *fleet_find_id(const Fleet *f, const char *id);
Managed *fleet_find(const Fleet *f, const Device *d); /* NULL: it is not there */
Managed *fleet_find_name(const Fleet *f, const char *name);
Managed *fleet_find_devnum(const Fleet *f, dev_t devnum);
void fleet_done(Fleet *f);

/* As it was found, but what sleeps may sleep on; wakes the disk where that needs it awake. */
Need fleet_give_back(Managed *md, Tools *t);
/* It has another profile: what was learned beside the old one is forgotten. What is set stays until
 * the next plan, and what it offers is asked anew once nothing is. */
Need fleet_redescribe(Managed *md, Tools *t);
/* All is given back before anything else; it may draw all it can from now on, and the others make
 * room. Then it is asked anew. */
Need fleet_reconsider(Managed *md, Tools *t);
