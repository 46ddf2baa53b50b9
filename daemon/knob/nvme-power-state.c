/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* NVMe feature 02h, Power Management (NVMe base specification 2.0, 5.27.1.2): CDW11 is the power
 * state in bits 4:0 and the workload hint in bits 7:5, which is kept as found. */

#include <errno.h>

#include "knob/mechanisms.h"
#include "knob/nvme-feature.h"

#define FEATURE    0x02
#define STATE_MASK 0x1fu
#define HINT_SHIFT 5
#define HINT_MAX   7

static bool is_non_operational(const Device *d, unsigned state)
{
	const Profile *p = d->profile;

	return p && state < p->n_states && p->states[state].present &&
	       !p->states[state].operational;
}

/* A non-operational state that was read is where APST parked an idle drive. It is never written: an
 * IO would bring the drive back to the last operational state, which would be our cap. The drive's
 * own default is state 0. */
static uint32_t operational_cdw11(const Device *d, uint32_t cdw11)
{
	return is_non_operational(d, cdw11 & STATE_MASK) ? cdw11 & ~STATE_MASK : cdw11;
}

static int print_cdw11(uint32_t cdw11, KnobValue *ret)
{
	unsigned hint = cdw11 >> HINT_SHIFT & HINT_MAX;

	return hint ? value_print(ret, "%u workload=%u", cdw11 & STATE_MASK, hint)
		    : value_print(ret, "%u", cdw11 & STATE_MASK);
}

static int parse_cdw11(const KnobValue *v, uint32_t *ret)
{
	unsigned state, hint = 0;
	char word[4];
	int r = value_head_unsigned(v, &state);

	if (r < 0)
		return r;
	if (value_word(v, "workload", word, sizeof(word)))
		hint = (unsigned)(word[0] - '0');
	if (state > STATE_MASK || hint > HINT_MAX)
		return -ERANGE;
	*ret = hint << HINT_SHIFT | state;
	return 0;
}

static int power_state_read(Device *d, KnobValue *ret)
{
	uint32_t cdw11;
	int r = nvme_feature_read(d, FEATURE, &cdw11);

	return r < 0 ? r : print_cdw11(cdw11, ret);
}

static int power_state_probe(Device *d, Offer *offer, char **ret_why_not)
{
	int r = nvme_feature_probe(d, FEATURE, "power management", ret_why_not);

	if (r < 0)
		return r;
	if (!(d->power_states & (d->power_states - 1)))
		return not_offered(ret_why_not, "the drive has one power state only");
	offer->mechanisms |= MECHANISM_POWER_STATE;
	offer->power_states = d->power_states;
	return 0;
}

static int power_state_want(const Device *d, const Setting *s, const Mix *mix,
			    const KnobValue *original, KnobValue *ret)
{
	uint32_t cdw11;
	int r = parse_cdw11(original, &cdw11);

	(void)mix;
	if (r < 0)
		return r;
	if (s->power_state < 0) {
		*ret = *original;
		return 0;
	}
	if (s->power_state > (int)STATE_MASK || !(d->power_states >> s->power_state & 1))
		return -ERANGE;
	return print_cdw11((cdw11 & ~STATE_MASK) | (uint32_t)s->power_state, ret);
}

static int power_state_write(Device *d, const KnobValue *value)
{
	uint32_t cdw11;
	int r = parse_cdw11(value, &cdw11);

	return r < 0 ? r : nvme_feature_write(d, FEATURE, operational_cdw11(d, cdw11));
}

static bool power_state_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	uint32_t w, f;

	if (parse_cdw11(wanted, &w) < 0 || parse_cdw11(found, &f) < 0)
		return false;
	/* parked by APST: the next IO brings back the state that was set */
	return is_non_operational(d, f & STATE_MASK) || f == operational_cdw11(d, w);
}

const Knob knob_nvme_power_state = {
	.name = "nvme-power-state",
	.mechanism = MECHANISM_POWER_STATE,
	.exactness = EXACT,
	.survives_reboot = true, /* a warm reboot does not always reset the controller's features */
	.probe = power_state_probe,
	.read = power_state_read,
	.want = power_state_want,
	.write = power_state_write,
	.fulfils = power_state_fulfils,
};
