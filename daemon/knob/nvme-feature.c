/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/nvme-feature.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

int nvme_feature_read(Device *d, uint8_t feature, uint32_t *ret)
{
	return d->ops->feature_get ? d->ops->feature_get(d, feature, ret) : -EOPNOTSUPP;
}

int nvme_feature_write(Device *d, uint8_t feature, uint32_t value)
{
	return d->ops->feature_set ? d->ops->feature_set(d, feature, value) : -EOPNOTSUPP;
}

int nvme_feature_probe(Device *d, uint8_t feature, const char *what, char **ret_why_not)
{
	uint32_t value;
	int r;

	if (!d->ops->feature_get || !d->ops->feature_set)
		return not_offered(ret_why_not, "no NVMe commands reach this device");
	r = nvme_feature_read(d, feature, &value);
	if (r == -EOPNOTSUPP)
		return not_offered(ret_why_not, "the drive does not advertise feature %02Xh, %s",
				   feature, what);
	if (r < 0)
		return not_offered(ret_why_not, "the drive refuses to tell feature %02Xh, %s: %s",
				   feature, what, strerror(-r));
	return 0;
}

static double lowest_operational_w(const Profile *p)
{
	double lowest = p->rated_w;

	for (unsigned i = 0; i < p->n_states; i++)
		if (p->states[i].present && p->states[i].operational)
			lowest = MIN(lowest, p->states[i].max_w);
	return lowest;
}

int nvme_limit_offer(const Device *d, double step_w, Offer *offer, char **ret_why_not)
{
	double min_w = 0, max_w = 0;

	if (d->profile) {
		min_w = ceil(lowest_operational_w(d->profile) / step_w - 1e-6) * step_w;
		max_w = floor(d->profile->rated_w / step_w + 1e-6) * step_w;
	}
	if (!(min_w < max_w))
		return not_offered(ret_why_not, "no limit below the rated power is known to work");
	offer->mechanisms |= MECHANISM_POWER_LIMIT;
	offer->limit_min_w = min_w;
	offer->limit_max_w = max_w;
	return 0;
}

int value_watts(const KnobValue *v, double *ret_w, unsigned *ret_decimals)
{
	char number[KNOB_VALUE_MAX];
	size_t n = strlen(v->text);
	const char *point;
	int r;

	*ret_w = 0;
	*ret_decimals = 0;
	if (streq(v->text, "none"))
		return 0;
	if (!n || v->text[n - 1] != 'W')
		return -EINVAL;
	snprintf(number, sizeof(number), "%.*s", (int)n - 1, v->text);
	r = parse_double(number, ret_w);
	if (r < 0)
		return r;
	point = strchr(number, '.');
	*ret_decimals = point ? (unsigned)strlen(point + 1) : 0;
	return *ret_w < 0 ? -ERANGE : 0;
}
