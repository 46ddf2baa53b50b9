/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The knobs that are one sysfs attribute each, a number or a word that stands for one: smaller
 * takes less power. A row says where the attribute is and what it takes; the same code reads,
 * offers and writes them all. */

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define QUEUES_MAX    4096
#define READS_AT_MOST 0.01 /* of the IOs, where a knob bounds writes alone */

typedef struct AttributeKnob {
	const Knob *knob;
	AttributeGroup group;
	const char *attr_before;  /* NULL, or where older kernels have it */
	const char *scheduler;    /* NULL, or the only one under which it is there */
	const char *const *words; /* NULL, or what stands for 0, 1, ... */
	size_t n_words;
	unsigned least;    /* the smallest that is set; 0: a page, in KiB */
	bool leaves_one;   /* depth 1 is another knob's */
	bool per_queue;    /* each hardware queue has so much of its own */
	bool writes_alone; /* it does not bound reads */
	/* why it is not offered: it cannot be read; it says %s, which is not one of our values
	 * (NULL: as if it could not be read); it says %s, which is the least already */
	const char *absent, *foreign, *at_least;
	/* NULL, or what else stands against offering it; as Knob.probe */
	int (*check)(Device *d, const Offer *o, char **ret_why_not);
} AttributeKnob;

static bool has_hardware_queue(Device *d, unsigned n)
{
	char attr[32], text[16];

	snprintf(attr, sizeof(attr), "mq/%u/nr_tags", n);
	return attribute_read(d, attr, text, sizeof(text)) >= 0;
}

/* Hardware queues are numbered without gaps from 0: a few reads find the last one. */
static unsigned count_hardware_queues(Device *d)
{
	unsigned there = 0, beyond = 1;

	while (beyond < QUEUES_MAX && has_hardware_queue(d, beyond)) {
		there = beyond;
		beyond *= 2;
	}
	while (beyond - there > 1) {
		unsigned middle = (there + beyond) / 2;

		if (has_hardware_queue(d, middle))
			there = middle;
		else
			beyond = middle;
	}
	return there + 1;
}

/* Finds where this kernel has the attribute now; -EOPNOTSUPP: nowhere. */
static int find_group(Device *d, const AttributeKnob *k, AttributeGroup *ret)
{
	KnobValue text;

	if (k->scheduler) {
		if (attribute_read(d, "queue/scheduler", text.text, sizeof(text.text)) < 0)
			return -EOPNOTSUPP;
		attribute_take_choice(text.text);
		if (!streq(text.text, k->scheduler))
			return -EOPNOTSUPP;
	}
	*ret = k->group;
	if (k->attr_before && attribute_read(d, ret->attr, text.text, sizeof(text.text)) < 0)
		ret->attr = k->attr_before;
	return 0;
}

static int read_value(Device *d, const AttributeKnob *k, KnobValue *ret)
{
	unsigned queues = k->per_queue ? count_hardware_queues(d) : 1;
	AttributeGroup g;
	KnobValue v;
	int r = find_group(d, k, &g);

	if (r >= 0)
		r = attribute_group_read(d, &g, &v);
	if (r < 0)
		return r;
	if (queues > 1)
		return value_print(ret, "%s queues=%u", v.text, queues);
	*ret = v;
	return 0;
}

static int write_value(Device *d, const AttributeKnob *k, const KnobValue *value)
{
	AttributeGroup g;
	int r = find_group(d, k, &g);

	return r < 0 ? r : attribute_group_write(d, &g, value);
}

static int parse_word(const AttributeKnob *k, const KnobValue *v, unsigned *ret)
{
	for (size_t i = 0; i < k->n_words; i++)
		if (streq(v->text, k->words[i])) {
			*ret = (unsigned)i;
			return 0;
		}
	return -EINVAL;
}

static int parse_value(const AttributeKnob *k, const KnobValue *v, unsigned *ret_n,
		       unsigned *ret_queues)
{
	char queues[16];

	*ret_queues = value_word(v, "queues", queues, sizeof(queues)) ? (unsigned)atoi(queues) : 1;
	if (!*ret_queues)
		return -EINVAL;
	return k->words ? parse_word(k, v, ret_n) : value_head_unsigned(v, ret_n);
}

static unsigned least_of(const AttributeKnob *k)
{
	return k->least ?: (unsigned)sysconf(_SC_PAGESIZE) / 1024;
}

static void fill_offer(const AttributeKnob *k, unsigned found, unsigned queues, Offer *offer)
{
	unsigned least = least_of(k);

	offer->mechanisms |= k->knob->mechanism;
	if (k->knob->mechanism == MECHANISM_CHUNK) {
		offer->chunk_min_kib = least;
		offer->chunk_max_kib = found;
	}
	if (k->knob->mechanism != MECHANISM_DEPTH)
		return;
	offer->depth_one |= least == 1;
	offer->depth_min = MAX(least, 2u) * queues;
	offer->depth_max = found * queues;
	/* the depth as found is taken even while the device reads, but it bounds no reads */
	if (k->writes_alone && offer->depth_min >= found)
		offer->depth_min = 0;
}

