/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "bus/bus-internal.h"

static double seconds_until(uint64_t when_us, uint64_t now_us)
{
	if (when_us == USEC_NEVER)
		return INFINITY;
	return when_us > now_us ? (double)(when_us - now_us) / 1e6 : 0;
}

int bus_append_claim(Bus *b, sd_bus_message *m, const Claim *c)
{
	uint64_t now = clock_now_us(&b->config.clock);
	const char *unit = c->unit == LIMIT_PERCENT ? "%" : "W";

	return sd_bus_message_append(
		m, "a{sv}", 21, "Uid", "u", c->maker.known ? c->maker.uid : UINT32_MAX, "Pid", "u",
		c->maker.pid, "SystemdUnit", "s", c->maker.unit ?: "", "PowerState", "i",
		c->pins ? (int)c->power_state : -1, "Tolerance", "d", c->tolerance_s, "Cookie", "t",
		c->cookie, "Class", "s", claim_class_name(c->class), "Scope", "s",
		claim_scope_name(c->scope), "Target", "s", c->target ?: "", "Limit", "d", c->limit,
		"Unit", "s", unit, "LimitPower", "d",
		limit_watts(c->limit, c->unit, control_claim_operating_w(b->control, c)), "Source",
		"s", c->source, "Reason", "s", c->reason, "Owner", "s", c->owner ?: "", "Standing",
		"b", (int)!c->owner, "Orphaned", "b", (int)claim_orphaned(c), "Active", "b",
		(int)claim_active(c, now), "InForce", "b",
		(int)control_claim_in_force(b->control, c), "StartsIn", "d",
		seconds_until(c->start_us, now), "ExpiresIn", "d",
		seconds_until(c->expiry_us, now));
}

int bus_append_plan(sd_bus_message *m, const Plan *p)
{
	return sd_bus_message_append(
		m, "a{sv}", 11, "MotorReserve", "d", p->motor_w, "MostThroughput", "d",
		p->most_mb_s, "Budget", "d", p->budget_w, "CapPower", "d", p->cap_w,
		"ExpectedPower", "d", p->expect_w, "Throughput", "d", p->mb_s, "FullThroughput",
		"d", p->full_mb_s, "Value", "d", p->value, "BoundValue", "d", p->bound_value,
		"Shortfall", "d", p->shortfall_w, "Optimal", "b", (int)p->optimal);
}

const char *bus_redirect_name(Redirect r)
{
	static const char *const names[] = { [REDIRECT_AS_FOUND] = "as found",
					     [REDIRECT_HOLD] = "held",
					     [REDIRECT_DRAIN] = "draining" };

	return (unsigned)r < ELEMENTSOF(names) ? names[r] : "unknown";
}

int bus_append_planned_device(sd_bus_message *m, const char *name, const PlannedDevice *d)
{
	const Setting *s = &d->setting;
	char text[256];

	return sd_bus_message_append(
		m, "a{sv}", 18, "Floor", "d", d->floor_mb_s, "Name", "s", name, "Setting", "s",
		setting_text(text, sizeof(text), s), "PowerState", "i", s->power_state,
		"PowerLimit", "d", s->limit_w, "Condition", "s", condition_name(s->condition),
		"DepthLimit", "u", s->depth, "ChunkLimit", "u", s->chunk_kib, "Pace", "d",
		s->pace_w, "CapPower", "d", d->cap_w, "ExpectedPower", "d", d->expect_w,
		"Throughput", "d", d->mb_s, "FullThroughput", "d", d->full_mb_s, "P99", "d",
		d->p99_us, "Error", "d", d->error, "Exactness", "s",
		exactness_name(setting_exactness(s)), "Redirect", "s",
		bus_redirect_name(s->redirect), "Reason", "s", plan_reason_text(d->reason));
}
