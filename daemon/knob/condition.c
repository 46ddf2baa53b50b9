/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Power conditions of a disk (ATA EPC and standby, SCSI START STOP UNIT). They hold until an IO
 * arrives, so they are advisory; reading them never wakes the disk. */

#include <errno.h>
#include <string.h>

#include "knob/attribute.h"
#include "knob/mechanisms.h"

/* A condition that we command is written "standby_z held". Without "held" it is one that a disk was
 * found in, by its own timers or somebody's command. To go back to such a condition is to stop
 * holding a deeper one: a disk that was found asleep and has work now is not put to sleep again. */
#define HELD " held"

static int parse_condition(const KnobValue *v, bool *ret_held)
{
	char name[16];

	*ret_held = strstr(v->text, HELD);
	return condition_from_name(value_head(v, name, sizeof(name)));
}

static int condition_read(Device *d, KnobValue *ret)
{
	Condition c;
	int r = d->ops->condition_get ? d->ops->condition_get(d, &c) : -EOPNOTSUPP;

	return r < 0 ? r : value_print(ret, "%s", condition_name(c));
}

static int condition_probe(Device *d, Offer *offer, char **ret_why_not)
{
	if (!d->ops->condition_get || !d->ops->condition_set)
		return not_offered(ret_why_not, "no ATA or SCSI commands reach this device");
	if (!(d->conditions & ~(1u << CONDITION_ACTIVE)))
		return not_offered(ret_why_not, "the device has no power conditions");
	offer->mechanisms |= MECHANISM_CONDITION;
	offer->conditions = d->conditions;
	return 0;
}

static int condition_want(const Device *d, const Setting *s, const Mix *mix,
			  const KnobValue *original, KnobValue *ret)
{
	(void)mix;
	if (s->condition == CONDITION_ACTIVE) {
		*ret = *original;
		return 0;
	}
	if (!(d->conditions >> s->condition & 1))
		return -ERANGE;
	return value_print(ret, "%s" HELD, condition_name(s->condition));
}

static int condition_write(Device *d, const KnobValue *value)
{
	bool held;
	int c = parse_condition(value, &held);

	if (c < 0)
		return c;
	if (!d->ops->condition_set)
		return -EOPNOTSUPP;
	return held || c <= CONDITION_IDLE_C ? d->ops->condition_set(d, (Condition)c) : 0;
}

/* A disk that is held in a condition may be found in a deeper one: its own timers took it there. */
static bool condition_fulfils(const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	bool held, ignored;
	int w = parse_condition(wanted, &held), f = parse_condition(found, &ignored);

	(void)d;
	return w >= 0 && f >= 0 && (held ? f >= w : f <= w);
}

const Knob knob_condition = {
	.name = "condition",
	.mechanism = MECHANISM_CONDITION,
	.exactness = ADVISORY,
	.slow = true,
	.survives_reboot = true, /* a warm reboot leaves the disk powered */
	.probe = condition_probe,
	.read = condition_read,
	.want = condition_want,
	.write = condition_write,
	.fulfils = condition_fulfils,
};