static int probe_row(Device *d, const AttributeKnob *k, Offer *offer, char **ret_why_not)
{
	unsigned n, queues;
	char head[64];
	AttributeGroup g;
	KnobValue found;
	int r;

	if (read_value(d, k, &found) < 0 || find_group(d, k, &g) < 0)
		return not_offered(ret_why_not, "%s", k->absent);
	if (!attribute_is_writable(d, g.attr))
		return not_offered(ret_why_not, "its driver does not let it be changed");
	r = k->check ? k->check(d, offer, ret_why_not) : 0;
	if (r < 0)
		return r;
	value_head(&found, head, sizeof(head));
	if (parse_value(k, &found, &n, &queues) < 0)
		return not_offered(ret_why_not, k->foreign ?: k->absent, head);
	if (n <= least_of(k))
		return not_offered(ret_why_not, k->at_least, head);
	fill_offer(k, n, queues, offer);
	return 0;
}

/* The third word of the link's policies is the deepest that is ever set. */
#define LINK_DEEPEST 2

static unsigned asked_of(const AttributeKnob *k, const Setting *s)
{
	if (k->knob->mechanism == MECHANISM_CHUNK)
		return s->chunk_kib;
	if (k->knob->mechanism == MECHANISM_LINK)
		return s->link == LINK_AS_FOUND ? 0 : LINK_DEEPEST;
	return s->depth == 1 && k->leaves_one ? 0 : s->depth;
}

static int want_of_row(const AttributeKnob *k, const Setting *s, const Mix *mix,
		       const KnobValue *original, KnobValue *ret)
{
	unsigned asked = asked_of(k, s), found, queues;
	int r = asked ? parse_value(k, original, &found, &queues) : 0;

	if (r < 0)
		return r;
	if (!asked || asked / queues >= found) {
		*ret = *original;
		return 0;
	}
	asked /= queues;
	if (asked < least_of(k) || (k->writes_alone && mix->read_share > READS_AT_MOST))
		return -ERANGE;
	return k->words ? value_print(ret, "%s", k->words[asked]) : value_print(ret, "%u", asked);
}

/* The callbacks of a knob are not told which knob they are for, so each row has its own. */
#define ATTRIBUTE_KNOB(row, ...)                                                                   \
	static int row##_probe(Device *d, Offer *offer, char **ret_why_not)                        \
	{                                                                                          \
		return probe_row(d, &row, offer, ret_why_not);                                     \
	}                                                                                          \
	static int row##_read(Device *d, KnobValue *ret)                                           \
	{                                                                                          \
		return read_value(d, &row, ret);                                                   \
	}                                                                                          \
	static int row##_want(const Device *d, const Setting *s, const Mix *mix,                   \
			      const KnobValue *original, KnobValue *ret)                           \
	{                                                                                          \
		(void)d;                                                                           \
		return want_of_row(&row, s, mix, original, ret);                                   \
	}                                                                                          \
	static int row##_write(Device *d, const KnobValue *value)                                  \
	{                                                                                          \
		return write_value(d, &row, value);                                                \
	}                                                                                          \
	const Knob knob_##row = { .probe = row##_probe,                                            \
				  .read = row##_read,                                              \
				  .want = row##_want,                                              \
				  .write = row##_write,                                            \
				  .fulfils = value_same_head,                                      \
				  .drifts = true,                                                  \
				  __VA_ARGS__ }

/* The command queue of a SATA or SAS disk is exact, device-wide, and changed without freezing
 * anything (NCQ is off at 1). Where there is one, the queue's own depth knobs are not offered. */
static const AttributeKnob queue_depth = {
	.knob = &knob_queue_depth,
	.group = { .attr = DISK_DEPTH_ATTR },
	.least = 1,
	.absent = "no SATA or SAS disk",
	.at_least = "the disk takes one command at a time already",
};
ATTRIBUTE_KNOB(queue_depth, .name = "queue-depth", .mechanism = MECHANISM_DEPTH,
	       .exactness = EXACT);

static int check_requests(Device *d, const Offer *o, char **ret_why_not)
{
	(void)o;
	if (attribute_has_disk_depth(d))
		return not_offered(ret_why_not, "the disk's own queue_depth is exact");
	if (!attribute_is_multiqueue_block(d))
		return not_offered(ret_why_not, "the device has no request queue of its own");
	return 0;
}

/* mq-deadline recomputes async_depth on every change: the original goes back with it. */
static const Companion async_depths[] = {
	{ "async_depth", "queue/async_depth", false },
	{ "async_depth", "queue/iosched/async_depth", false },
};

/* Depth by the number of requests of each hardware queue, from 4 on, because the kernel takes no
 * fewer (BLKDEV_MIN_RQ). With several hardware queues the depth is what all may hold together. */
