/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NVMe feature 23h, Power Limit (NVMe base specification 2.3): command dword 11 is the power limit
 * value in bits 15:0 and its scale in bits 17:16 as in the power state descriptors: 1 is 0.1 mW, 2
 * is 10 mW. Value 0 is no limit. We write scale 2, which reaches 655 W. (An nvme-cli of 2026 sends
 * it in dword 13, where a drive ignores it: read back, it shows.) */

#include <errno.h>
#include <math.h>

#include "knob/mechanisms.h"
#include "knob/nvme-feature.h"

#define FEATURE      0x23
#define VALUE_MAX    0xffffu
#define SCALE_SHIFT  16
#define SCALE_100_UW 1u
#define SCALE_10_MW  2u

/* The number of decimals tells the scale, so that the original goes back bit by bit. */
static int print_raw_limit(uint32_t raw, KnobValue *ret)
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
static int parse_units(const KnobValue *v, unsigned *ret_100_uw, unsigned *ret_scale)
{
	unsigned decimals;
	double watts;
	int r = value_watts(v, &watts, &decimals);

	if (r < 0)
		return r;
	if (watts > VALUE_MAX / 100.0)
		return -ERANGE;
	*ret_scale = decimals > 2 ? SCALE_100_UW : SCALE_10_MW;
	*ret_100_uw = (unsigned)lround(watts * 10000);
	return 0;
}

static int power_limit_read(Device *d, KnobValue *ret)
{
	uint32_t raw;
	int r = nvme_feature_read(d, FEATURE, &raw);

	return r < 0 ? r : print_raw_limit(raw, ret);
}

static int power_limit_probe(Device *d, Offer *offer, char **ret_why_not)
{
	int r = nvme_feature_probe(d, FEATURE, "power limit", ret_why_not);

	return r < 0 ? r : nvme_limit_offer(d, 0.01, offer, ret_why_not);
}

static int power_limit_want(const Device *d, const Setting *s, const Mix *mix,
			    const KnobValue *original, KnobValue *ret)
{
	(void)d;
	(void)mix;
	if (s->limit_w <= 0) {
		*ret = *original;
		return 0;
	}
	if (s->limit_w < 0.01 || s->limit_w > VALUE_MAX / 100.0)
		return -ERANGE;
	/* rounded down, because a limit is never more than was asked */
	return value_print(ret, "%.2fW", floor(s->limit_w * 100 + 1e-6) / 100);
}

static int power_limit_write(Device *d, const KnobValue *value)
{
	unsigned units, scale;
	int r = parse_units(value, &units, &scale);

	if (r < 0)
		return r;
	if (scale == SCALE_10_MW)
		units /= 100;
	if (units > VALUE_MAX)
		return -ERANGE;
	return nvme_feature_write(d, FEATURE, units ? scale << SCALE_SHIFT | units : 0);
}

static bool power_limit_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	unsigned w, f, scale;

	(void)d;
	return parse_units(wanted, &w, &scale) >= 0 && parse_units(found, &f, &scale) >= 0 &&
	       w == f;
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
