/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NVMe feature C7h, DSSD Power State (OCP Datacenter NVMe SSD specification 2.0): command dword 11
 * is the watts that the drive may draw, whole ones. Only where the drive lists OCP's UUID: to
 * others C7h is some vendor's own. Two limits on one drive would be one too many: feature 23h,
 * which is finer, comes first. */

#include <errno.h>
#include <math.h>

#include "knob/mechanisms.h"
#include "knob/nvme-feature.h"

#define FEATURE 0xc7
#define MAX_W   0xff

static int ocp_state_read(Device *d, KnobValue *ret)
{
	uint32_t watts;
	int r = nvme_feature_read(d, FEATURE, &watts);

	if (r < 0)
		return r;
	if (watts > MAX_W)
		return -EBADMSG;
	return watts ? value_print(ret, "%uW", watts) : value_print(ret, "none");
}

static int ocp_state_probe(Device *d, Offer *offer, char **ret_why_not)
{
	int r = nvme_feature_probe(d, FEATURE, "DSSD power state (OCP)", ret_why_not);

	if (r < 0)
		return r;
	if (offer->mechanisms & MECHANISM_POWER_LIMIT)
		return not_offered(ret_why_not, "the drive has a finer limit, nvme-power-limit");
	return nvme_limit_offer(d, 1, offer, ret_why_not);
}

static int ocp_state_want(const Device *d, const Setting *s, const Mix *mix,
			  const KnobValue *original, KnobValue *ret)
{
	(void)d;
	(void)mix;
	if (s->limit_w <= 0) {
		*ret = *original;
		return 0;
	}
	if (s->limit_w < 1 || s->limit_w > MAX_W)
		return -ERANGE;
	/* rounded down, because a limit is never more than was asked */
	return value_print(ret, "%.0fW", floor(s->limit_w + 1e-6));
}

static int ocp_state_write(Device *d, const KnobValue *value)
{
	unsigned decimals;
	double watts;
	int r = value_watts(value, &watts, &decimals);

	if (r < 0)
		return r;
	if (decimals > 0 || watts > MAX_W)
		return -ERANGE;
	return nvme_feature_write(d, FEATURE, (uint32_t)watts);
}

const Knob knob_nvme_ocp_state = {
	.name = "nvme-ocp-state",
	.mechanism = MECHANISM_POWER_LIMIT,
	.exactness = EXACT,
	.survives_reboot = true,
	.probe = ocp_state_probe,
	.read = ocp_state_read,
	.want = ocp_state_want,
	.write = ocp_state_write,
};
