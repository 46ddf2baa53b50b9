/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/ctl.h"
#include "ctl/words.h"

#define SOURCE_PREFIX "storpowerctl"

int ctl_parse_budget(const char *text, double *ret_value, const char **ret_unit)
{
	LimitUnit unit;
	int r = parse_limit(text, ret_value, &unit);

	if (r < 0)
		return complain(STATUS_USAGE,
				r == -ERANGE
					? "\"%s\" is out of range: 0%% to 100%%, or 0W to 100MW, "
					  "would be right"
					: "\"%s\" is not a limit: a share such as 80%%, or a power "
					  "such as 350W or 0.35kW, would be right",
				text);
	*ret_unit = unit == LIMIT_PERCENT ? "%" : "W";
	return STATUS_OK;
}

/* "storpowerctl (alice)" */
static void who_asks(char *buf, size_t size)
{
	snprintf(buf, size, SOURCE_PREFIX " (%.32s)", ctl_user());
}

int ctl_append_tolerance(const Ctl *c, sd_bus_message *m)
{
	if (isnan(c->tolerance_s))
		return 0;
	return sd_bus_message_append(m, "{sv}", "tolerance_seconds", "d", c->tolerance_s);
}

static int append_options(const Ctl *c, bool standing, sd_bus_message *m)
{
	char source[64];
	const struct {
		const char *name, *text;
	} texts[] = {
		{ "reason", c->reason },
		{ "class", c->class },
		{ "device", c->device ? ctl_device_name(c->device) : NULL },
		{ "group", c->group },
		{ "source", source },
	};
	const struct {
		const char *name;
		uint64_t us;
	} times[] = { { "for_seconds", c->for_us }, { "start_in_seconds", c->start_in_us } };
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	who_asks(source, sizeof(source));
	for (size_t i = 0; i < ELEMENTSOF(texts) && r >= 0; i++)
		if (texts[i].text)
			r = sd_bus_message_append(m, "{sv}", texts[i].name, "s", texts[i].text);
	for (size_t i = 0; i < ELEMENTSOF(times) && r >= 0; i++)
		if (times[i].us)
			r = sd_bus_message_append(m, "{sv}", times[i].name, "d",
						  (double)times[i].us / USEC_PER_SEC);
	if (r >= 0)
		r = sd_bus_message_append(m, "{sv}", "standing", "b", (int)standing);
	if (r >= 0)
		r = ctl_append_tolerance(c, m);
	if (r >= 0 && c->replace)
		r = sd_bus_message_append(m, "{sv}", "replace", "b", 1);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int ctl_check_target(const Ctl *c)
{
	if (!c->device || !c->group)
		return STATUS_OK;
	return complain(STATUS_USAGE, "--device and --group exclude each other: one limit is on "
				      "one of them");
}

int ctl_new_claim(Ctl *c, const char *limit, bool standing, sd_bus_message **ret_call)
{
	_cleanup_message_ sd_bus_message *call = NULL;
	const char *unit = NULL;
	double value = 0;
	int status = ctl_parse_budget(limit, &value, &unit), r;

	if (!status)
		status = ctl_check_target(c);
	if (!status && c->replace && c->start_in_us)
		status = complain(STATUS_USAGE, "--replace and --start-in exclude each other: "
						"nothing would be limited until the start");
	if (!status)
		status = ctl_new_call(c, "SetBudget", &call);
	if (status)
		return status;
	r = sd_bus_message_append(call, "ds", value, unit);
	if (r >= 0)
		r = append_options(c, standing, call);
	if (r == -EINVAL)
		return complain(STATUS_USAGE, "The options are not valid UTF-8");
	if (r < 0)
		return complain(STATUS_FAILURE, "SetBudget: %s", strerror(-r));
	*ret_call = TAKE_PTR(call);
	return STATUS_OK;
}

static int release(Ctl *c, uint64_t cookie)
{
	return ctl_simple_call(c, NULL, "Release", "t", cookie);
}

static bool is_ours(json_object *claim)
{
	return json_true(claim, "Standing") &&
	       !strncmp(json_text(claim, "Source"), SOURCE_PREFIX, strlen(SOURCE_PREFIX));
}

uint64_t ctl_cookie_of(json_object *claim)
{
	return json_object_get_uint64(json_member(claim, "Cookie"));
}

json_object *ctl_find_claim(json_object *claims, uint64_t cookie)
{
	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);

		if (ctl_cookie_of(claim) == cookie)
			return claim;
	}
	return NULL;
}

