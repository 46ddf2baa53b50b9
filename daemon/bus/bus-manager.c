/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

static int reply_plan(Bus *b, sd_bus_message *call, const PlanQuery *query, const Plan *p)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_return(call, &m);

	if (r >= 0)
		r = bus_append_plan(m, p);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; i < p->n_devices && r >= 0; i++) {
		const Device *d = control_device_at(b->control, i);

		if (control_plan_covers(query, d))
			r = bus_append_planned_device(m, d->name, &p->devices[i]);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

static int plan_for(Bus *b, sd_bus_message *m, sd_bus_error *error)
{
	BusOptions options = { .only = MECHANISM_ALL, .tolerance_seconds = NAN };
	_cleanup_(plan_freep) Plan *plan = NULL;
	_cleanup_free_ char *text = NULL;
	Claim limited = {};
	PlanQuery query;
	LimitUnit unit;
	double value;
	int r = bus_read_limit(m, &value, &unit, error);

	if (r >= 0)
		r = bus_read_options(m, OPTIONS_OF_PLAN, &options, error);
	if (r >= 0 && options.policy)
		r = bus_check_policy_name(options.policy, error);
	if (r >= 0)
		r = bus_target_from_options(b, &options, &limited, error);
	if (r < 0)
		return r;
	query = (PlanQuery){ .scope = limited.scope,
			     .target = limited.target,
			     .budget_w = limit_watts(
				     value, unit, control_claim_operating_w(b->control, &limited)),
			     .forbidden = options.forbid | (MECHANISM_ALL & ~options.only),
			     .policy = options.policy,
			     .tolerance_s = options.tolerance_seconds };
	r = control_plan(b->control, &query, &plan, &text);
	if (r < 0)
		return bus_manager_error(error, r, text, BUS_ERROR_INVALID_LIMIT,
					 BUS_ERROR_UNKNOWN_POLICY);
	return reply_plan(b, m, &query, plan);
}

static void on_fresh_for_plan(void *userdata)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(bus_call_freep) Call *c = userdata;
	int r;

	if (!c->bus)
		return;
	r = plan_for(c->bus, c->message, &error);
	if (r < 0)
		r = sd_bus_reply_method_errno(c->message, r, &error);
	bus_call_note_sent(r, "a plan");
}

/* A plan depends on what the devices do now, so their figures are refreshed first. */
static int method_plan(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_INSPECT, method_plan, COST_OF_PLAN };
	int r = bus_authorize(userdata, m, &permit, error);

	return r ?: bus_when_fresh(userdata, m, on_fresh_for_plan);
}

