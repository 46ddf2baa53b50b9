/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/printable.h"
#include "bus/bus-internal.h"

/* Signals go out at once; changed properties go out once per turn of the loop, after everything
 * else. Watts and rates move all the time and are not announced: whoever wants them reads them, and
 * a node that nobody looks at is silent. */

#define CLAIMS_TOLD_MOST 64

static void warn_unsent(int r, const char *what)
{
	if (r < 0)
		log_warning_errno(r, "Cannot send %s on the bus", what);
}

static void schedule(Bus *b)
{
	int r = sd_event_source_set_enabled(b->emit, SD_EVENT_ONESHOT);

	warn_unsent(r, "changed properties");
}

static void tell_claim(Bus *b, const char *signal, const Claim *c)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_signal(b->bus, &m, BUS_PATH, BUS_MANAGER, signal);

	if (r >= 0)
		r = sd_bus_message_append(m, "t", c->cookie);
	if (r >= 0)
		r = bus_append_claim(b, m, c);
	if (r >= 0)
		r = sd_bus_send(b->bus, m, NULL);
	warn_unsent(r, signal);
	b->claims_changed = true;
	schedule(b);
}

static void on_claim_added(const Claim *c, void *userdata)
{
	tell_claim(userdata, "ClaimAdded", c);
}

static void on_claim_changed(const Claim *c, void *userdata)
{
	tell_claim(userdata, "ClaimChanged", c);
}

static void on_settled(const Settled *s, void *userdata)
{
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_signal(b->bus, &m, BUS_PATH, BUS_MANAGER, "Settled");

	if (r >= 0)
		r = sd_bus_message_append_array(m, 't', s->cookies, s->n * sizeof(*s->cookies));
	if (r >= 0)
		r = sd_bus_message_append(m, "dddb", s->limit_w, s->took_s, s->drawn_w, s->held);
	if (r >= 0)
		r = sd_bus_send(b->bus, m, NULL);
	warn_unsent(r, "Settled");
}

static void on_claim_replaced(uint64_t old, uint64_t new, void *userdata)
{
	Bus *b = userdata;

	warn_unsent(
		sd_bus_emit_signal(b->bus, BUS_PATH, BUS_MANAGER, "ClaimReplaced", "tt", old, new),
		"ClaimReplaced");
}

static void on_claim_ended(uint64_t cookie, const char *why, void *userdata)
{
	Bus *b = userdata;

	warn_unsent(
		sd_bus_emit_signal(b->bus, BUS_PATH, BUS_MANAGER, "ClaimEnded", "ts", cookie, why),
		"ClaimEnded");
	b->claims_changed = true;
	schedule(b);
}

static void on_plan_applied(const Plan *p, const char *why, void *userdata)
{
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_signal(b->bus, &m, BUS_PATH, BUS_MANAGER, "PlanApplied");
	char shown[256];

	if (r >= 0)
		r = sd_bus_message_append(m, "s", printable_text(shown, sizeof(shown), why));
	if (r >= 0)
		r = bus_append_plan(m, p);
	if (r >= 0)
		r = sd_bus_send(b->bus, m, NULL);
	warn_unsent(r, "PlanApplied");
	schedule(b);
}

static void on_overrun(double measured_w, double budget_w, void *userdata)
{
	Bus *b = userdata;

	warn_unsent(sd_bus_emit_signal(b->bus, BUS_PATH, BUS_MANAGER, "Overrun", "dd", measured_w,
				       budget_w),
		    "Overrun");
}

static void on_overrun_ended(const Overrun *o, void *userdata)
{
	Bus *b = userdata;

	warn_unsent(sd_bus_emit_signal(b->bus, BUS_PATH, BUS_MANAGER, "OverrunEnded", "ddd",
				       o->seconds, o->joules, o->budget_w),
		    "OverrunEnded");
}

static void on_device_changed(const char *name, bool present, void *userdata)
{
	Bus *b = userdata;
	_cleanup_free_ char *path = NULL;
	int r = bus_device_path(name, &path);

	if (r >= 0)
		r = present ? sd_bus_emit_object_added(b->bus, path)
			    : sd_bus_emit_interfaces_removed(b->bus, path, BUS_DEVICE, NULL);
	if (r >= 0)
		r = sd_bus_emit_signal(b->bus, BUS_PATH, BUS_MANAGER,
				       present ? "DeviceAdded" : "DeviceRemoved", "so", name, path);
	warn_unsent(r, "the coming or going of a device");
	schedule(b);
}

