/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SATA link power management, shallow to deep as in drivers/ata/libata-sata.c. Deepest used is
 * med_power_with_dipm: min_power has lost data on some drives. */

#include <errno.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/registry.h"

#define ATTR "device/link_power_management_policy"

static const char *const policies[] = {
	"max_performance",        "medium_power", "med_power_with_dipm",
	"min_power_with_partial", "min_power",
};
#define DEEPEST_USED 2

static int policy_from_name(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(policies); i++)
		if (streq(name, policies[i]))
			return (int)i;
	return -EINVAL;
}

static int link_power_read(Device *d, KnobValue *ret)
{
	return attribute_read(d, ATTR, ret->text, sizeof(ret->text));
}

static int link_power_probe(Device *d, Offer *offer, char **ret_why_not)
{
	KnobValue found;
	unsigned supported;
	int r = link_power_read(d, &found), policy;

	if (r < 0)
		return not_offered(ret_why_not, "the device has no SATA link to manage");
	if (attribute_read_unsigned(d, "device/link_power_management_supported", &supported) >= 0 &&
	    !supported)
		return not_offered(ret_why_not, "the SATA port does not manage link power");
	policy = policy_from_name(found.text);
	/* the kernel shows keep_firmware_settings but does not take it back */
	if (policy < 0)
		return not_offered(ret_why_not, "its link policy %s could not be put back",
				   found.text);
	if (policy >= DEEPEST_USED)
		return not_offered(ret_why_not, "the link is at %s already", found.text);
	offer->mechanisms |= MECHANISM_LINK;
	return 0;
}

static int link_power_want(const Device *d, const Setting *s, const KnobValue *original,
			   KnobValue *ret)
{
	(void)d;
	if (s->link == LINK_AS_FOUND || policy_from_name(original->text) >= DEEPEST_USED)
		*ret = *original;
	else
		return value_print(ret, "%s", policies[DEEPEST_USED]);
	return 0;
}

static int link_power_write(Device *d, const KnobValue *value)
{
	return d->ops->attr_write ? d->ops->attr_write(d, ATTR, value->text) : -EOPNOTSUPP;
}

const Knob knob_link_power = {
	.name = "link-power",
	.mechanism = MECHANISM_LINK,
	.exactness = ADVISORY, /* the link sleeps only when it has nothing to carry */
	.probe = link_power_probe,
	.read = link_power_read,
	.want = link_power_want,
	.write = link_power_write,
};
