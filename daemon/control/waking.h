/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Waking: by IO, with its pool, because its cache must be drained, or asked for. */

#include "control/tools.h"

const char *wake_reason_text(WakeReason r);

/* Does its spin-up draw watts now? */
static inline bool waking_under_way(const Managed *md)
{
	return md->waking.state == WAKING_SPINNING_UP || md->waking.state == WAKING_UNCONFIRMED;
}

static inline bool waking_is_wanted(const Managed *md)
{
	return md->waking.state == WAKING_WANTED;
}

/* When its state must be looked at again; USEC_NEVER: it need not. */
uint64_t waking_due_us(const Managed *md);
/* Where its time has come, it is over, one way or the other. */
Need waking_clear_due(Managed *md, Tools *t);

/* It is to be awake as soon as it may spin up; a disk that is awake is not concerned. */
Need waking_want(Managed *md, WakeReason reason);
/* If that was wanted while it was on its way to sleep. */
Need waking_want_next(Managed *md);
/* Its spin-up begins now, and counts. Its pool is to follow. */
Need waking_begin(Managed *md, Tools *t);
/* It was woken for a task of ours: it may sleep again as soon as it is due. */
void waking_forget_time(Managed *md);
void waking_begin_test(Managed *md, uint64_t longest_us, Tools *t);
void waking_end_test(Managed *md);
/* IO has reached a sleeping disk: it wakes now, whatever was planned. */
Need waking_notice_io(Managed *md, Tools *t);
/* It has served IO: it is awake, whatever was known. */
Need waking_notice_served(Managed *md, Tools *t);
/* Either, as far as it was asleep. */
Need waking_take_awake(Managed *md, Tools *t);
/* A command has woken it. */
void waking_confirm(Managed *md);
/* A command has not; `failures` of them in a row. It sleeps on, in the cycle that it was in. */
Need waking_take_failure(Managed *md, unsigned failures, Tools *t);
/* It has come to sleep, or was found asleep. */
void waking_take_sleep(Managed *md, Tools *t);
/* eBPF tells who wakes it, from now on. */
void waking_watch(Managed *md, Tools *t);
/* Its pool is kept up, and nothing else is stopped on its HBA, until a wake test has passed. */
Need waking_mark_stuck(Managed *md, Tools *t);
/* A wake test has brought a disk of that HBA back; "": that one disk alone. */
void waking_forgive(Fleet *f, const char *hba, Managed *md);
/* What the counters say of the IO that wakes it. */
Need waking_watch_io(Managed *md, Tools *t);
/* What eBPF saw; *ret_ask: it may have woken it, so that it has to be asked. */
Need waking_take_waker(Managed *md, const MeterWake *w, Tools *t, bool *ret_ask);

/* Something was sent to it while it slept that need not have woken it. */
static inline bool waking_suspect(const Managed *md)
{
	return managed_asleep(md) && md->waking.has_waker && !md->errands.busy;
}

void waking_clear_suspicion(Managed *md, Tools *t); /* it has been asked, and sleeps on */
/* Is there a disk that did not wake on the same HBA? */
bool waking_hba_stuck(const Device *d, const Tools *t);