static void on_changed(void *userdata)
{
	schedule(userdata);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Of many claims the announcement says only that they have changed: ClaimAdded and ClaimEnded say
 * what, and a message of megabytes at every change would be dear. */
static int tell_claims_invalid(Bus *b)
{
	return sd_bus_emit_signal(b->bus, BUS_PATH, "org.freedesktop.DBus.Properties",
				  "PropertiesChanged", "sa{sv}as", BUS_MANAGER, 0, 1, "Claims");
}

static bool many_claims(const Bus *b)
{
	return claims_get(control_claims(b->control), CLAIMS_TOLD_MOST);
}

/* Lists the manager's properties that differ from what was told; at most one name each. */
static size_t changed_state(Bus *b, const ControlState *now, const char **names)
{
	const ControlState *told = &b->told;
	const char *policy = control_policy(b->control);
	const struct {
		const char *name;
		bool changed;
	} checks[] = {
		{ "EffectiveLimit", !same(now->budget_w, told->budget_w) },
		{ "RatedPower", !same(now->watts.rated_w, told->watts.rated_w) },
		{ "OperatingPower", !same(now->watts.operating_w, told->watts.operating_w) },
		{ "FloorPower", !same(now->watts.floor_w, told->watts.floor_w) },
		{ "CapPower", !same(now->watts.cap_w, told->watts.cap_w) },
		{ "Shortfall", !same(now->shortfall_w, told->shortfall_w) },
		{ "NodeShortfall", !same(now->held.missing_w, told->held.missing_w) },
		{ "Mode", now->advice.advises != told->advice.advises },
		{ "Enforcing", now->enforcing != told->enforcing },
		{ "Degraded", now->degraded != told->degraded },
		{ "DeviceCount", now->n_devices != told->n_devices },
		{ "Claims", b->claims_changed && !many_claims(b) },
		{ "ClaimsUnsaved", !streq(now->claims_unsaved, told->claims_unsaved ?: "") },
		{ "Budget", b->claims_changed || !same(now->budget_w, told->budget_w) },
		{ "Policy", !b->told_policy || !streq(policy, b->told_policy) },
	};
	size_t n = 0;

	for (size_t i = 0; i < ELEMENTSOF(checks); i++)
		if (checks[i].changed)
			names[n++] = checks[i].name;
	if (checks[ELEMENTSOF(checks) - 1].changed) {
		free(b->told_policy);
		b->told_policy = strdup(policy);
	}
	b->told = *now;
	b->claims_changed = false;
	return n;
}

static char *device_digest(const DeviceState *d)
{
	char setting[256], advised[256];

	return text_printf("%s\n%s\n%.3f\n%.3f\n%d\n%s\n%s\n%s\n%d%d%d%d", d->device->name,
			   setting_text(setting, sizeof(setting), &d->setting), d->watts.cap_w,
			   d->watts.operating_w, (int)d->exactness, d->reason,
			   bus_advised_text(advised, sizeof(advised), d), d->problem,
			   d->sleep.asleep, d->changing, d->device->wake_untested,
			   (int)d->cache.redirect);
}

static int tell_device(Bus *b, const char *name)
{
	_cleanup_free_ char *path = NULL;
	int r = bus_device_path(name, &path);

	if (r < 0)
		return r;
	return sd_bus_emit_properties_changed(
		b->bus, path, BUS_DEVICE, "CapPower", "OperatingPower", "Setting", "PowerState",
		"PowerLimit", "Condition", "LinkSaving", "DepthLimit", "ChunkLimit", "Pace",
		"Exactness", "Reason", "Advised", "Problem", "Asleep", "Changing", "WakeUntested",
		"Redirect", NULL);
}

static void forget_devices(Bus *b)
{
	for (size_t i = 0; i < b->n_told_devices; i++)
		free(b->told_devices[i]);
	free(b->told_devices);
	b->told_devices = NULL;
	b->n_told_devices = 0;
}

static int tell_devices(Bus *b)
{
	size_t n = control_device_count(b->control);
	DeviceState d;
	int r = 0;

	if (n != b->n_told_devices) {
		forget_devices(b);
		b->told_devices = calloc(n + 1, sizeof(*b->told_devices));
		if (!b->told_devices)
			return -ENOMEM;
		b->n_told_devices = n;
	}
	for (size_t i = 0; i < n && r >= 0; i++) {
		_cleanup_free_ char *digest = NULL;

		r = control_device(b->control, i, &d);
		if (r < 0 || !(digest = device_digest(&d)))
			return r < 0 ? r : -ENOMEM;
		if (b->told_devices[i] && streq(b->told_devices[i], digest))
			continue;
		free(b->told_devices[i]);
		b->told_devices[i] = TAKE_PTR(digest);
		r = tell_device(b, d.device->name);
	}
	return r;
}

static int on_emit(sd_event_source *s, void *userdata)
{
	Bus *b = userdata;
	const char *names[32];
	ControlState now;
	size_t n;

	(void)s;
	bus_owners_prune(b);
	control_state(b->control, &now);
	/* with the mode each claim's InForce changes */
	b->claims_changed |= now.advice.advises != b->told.advice.advises;
	if (b->claims_changed && many_claims(b))
		warn_unsent(tell_claims_invalid(b), "changed claims");
	n = changed_state(b, &now, names);
	names[n] = NULL;
	if (n > 0)
		warn_unsent(sd_bus_emit_properties_changed_strv(b->bus, BUS_PATH, BUS_MANAGER,
								(char **)names),
			    "changed properties");
	warn_unsent(tell_devices(b), "changed devices");
	return 0;
}

int bus_signals_register(Bus *b)
{
	int r = sd_event_add_defer(b->event, &b->emit, on_emit, b);

	if (r >= 0)
		r = sd_event_source_set_enabled(b->emit, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_priority(b->emit, SD_EVENT_PRIORITY_IDLE);
	if (r < 0)
		return r;
	b->events = (ControlEvents){
		.claim_added = on_claim_added,
		.claim_changed = on_claim_changed,
		.settled = on_settled,
		.claim_replaced = on_claim_replaced,
		.claim_ended = on_claim_ended,
		.plan_applied = on_plan_applied,
		.overrun = on_overrun,
		.overrun_ended = on_overrun_ended,
		.device_changed = on_device_changed,
		.changed = on_changed,
		.userdata = b,
	};
	control_set_events(b->control, &b->events);
	return 0;
}

void bus_signals_free(Bus *b)
{
	static const ControlEvents none = {};

	control_set_events(b->control, &none);
	sd_event_source_disable_unref(b->emit);
	forget_devices(b);
	free(b->told_policy);
}
