/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Depth of writes alone, by mq-deadline's async_depth: 1 and more in each hardware queue
 * (block/mq-deadline.c, dd_limit_depth()). Synchronous IO, and so every read, passes it by: it is
 * offered only where nothing else bounds the depth, and taken only while the device reads nothing.
 * The attribute was the scheduler's own up to 6.19, and is the queue's from 7.0. */

#include <errno.h>
#include <string.h>

#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define READS_AT_MOST 0.01 /* of the IOs */

static const char *const attrs[] = { "queue/async_depth", "queue/iosched/async_depth" };

/* Where this kernel has it; NULL: nowhere, now. */
static const char *find_attr(Device *d, unsigned *ret)
{
	char schedulers[KNOB_VALUE_MAX];

	if (attribute_read(d, "queue/scheduler", schedulers, sizeof(schedulers)) < 0 ||
	    !strstr(schedulers, "[mq-deadline]"))
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(attrs); i++)
		if (attribute_read_unsigned(d, attrs[i], ret) >= 0)
			return attrs[i];
	return NULL;
}

static int async_depth_read(Device *d, KnobValue *ret)
{
	unsigned found;

	return find_attr(d, &found) ? value_print(ret, "%u", found) : -EOPNOTSUPP;
}

static int async_depth_probe(Device *d, Offer *offer, char **ret_why_not)
{
	unsigned found, depth;

	if (!find_attr(d, &found))
		return not_offered(ret_why_not, "its scheduler is not mq-deadline");
	if (offer->depth_one || offer->depth_min ||
	    attribute_read_unsigned(d, "device/queue_depth", &depth) >= 0)
		return not_offered(ret_why_not, "it would bound writes alone, and another knob "
						"bounds reads, too");
	if (attribute_read_unsigned(d, "mq/1/nr_tags", &depth) >= 0)
		return not_offered(ret_why_not, "each of several hardware queues has its own");
	if (found <= 1)
		return not_offered(ret_why_not, "it is 1 already");
	offer->mechanisms |= MECHANISM_DEPTH;
	offer->depth_one = true;
	offer->depth_min = found > 2 ? 2 : 0;
	offer->depth_max = found;
	return 0;
}

static int async_depth_want(const Device *d, const Setting *s, const Mix *mix,
			    const KnobValue *original, KnobValue *ret)
{
	unsigned found;
	int r = value_head_unsigned(original, &found);

	(void)d;
	if (r < 0)
		return r;
	if (!s->depth || s->depth >= found) {
		*ret = *original;
		return 0;
	}
	if (mix->read_share > READS_AT_MOST)
		return -ERANGE;
	return value_print(ret, "%u", s->depth);
}

static int async_depth_write(Device *d, const KnobValue *value)
{
	unsigned found;
	const char *attr = find_attr(d, &found);

	return attr && d->ops->attr_write ? d->ops->attr_write(d, attr, value->text) : -EOPNOTSUPP;
}

const Knob knob_async_depth = {
	.name = "async-depth",
	.mechanism = MECHANISM_DEPTH,
	.exactness = ADVISORY,
	.probe = async_depth_probe,
	.read = async_depth_read,
	.want = async_depth_want,
	.write = async_depth_write,
};
