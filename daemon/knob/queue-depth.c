/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command queue of a SATA or SAS disk: exact, device-wide, and changed without freezing
 * anything (NCQ is off at 1). Where there is one, the queue's own depth knobs stand aside. */

#include <errno.h>

#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define ATTR "device/queue_depth"

static int queue_depth_read(Device *d, KnobValue *ret)
{
	return attribute_read(d, ATTR, ret->text, sizeof(ret->text));
}

static int queue_depth_probe(Device *d, Offer *offer, char **ret_why_not)
{
	unsigned found;

	if (attribute_read_unsigned(d, ATTR, &found) < 0)
		return not_offered(ret_why_not, "no SATA or SAS disk");
	if (found <= 1)
		return not_offered(ret_why_not, "the disk takes one command at a time already");
	offer->mechanisms |= MECHANISM_DEPTH;
	offer->depth_one = true;
	offer->depth_min = 2;
	offer->depth_max = found;
	return 0;
}

static int queue_depth_want(const Device *d, const Setting *s, const Mix *mix,
			    const KnobValue *original, KnobValue *ret)
{
	unsigned found;
	int r = value_head_unsigned(original, &found);

	(void)d;
	(void)mix;
	if (r < 0)
		return r;
	return value_print(ret, "%u", s->depth && s->depth < found ? s->depth : found);
}

static int queue_depth_write(Device *d, const KnobValue *value)
{
	return d->ops->attr_write ? d->ops->attr_write(d, ATTR, value->text) : -EOPNOTSUPP;
}

const Knob knob_queue_depth = {
	.name = "queue-depth",
	.mechanism = MECHANISM_DEPTH,
	.exactness = EXACT,
	.probe = queue_depth_probe,
	.read = queue_depth_read,
	.want = queue_depth_want,
	.write = queue_depth_write,
};
