/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Depth by the number of requests of each hardware queue: 4 and more of them, the kernel takes no
 * fewer (BLKDEV_MIN_RQ). With several hardware queues the depth is what all may hold together. */

#include <errno.h>

#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define REQUESTS_MIN 4
#define QUEUES_MAX   4096

/* mq-deadline recomputes async_depth on every change: the original goes back with it. */
static const Companion companions[] = {
	{ "async_depth", "queue/async_depth", false },
	{ "async_depth", "queue/iosched/async_depth", false },
};

static const AttributeGroup group = {
	.attr = "queue/nr_requests",
	.companions = companions,
	.n_companions = ELEMENTSOF(companions),
};

static bool has_queue(Device *d, unsigned n)
{
	char attr[32], text[16];

	snprintf(attr, sizeof(attr), "mq/%u/nr_tags", n);
	return attribute_read(d, attr, text, sizeof(text)) >= 0;
}

/* Numbered without gaps from 0: found in a few reads, of which there is one each second. */
static unsigned count_queues(Device *d)
{
	unsigned there = 0, beyond = 1;

	while (beyond < QUEUES_MAX && has_queue(d, beyond)) {
		there = beyond;
		beyond *= 2;
	}
	while (beyond - there > 1) {
		unsigned middle = (there + beyond) / 2;

		if (has_queue(d, middle))
			there = middle;
		else
			beyond = middle;
	}
	return there + 1;
}

static int nr_requests_read(Device *d, KnobValue *ret)
{
	KnobValue v;
	unsigned queues;
	int r = attribute_group_read(d, &group, &v);

	if (r < 0)
		return r;
	queues = count_queues(d);
	if (queues > 1)
		return value_print(ret, "%s queues=%u", v.text, queues);
	*ret = v;
	return 0;
}

static int parse(const KnobValue *v, unsigned *ret_requests, unsigned *ret_queues)
{
	char word[16];

	*ret_queues = value_word(v, "queues", word, sizeof(word)) ? (unsigned)atoi(word) : 1;
	return *ret_queues ? value_head_unsigned(v, ret_requests) : -EINVAL;
}

static int nr_requests_probe(Device *d, Offer *offer, char **ret_why_not)
{
	unsigned requests, queues, depth;
	KnobValue found;

	if (attribute_read_unsigned(d, "device/queue_depth", &depth) >= 0)
		return not_offered(ret_why_not, "the disk's own queue_depth is exact");
	if (!attribute_is_multiqueue_block(d) || nr_requests_read(d, &found) < 0 ||
	    parse(&found, &requests, &queues) < 0)
		return not_offered(ret_why_not, "the device has no request queue of its own");
	if (requests <= REQUESTS_MIN)
		return not_offered(ret_why_not, "its queues hold %u requests, the fewest there are",
				   requests);
	offer->mechanisms |= MECHANISM_DEPTH;
	offer->depth_min = REQUESTS_MIN * queues;
	offer->depth_max = requests * queues;
	return 0;
}

/* Depth 1 is bfq-strict's. */
static int nr_requests_want(const Device *d, const Setting *s, const Mix *mix,
			    const KnobValue *original, KnobValue *ret)
{
	unsigned requests, queues;
	int r = parse(original, &requests, &queues);

	(void)d;
	(void)mix;
	if (r < 0)
		return r;
	if (s->depth <= 1 || s->depth / queues >= requests) {
		*ret = *original;
		return 0;
	}
	if (s->depth / queues < REQUESTS_MIN)
		return -ERANGE;
	return value_print(ret, "%u", s->depth / queues);
}

static int nr_requests_write(Device *d, const KnobValue *value)
{
	return attribute_group_write(d, &group, value);
}

const Knob knob_nr_requests = {
	.name = "nr-requests",
	.mechanism = MECHANISM_DEPTH,
	.exactness = EXACT,
	.freezes = true,
	.probe = nr_requests_probe,
	.read = nr_requests_read,
	.want = nr_requests_want,
	.write = nr_requests_write,
	.fulfils = value_same_head,
};