static int method_list_devices(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const Device *d;
	int r = sd_bus_message_new_method_return(call, &m);

	(void)error;
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(so)");
	for (size_t i = 0; r >= 0 && (d = control_device_at(b->control, i)); i++) {
		_cleanup_free_ char *path = NULL;

		r = bus_device_path(d->name, &path);
		if (r >= 0)
			r = sd_bus_message_append(m, "(so)", d->name, path);
	}
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

static int append_reason(sd_bus_message *m, const DeviceState *d)
{
	char setting[256], advised[256], why[288];

	bus_advised_text(advised, sizeof(advised), d);
	snprintf(why, sizeof(why), "advised, not set: %s", advised);
	return sd_bus_message_append(m, "(sss)", d->device->name,
				     setting_text(setting, sizeof(setting), &d->setting),
				     *advised ? why : d->reason);
}

static int append_reasons(Bus *b, sd_bus_message *m, const char *device)
{
	DeviceState d;
	int r = sd_bus_message_open_container(m, 'a', "(sss)");

	for (size_t i = 0; i < control_device_count(b->control) && r >= 0; i++) {
		r = control_device(b->control, i, &d);
		if (r >= 0 && (!*device || streq(device, d.device->name)))
			r = append_reason(m, &d);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

/* A decision may name who woke a disk, and such names are any bytes. */
static int append_decision(sd_bus_message *m, const Decision *d)
{
	_cleanup_free_ char *what = printable_copy(d->what), *why = printable_copy(d->why);

	if (!what || !why)
		return -ENOMEM;
	return sd_bus_message_append(m, "(tsss)", d->realtime_us, d->device, what, why);
}

static int append_decisions(Bus *b, sd_bus_message *m, const char *device)
{
	int r = sd_bus_message_open_container(m, 'a', "(tsss)");

	for (size_t i = 0; i < control_decision_count(b->control) && r >= 0; i++) {
		const Decision *d = control_decision(b->control, i);

		if (!*device || streq(device, d->device))
			r = append_decision(m, d);
	}
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int method_explain(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	DeviceState d;
	const char *device;
	int r = sd_bus_message_read(call, "s", &device);

	if (r >= 0 && *device)
		r = bus_check_device(b, device, &d, error);
	if (r >= 0)
		r = sd_bus_message_new_method_return(call, &m);
	if (r >= 0)
		r = append_reasons(b, m, device);
	if (r >= 0)
		r = append_decisions(b, m, device);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

static int method_set_policy(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_POLICY, method_set_policy };
	Bus *b = userdata;
	_cleanup_free_ char *text = NULL, *by = NULL;
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	if (r >= 0)
		r = bus_check_policy_name(name, error);
	if (r >= 0)
		r = bus_authorize(b, m, &permit, error);
	if (r == 0)
		r = bus_caller_text(b, m, &by);
	if (r != 0)
		return r;
	r = control_set_policy(b->control, name, by, &text);
	if (r < 0)
		return bus_manager_error(error, r, text, BUS_ERROR_FAILED,
					 BUS_ERROR_UNKNOWN_POLICY);
	return sd_bus_reply_method_return(m, NULL);
}

static int method_set_mode(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_POLICY, method_set_mode };
	Bus *b = userdata;
	const char *mode;
	int r = sd_bus_message_read(m, "s", &mode);

	if (r < 0)
		return r;
	if (!streq(mode, "advise") && !streq(mode, "enforce"))
		return sd_bus_error_set(error, BUS_ERROR_INVALID_OPTION,
					"a mode is \"advise\" or \"enforce\"");
	r = bus_authorize(b, m, &permit, error);
	if (r != 0)
		return r;
	control_set_mode(b->control, streq(mode, "advise"));
	return sd_bus_reply_method_return(m, NULL);
}

static int method_reload(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_POLICY, method_reload };
	Bus *b = userdata;
	_cleanup_free_ char *text = NULL;
	int r = bus_authorize(b, m, &permit, error);

	if (r != 0)
		return r;
	r = b->config.reload(b->config.userdata, &text);
	if (r < 0)
		return bus_manager_error(error, r, text, BUS_ERROR_FAILED, BUS_ERROR_FAILED);
	return sd_bus_reply_method_return(m, NULL);
}

/* sd-bus lets everybody call: bus_authorize() decides, and refuses with an error that has a name.
 */
#define OPEN SD_BUS_VTABLE_UNPRIVILEGED

static const sd_bus_vtable manager_methods[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_ARGS("SetBudget", SD_BUS_ARGS("d", value, "s", unit, "a{sv}", options),
				SD_BUS_RESULT("t", cookie), bus_set_budget, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Release", SD_BUS_ARGS("t", cookie), SD_BUS_NO_RESULT, bus_release,
				OPEN),
	SD_BUS_METHOD_WITH_ARGS("Update",
				SD_BUS_ARGS("t", cookie, "d", value, "s", unit, "a{sv}", options),
				SD_BUS_NO_RESULT, bus_update, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Renew", SD_BUS_ARGS("t", cookie, "d", for_seconds),
				SD_BUS_NO_RESULT, bus_renew, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Plan", SD_BUS_ARGS("d", value, "s", unit, "a{sv}", options),
				SD_BUS_RESULT("a{sv}", plan, "aa{sv}", devices), method_plan, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Verify", SD_BUS_NO_ARGS,
				SD_BUS_RESULT("a(ssss)", differences, "u", checked), bus_verify,
				OPEN),
	SD_BUS_METHOD_WITH_ARGS("Refresh", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, bus_refresh, OPEN),
	SD_BUS_METHOD_WITH_ARGS("ListDevices", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(so)", devices),
				method_list_devices, OPEN),
	SD_BUS_METHOD_WITH_ARGS("ListConsumers", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", consumers),
				bus_list_consumers, OPEN),
	SD_BUS_METHOD_WITH_ARGS("GetWaiting", SD_BUS_NO_ARGS, SD_BUS_RESULT("a{sv}", waiting),
				bus_get_waiting, OPEN),
	SD_BUS_METHOD_WITH_ARGS("GetFrontier", SD_BUS_ARGS("s", device),
				SD_BUS_RESULT("a{sv}", present, "aa{sv}", candidates),
				bus_get_frontier, OPEN),
	SD_BUS_METHOD_WITH_ARGS("GetDrift", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", drift),
				bus_get_drift, OPEN),
	SD_BUS_METHOD_WITH_ARGS("ListWakeups", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", wakeups),
				bus_list_wakeups, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Wake", SD_BUS_ARGS("s", device), SD_BUS_NO_RESULT, bus_wake, OPEN),
	SD_BUS_METHOD_WITH_ARGS("WakeTest", SD_BUS_ARGS("s", device),
				SD_BUS_RESULT("d", seconds, "s", text), bus_wake_test, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("s", device),
				SD_BUS_RESULT("a(sss)", present, "a(tsss)", decisions),
				method_explain, OPEN),
	SD_BUS_METHOD_WITH_ARGS("SetPolicy", SD_BUS_ARGS("s", policy), SD_BUS_NO_RESULT,
				method_set_policy, OPEN),
	SD_BUS_METHOD_WITH_ARGS("SetMode", SD_BUS_ARGS("s", mode), SD_BUS_NO_RESULT,
				method_set_mode, OPEN),
	SD_BUS_METHOD_WITH_ARGS(
		"SetTariff",
		SD_BUS_ARGS("d", price, "d", carbon_intensity, "s", carbon_kind, "d", for_seconds),
		SD_BUS_NO_RESULT, bus_set_tariff, OPEN),
	SD_BUS_METHOD_WITH_ARGS("CountRequests", SD_BUS_ARGS("t", requests), SD_BUS_NO_RESULT,
				bus_count_requests, OPEN),
	SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload, OPEN),
	SD_BUS_SIGNAL_WITH_ARGS("ClaimAdded", SD_BUS_ARGS("t", cookie, "a{sv}", claim), 0),
	SD_BUS_SIGNAL_WITH_ARGS("ClaimChanged", SD_BUS_ARGS("t", cookie, "a{sv}", claim), 0),
	SD_BUS_SIGNAL_WITH_ARGS("ClaimReplaced", SD_BUS_ARGS("t", old, "t", new), 0),
	SD_BUS_SIGNAL_WITH_ARGS(
		"Settled",
		SD_BUS_ARGS("at", cookies, "d", limit, "d", seconds, "d", drawn, "b", held), 0),
	SD_BUS_SIGNAL_WITH_ARGS("ClaimEnded", SD_BUS_ARGS("t", cookie, "s", why), 0),
	SD_BUS_SIGNAL_WITH_ARGS("PlanApplied", SD_BUS_ARGS("s", why, "a{sv}", plan), 0),
	SD_BUS_SIGNAL_WITH_ARGS("Overrun", SD_BUS_ARGS("d", measured, "d", budget), 0),
	SD_BUS_SIGNAL_WITH_ARGS("OverrunEnded", SD_BUS_ARGS("d", seconds, "d", joules, "d", budget),
				0),
	SD_BUS_SIGNAL_WITH_ARGS("DeviceAdded", SD_BUS_ARGS("s", name, "o", path), 0),
	SD_BUS_SIGNAL_WITH_ARGS("DeviceRemoved", SD_BUS_ARGS("s", name, "o", path), 0),
	SD_BUS_VTABLE_END,
};

/* The vtables are fallback ones only for the sake of their find functions: that of the properties
 * looks at the state once a request instead of once a property, and a method call does not wait for
 * that. */
int bus_manager_register(Bus *b)
{
	int r = sd_bus_add_fallback_vtable(b->bus, NULL, BUS_PATH, BUS_MANAGER, manager_methods,
					   bus_find_methods, b);

	if (r < 0)
		return r;
	return sd_bus_add_fallback_vtable(b->bus, NULL, BUS_PATH, BUS_MANAGER,
					  bus_manager_properties, bus_find_manager, b);
}
