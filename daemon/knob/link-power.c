/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* SATA link power management, shallow to deep as in drivers/ata/libata-sata.c. Deepest used is
 * med_power_with_dipm: min_power has lost data on some drives. The policy is the port's, which is a
 * SCSI host of its own. */

#include <errno.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/mechanisms.h"

#define ATTR      "host/link_power_management_policy"
#define SUPPORTED "host/link_power_management_supported" /* newer kernels only */

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

static int link_power_probe(Device *d, Offer *offer, char **ret_why_not)
{
	KnobValue found;
	unsigned supported;
	int r = link_power_read(d, &found), policy;

	if (r < 0)
		return not_offered(ret_why_not, "the device has no SATA link to manage");
	if (attribute_read_unsigned(d, SUPPORTED, &supported) >= 0 && !supported)
		return not_offered(ret_why_not, "the SATA port does not manage link power");
	if (link_is_shared(d))
		return not_offered(ret_why_not,
				   "behind a port multiplier it shares its link with other disks");
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

static int link_power_want(const Device *d, const Setting *s, const Mix *mix,
			   const KnobValue *original, KnobValue *ret)
{
	(void)d;
	(void)mix;
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
