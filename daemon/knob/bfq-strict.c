/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Depth 1, exactly and across hardware queues: BFQ with strict_guarantees dispatches one request at
 * a time (block/bfq-iosched.c, bfq_dispatch_request).
 *
 * A scheduler switch resets nr_requests, the tunables of the scheduler and sometimes writeback
 * throttling, so the original carries them all. nr_requests keeps its value over a switch, so that
 * this knob and nr-requests never undo each other, in whatever order they are turned. */

#include <errno.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define STRICT      "strict_guarantees"
#define NR_REQUESTS "nr_requests"

/* In this order: strict_guarantees raises slice_idle_us to 8 ms, nr_requests sets async_depth. The
 * tunables are those of block/mq-deadline.c and block/kyber-iosched.c, 6.1 to 7.2. */
static const Companion companions[] = {
	{ STRICT, "queue/iosched/strict_guarantees", false },
	{ "slice_idle_us", "queue/iosched/slice_idle_us", false },
	{ NR_REQUESTS, "queue/nr_requests", true },
	{ "wbt_lat_usec", "queue/wbt_lat_usec", false },
	{ "async_depth", "queue/async_depth", false },
	{ "async_depth", "queue/iosched/async_depth", false },
	{ "fifo_batch", "queue/iosched/fifo_batch", false },
	{ "front_merges", "queue/iosched/front_merges", false },
	{ "prio_aging_expire", "queue/iosched/prio_aging_expire", false },
	{ "read_expire", "queue/iosched/read_expire", false },
	{ "write_expire", "queue/iosched/write_expire", false },
	{ "writes_starved", "queue/iosched/writes_starved", false },
	{ "read_lat_usec", "queue/iosched/read_lat_usec", false },
	{ "write_lat_usec", "queue/iosched/write_lat_usec", false },
};

static const AttributeGroup group = {
	.attr = "queue/scheduler",
	.choice = true,
	.companions = companions,
	.n_companions = ELEMENTSOF(companions),
};

static int bfq_strict_read(Device *d, KnobValue *ret)
{
	return attribute_group_read(d, &group, ret);
}

static bool is_known(const char *scheduler)
{
	static const char *const known[] = { "none", "mq-deadline", "kyber", "bfq" };

	for (size_t i = 0; i < ELEMENTSOF(known); i++)
		if (streq(scheduler, known[i]))
			return true;
	return false;
}

static int bfq_strict_probe(Device *d, Offer *offer, char **ret_why_not)
{
	char scheduler[64];
	KnobValue found;

	if (attribute_has_disk_depth(d))
		return not_offered(ret_why_not, "the disk's own queue_depth is exact");
	if (!attribute_is_multiqueue_block(d) || bfq_strict_read(d, &found) < 0)
		return not_offered(ret_why_not, "the device has no scheduler of its own");
	if (!is_known(value_head(&found, scheduler, sizeof(scheduler))))
		return not_offered(ret_why_not,
				   "the tunables of scheduler %s could not be put back", scheduler);
	if (!attribute_has_scheduler(d, "bfq"))
		return not_offered(ret_why_not, "the kernel has no bfq scheduler loaded "
						"(modprobe bfq)");
	offer->mechanisms |= MECHANISM_DEPTH;
	offer->depth_one = true;
	return 0;
}

static int bfq_strict_want(const Device *d, const Setting *s, const Mix *mix,
			   const KnobValue *original, KnobValue *ret)
{
	(void)d;
	(void)mix;
	if (s->depth == 1)
		return value_print(ret, "bfq " STRICT "=1");
	*ret = *original;
	return 0;
}

/* While depth is 1, nr_requests is what its own knob made of it, and stays so. Where BFQ is there
 * but not strict, a switch was cut short: it is the kernel's default, and the original goes back.
 */
static int bfq_strict_write(Device *d, const KnobValue *value)
{
	KnobValue now, v = *value;
	char strict[16];
	int r = bfq_strict_read(d, &now);

	if (r < 0)
		return r;
	if (value_word(&now, STRICT, strict, sizeof(strict)) && streq(strict, "1"))
		value_drop_word(&v, NR_REQUESTS);
	return attribute_group_write(d, &group, &v);
}

/* The companions are others' to change while we leave the scheduler as found. */
static bool bfq_strict_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	char w[16], f[16];

	if (!value_same_head(d, wanted, found))
		return false;
	return !value_word(wanted, STRICT, w, sizeof(w)) ||
	       (value_word(found, STRICT, f, sizeof(f)) && streq(w, f));
}

const Knob knob_bfq_strict = {
	.name = "bfq-strict",
	.mechanism = MECHANISM_DEPTH,
	.exactness = EXACT,
	.freezes = true,
	.drifts = true, /* daemons that tune set schedulers */
	.probe = bfq_strict_probe,
	.read = bfq_strict_read,
	.want = bfq_strict_want,
	.write = bfq_strict_write,
	.fulfils = bfq_strict_fulfils,
};