static const AttributeKnob nr_requests = {
	.knob = &knob_nr_requests,
	.group = { "queue/nr_requests", false, async_depths, ELEMENTSOF(async_depths) },
	.least = 4,
	.leaves_one = true, /* to bfq-strict */
	.per_queue = true,
	.absent = "the device has no request queue of its own",
	.at_least = "its queues hold %s requests, the fewest there are",
	.check = check_requests,
};
ATTRIBUTE_KNOB(nr_requests, .name = "nr-requests", .mechanism = MECHANISM_DEPTH, .exactness = EXACT,
	       .freezes = true);

static int check_async(Device *d, const Offer *o, char **ret_why_not)
{
	if (o->depth_one || o->depth_min || attribute_has_disk_depth(d))
		return not_offered(ret_why_not, "it would bound writes alone, and another knob "
						"bounds reads, too");
	if (has_hardware_queue(d, 1))
		return not_offered(ret_why_not, "each of several hardware queues has its own");
	return 0;
}

/* Depth of writes alone, by mq-deadline's async_depth: 1 and more in each hardware queue
 * (block/mq-deadline.c, dd_limit_depth()). Synchronous IO, and so every read, passes it by: it is
 * offered only where nothing else bounds the depth, and taken only while the device reads nothing.
 * The attribute was the scheduler's own up to 6.19, and is the queue's from 7.0. */
static const AttributeKnob async_depth = {
	.knob = &knob_async_depth,
	.group = { .attr = "queue/async_depth" },
	.attr_before = "queue/iosched/async_depth",
	.scheduler = "mq-deadline",
	.least = 1,
	.writes_alone = true,
	.absent = "its scheduler is not mq-deadline",
	.at_least = "it is 1 already",
	.check = check_async,
};
ATTRIBUTE_KNOB(async_depth, .name = "async-depth", .mechanism = MECHANISM_DEPTH,
	       .exactness = ADVISORY);

/* From 6.12 every write makes the kernel choose the read-ahead anew (blk_apply_bdi_limits), also
 * where an administrator had set it. */
static const Companion read_ahead = { "read_ahead_kb", "queue/read_ahead_kb", true };

/* Chunk: the largest IO that reaches the device. Larger ones are split, and their parts are
 * outstanding together, so this saves power only beside a cap on depth or rate. */
static const AttributeKnob max_sectors = {
	.knob = &knob_max_sectors,
	.group = { "queue/max_sectors_kb", false, &read_ahead, 1 },
	.absent = "the size of its IO cannot be limited",
	.at_least = "its IO is of %s KiB at most already",
};
ATTRIBUTE_KNOB(max_sectors, .name = "max-sectors", .mechanism = MECHANISM_CHUNK, .exactness = EXACT,
	       .freezes = true);

/* Behind a port multiplier several disks share the port and so the policy. Its links are counted at
 * the ATA port, whose number is the host's unique_id (ata_scsi_add_hosts()). */
static bool link_is_shared(Device *d)
{
	unsigned port, links;
	char attr[64];

	if (attribute_read_unsigned(d, "host/unique_id", &port) < 0)
		return false;
	snprintf(attr, sizeof(attr), "host/device/../ata_port/ata%u/nr_pmp_links", port);
	return attribute_read_unsigned(d, attr, &links) >= 0 && links > 0;
}

/* Deep to shallow as in drivers/ata/libata-sata.c. min_power has lost data on some drives. */
static const char *const link_policies[] = {
	"min_power",    "min_power_with_partial", [LINK_DEEPEST] = "med_power_with_dipm",
	"medium_power", "max_performance",
};

static int check_link(Device *d, const Offer *o, char **ret_why_not)
{
	unsigned supported;

	(void)o;
	/* newer kernels only */
	if (attribute_read_unsigned(d, "host/link_power_management_supported", &supported) >= 0 &&
	    !supported)
		return not_offered(ret_why_not, "the SATA port does not manage link power");
	if (link_is_shared(d))
		return not_offered(ret_why_not,
				   "behind a port multiplier it shares its link with other disks");
	if (!d->link_sleeps)
		return not_offered(ret_why_not,
				   "the drive does not say that it puts its link to sleep (DIPM)");
	return 0;
}

/* SATA link power management. The policy is the port's, which is a SCSI host of its own; the link
 * sleeps only when it has nothing to carry. */
static const AttributeKnob link_power = {
	.knob = &knob_link_power,
	.group = { .attr = "host/link_power_management_policy" },
	.words = link_policies,
	.n_words = ELEMENTSOF(link_policies),
	.least = LINK_DEEPEST,
	.absent = "the device has no SATA link to manage",
	/* the kernel shows keep_firmware_settings, but refuses it when it is written back */
	.foreign = "its link policy %s could not be put back",
	.at_least = "the link is at %s already",
	.check = check_link,
};
ATTRIBUTE_KNOB(link_power, .name = "link-power", .mechanism = MECHANISM_LINK,
	       .exactness = ADVISORY);