/* What is known before tells what is gone after. An emergency does not wait for fresh figures. */
static int make_claim(Ctl *c, json_object **ret_before, uint64_t *ret_cookie)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	int status = ctl_new_claim(c, c->args[0], true, &call);

	if (!status)
		status = ctl_foresee(c);
	if (!status && c->replace)
		status = ctl_get_known_state(c, ret_before);
	if (!status)
		status = ctl_call(c, call, &reply);
	if (!status && sd_bus_message_read(reply, "t", ret_cookie) < 0)
		status = complain(STATUS_FAILURE, "SetBudget: the reply is not a cookie");
	return status;
}

int verb_set(Ctl *c)
{
	_cleanup_json_ json_object *before = NULL, *state = NULL, *replaced = NULL;
	uint64_t cookie = 0;
	int status;

	if (c->dry_run)
		return ctl_foretell(c);
	status = make_claim(c, &before, &cookie);

	if (!status)
		status = ctl_get_state(c, &state);
	if (status)
		return status;
	replaced = ctl_replaced_claims(before, state, cookie);
	if (c->json) {
		json_object_object_add(state, "Cookie", json_object_new_uint64(cookie));
		json_object_object_add(state, "Replaced", json_object_get(replaced));
		json_print(c, state);
	} else {
		print_set(state, cookie, replaced);
	}
	if (json_true(state, "Degraded"))
		print_degraded(state);
	return json_true(state, "Degraded") ? STATUS_DEGRADED : STATUS_OK;
}

static int clear_cookies(Ctl *c)
{
	int status = STATUS_OK;

	for (int i = 0; i < c->n_args; i++) {
		unsigned long cookie;
		int s;

		if (parse_unsigned(c->args[i], UINT64_MAX, &cookie) < 0)
			return complain(STATUS_USAGE,
					"\"%s\" is not a cookie: a number from "
					"\"storpowerctl list --claims\" would be right",
					c->args[i]);
		s = release(c, cookie);
		status = status ?: s;
	}
	return status;
}

static int clear_ours(Ctl *c, json_object *claims, size_t *ret_n, json_object *others)
{
	int status = STATUS_OK;

	for (size_t i = 0; !status && i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);

		if (!c->all && !is_ours(claim)) {
			json_object_array_add(others, json_object_get(claim));
			continue;
		}
		status = release(c, ctl_cookie_of(claim));
		*ret_n += !status;
	}
	return status;
}

static int clear_standing(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL, *others = NULL;
	size_t n = 0;
	int status;

	status = ctl_get_state(c, &state);
	if (status)
		return status;
	others = json_object_new_array();
	status = clear_ours(c, json_member(state, "Claims"), &n, others);
	if (status || c->json)
		return status;
	printf("%zu claim%s ended\n", n, n == 1 ? "" : "s");
	if (json_count(others) > 0) {
		puts("Left alone, not set by storpowerctl (clear COOKIE or --all ends them too):");
		print_claims(c, others);
	}
	return STATUS_OK;
}

int verb_clear(Ctl *c)
{
	int status;

	if (c->n_args > 0 && c->all)
		return complain(STATUS_USAGE, "clear takes cookies or --all, not both");
	status = c->n_args > 0 ? clear_cookies(c) : clear_standing(c);
	if (!status && c->wake)
		status = ctl_wake(c, "");
	return status;
}
