/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/need.h"

static const char *const texts[_CAUSE_MAX] = {
	[CAUSE_NONE] = "",
	[CAUSE_START] = "start",
	[CAUSE_CLAIM_ADDED] = "claim added",
	[CAUSE_CLAIM_CHANGED] = "claim changed",
	[CAUSE_CLAIM_RELEASED] = "claim released",
	[CAUSE_CLAIM_BEGAN] = "a claim began",
	[CAUSE_CLAIM_EXPIRED] = "a claim expired",
	[CAUSE_OWNER_LEFT] = "a claim's owner left the bus",
	[CAUSE_POLICY] = "policy changed",
	[CAUSE_MODE] = "mode changed",
	[CAUSE_RELOAD] = "everything was read again",
	[CAUSE_DESCRIBED] = "a device has another profile",
	[CAUSE_DEMAND] = "demand has changed",
	[CAUSE_DUE] = "a device is to be looked after again",
	[CAUSE_IO_WOKE] = "IO woke a disk",
	[CAUSE_WAKE_ASKED] = "disks are to wake",
	[CAUSE_WAKE_SEEN] = "eBPF saw IO to a sleeping disk",
	[CAUSE_SPENT_TOO_MUCH] = "eBPF saw a device spend more than it may",
	[CAUSE_SERVES_OTHERWISE] = "a device serves otherwise than the model says",
	[CAUSE_KNOB_FAILED] = "a knob failed",
	[CAUSE_VETOED] = "a hook has vetoed",
	[CAUSE_SLOW_SAVING] = "a slow saving has arrived",
	[CAUSE_LOST] = "a setting was lost",
	[CAUSE_CACHE_FULL] = "a cache is to be drained",
	[CAUSE_CACHE_DRAINED] = "a cache is drained",
	[CAUSE_HITS] = "a cache serves another part of the reads",
	[CAUSE_ADDED] = "a device was added",
	[CAUSE_REMOVED] = "a device was removed",
	[CAUSE_CHANGED] = "a device has changed",
	[CAUSE_MOVED] = "a device's place has changed",
	[CAUSE_RESET] = "a device was reset",
	[CAUSE_PROBED] = "a device has said what it offers",
	[CAUSE_TEST_BEGINS] = "a wake test begins",
	[CAUSE_TEST_ENDED] = "a wake test has ended",
};

const char *cause_text(Cause c)
{
	return texts[c];
}
