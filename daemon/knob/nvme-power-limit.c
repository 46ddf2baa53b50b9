/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NVMe feature 23h, Power Limit (NVMe base specification 2.3): power limit value in bits 15:0, its
 * scale in bits 17:16 as in the power state descriptors: 1 is 0.1 mW, 2 is 10 mW. Value 0 is no
 * limit. We write scale 2, which reaches 655 W. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "knob/attribute.h"
#include "knob/registry.h"

#define FEATURE      0x23
#define VALUE_MAX    0xffffu
#define SCALE_SHIFT  16
#define SCALE_100_UW 1u
#define SCALE_10_MW  2u

/* The number of decimals tells the scale, so that the original goes back bit by bit. */
static int print(uint32_t raw, KnobValue *ret)
{
	unsigned value = raw & VALUE_MAX, scale = raw >> SCALE_SHIFT & 3;

	if (!value)
		return value_print(ret, "none");
	if (scale == SCALE_10_MW)
		return value_print(ret, "%.2fW", value / 100.0);
	if (scale == SCALE_100_UW)
		return value_print(ret, "%.4fW", value / 10000.0);
	return -EBADMSG;
}

/* In units of 0.1 mW; 0 none. */
static int parse(const KnobValue *v, unsigned *ret_100_uw, unsigned *ret_scale)
{
	size_t n = strlen(v->text);
	char number[KNOB_VALUE_MAX];
	const char *point;
	double watts;
	int r;

	*ret_100_uw = 0;
	*ret_scale = SCALE_10_MW;
	if (streq(v->text, "none"))
		return 0;
	if (!n || v->text[n - 1] != 'W')
		return -EINVAL;
	snprintf(number, sizeof(number), "%.*s", (int)n - 1, v->text);
	r = parse_double(number, &watts);
	if (r < 0)
		return r;
	if (watts < 0 || watts > VALUE_MAX / 100.0)
		return -ERANGE;
	point = strchr(number, '.');
	if (point && strlen(point + 1) > 2)
		*ret_scale = SCALE_100_UW;
	*ret_100_uw = (unsigned)lround(watts * 10000);
	return 0;
}

static int power_limit_read(Device *d, KnobValue *ret)
{
	uint32_t raw;
	int r = d->ops->feature_get ? d->ops->feature_get(d, FEATURE, &raw) : -EOPNOTSUPP;

	return r < 0 ? r : print(raw, ret);
}

/* A drive does not tell how low a limit it takes; its lowest operational power state is a value
 * that it is known to work at. */
static double lowest_limit_w(const Profile *p)
{
	double lowest = p->rated_w;

	for (unsigned i = 0; i < p->n_states; i++)
		if (p->states[i].present && p->states[i].operational)
			lowest = MIN(lowest, p->states[i].max_w);
	return lowest;
}

static int power_limit_probe(Device *d, Offer *offer, char **ret_why_not)
{
	KnobValue v;
	int r;

	if (!d->ops->feature_get || !d->ops->feature_set)
		return not_offered(ret_why_not, "no NVMe commands reach this device");
	r = power_limit_read(d, &v);
	if (r < 0)
		return not_offered(ret_why_not, "the drive refuses feature 23h, power limit: %s",
				   strerror(-r));
	if (!d->profile || lowest_limit_w(d->profile) >= d->profile->rated_w)
		return not_offered(ret_why_not, "no limit below the rated power is known to work");
	offer->mechanisms |= MECHANISM_POWER_LIMIT;
	offer->limit_min_w = lowest_limit_w(d->profile);
	offer->limit_max_w = d->profile->rated_w;
	return 0;
}

static int power_limit_want(const Device *d, const Setting *s, const KnobValue *original,
			    KnobValue *ret)
{
	(void)d;
	if (s->limit_w <= 0) {
		*ret = *original;
		return 0;
	}
	if (s->limit_w < 0.01 || s->limit_w > VALUE_MAX / 100.0)
		return -ERANGE;
	/* downwards: a limit is never more than was asked */
	return value_print(ret, "%.2fW", floor(s->limit_w * 100 + 1e-6) / 100);
}

static int power_limit_write(Device *d, const KnobValue *value)
{
	unsigned units, scale;
	int r = parse(value, &units, &scale);

	if (r < 0)
		return r;
	if (!d->ops->feature_set)
		return -EOPNOTSUPP;
	if (scale == SCALE_10_MW)
		units /= 100;
	if (units > VALUE_MAX)
		return -ERANGE;
	return d->ops->feature_set(d, FEATURE, units ? scale << SCALE_SHIFT | units : 0);
}

static bool power_limit_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	unsigned w, f, scale;

	(void)d;
	return parse(wanted, &w, &scale) >= 0 && parse(found, &f, &scale) >= 0 && w == f;
}

const Knob knob_nvme_power_limit = {
	.name = "nvme-power-limit",
	.mechanism = MECHANISM_POWER_LIMIT,
	.exactness = EXACT,
	.survives_reboot = true,
	.probe = power_limit_probe,
	.read = power_limit_read,
	.want = power_limit_want,
	.write = power_limit_write,
	.fulfils = power_limit_fulfils,
};
