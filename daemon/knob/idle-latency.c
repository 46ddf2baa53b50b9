/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long an idle NVMe drive may take to come back from the states that it enters by itself
 * (APST): the kernel's latency tolerance of the controller (drivers/base/power/sysfs.c). From it
 * the kernel makes the drive's table of transitions anew, without the states that take longer to
 * leave (drivers/ nvme/host/core.c, nvme_configure_apst()). The kernel shows the attribute only
 * where the drive supports APST and the kernel does not know it to be faulty there. */

#include <errno.h>
#include <limits.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define ATTR "host/power/pm_qos_latency_tolerance_us"
#define ANY  INT_MAX /* as the kernel's PM_QOS_LATENCY_ANY */

/* "auto" is what the driver takes for "any": it bounds nothing. */
static int parse_us(const KnobValue *v, unsigned *ret)
{
	if (streq(v->text, "any") || streq(v->text, "auto")) {
		*ret = ANY;
		return 0;
	}
	return value_head_unsigned(v, ret);
}

static int idle_latency_read(Device *d, KnobValue *ret)
{
	KnobValue v;
	int r = attribute_read(d, ATTR, v.text, sizeof(v.text));

	if (r >= 0)
		*ret = v;
	return r;
}

static int idle_latency_probe(Device *d, Offer *offer, char **ret_why_not)
{
	KnobValue found;
	unsigned us;
	int r;

	if (d->kind != KIND_NVME || !d->ops->feature_get)
		return not_offered(ret_why_not, "no NVMe drive");
	r = idle_latency_read(d, &found);
	if (r == -EOPNOTSUPP)
		return not_offered(ret_why_not,
				   "several controllers lead to the drive, each with its own");
	if (r < 0)
		return not_offered(ret_why_not,
				   "the drive enters no idle states by itself (APST), or the "
				   "kernel does not let it");
	if (parse_us(&found, &us) < 0)
		return not_offered(ret_why_not, "its latency tolerance reads %s", found.text);
	if (us == 0)
		return not_offered(ret_why_not,
				   "its idle states (APST) are switched off already: its latency "
				   "tolerance is 0");
	offer->mechanisms |= MECHANISM_LINK;
	return 0;
}

/* It is lowered and never raised, and never to 0, which would switch APST off. */
static int idle_latency_want(const Device *d, const Setting *s, const Mix *mix,
			     const KnobValue *original, KnobValue *ret)
{
	unsigned found;
	int r = parse_us(original, &found);

	(void)d;
	(void)mix;
	if (r < 0)
		return r;
	if (!s->idle_latency_us || s->idle_latency_us >= found) {
		*ret = *original;
		return 0;
	}
	return value_print(ret, "%u", s->idle_latency_us);
}

static int idle_latency_write(Device *d, const KnobValue *value)
{
	return d->ops->attr_write ? d->ops->attr_write(d, ATTR, value->text) : -EOPNOTSUPP;
}

const Knob knob_idle_latency = {
	.name = "idle-latency",
	.mechanism = MECHANISM_LINK,
	.exactness = EXACT,
	.drifts = true,
	.probe = idle_latency_probe,
	.read = idle_latency_read,
	.want = idle_latency_want,
	.write = idle_latency_write,
};
