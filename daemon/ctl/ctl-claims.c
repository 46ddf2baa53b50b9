/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims for people. */

#include <math.h>

#include "base/clock.h"
#include "ctl/table.h"

/* It limits nothing. */
static bool pins_power_state(json_object *claim)
{
	return json_number(claim, "PowerState") >= 0;
}

void format_claim_limit(char *buf, size_t size, json_object *claim)
{
	char watts[32];

	format_watts(watts, sizeof(watts), json_number(claim, "LimitPower"));
	if (pins_power_state(claim))
		snprintf(buf, size, "power state %g", json_number(claim, "PowerState"));
	else if (streq(json_text(claim, "Unit"), "%"))
		snprintf(buf, size, "%g %% (%s)", json_number(claim, "Limit"), watts);
	else
		snprintf(buf, size, "%s", watts);
}

/* JSON has no number for "never", so the member is absent then. */
static void format_seconds(char *buf, size_t size, double s)
{
	format_duration(buf, size, isnan(s) ? USEC_NEVER : (uint64_t)(s * USEC_PER_SEC));
}

static const char *claim_state(json_object *claim, char *buf, size_t size)
{
	char in[32];

	if (json_true(claim, "InForce"))
		return "in force";
	if (json_true(claim, "Active"))
		return pins_power_state(claim) ? "behind a limit" : "active";
	format_seconds(in, sizeof(in), json_number(claim, "StartsIn"));
	snprintf(buf, size, "in %s", in);
	return buf;
}

/* "hook: grid event (uid 0, pid 4711, hook.service)" */
static char *who_and_why(json_object *claim)
{
	const char *reason = json_text(claim, "Reason"), *unit = json_text(claim, "SystemdUnit");
	double uid = json_number(claim, "Uid"), pid = json_number(claim, "Pid");
	char process[48] = "";

	if (!(uid < UINT32_MAX)) /* unknown, or the daemon is older */
		return text_printf("%s%s%s", json_text(claim, "Source"), *reason ? ": " : "",
				   reason);
	if (pid > 0)
		snprintf(process, sizeof(process), ", pid %.0f", pid);
	return text_printf("%s%s%s (uid %.0f%s%s%s)", json_text(claim, "Source"),
			   *reason ? ": " : "", reason, uid, process, *unit ? ", " : "", unit);
}

void print_claims(const Ctl *c, json_object *claims)
{
	static const char *const columns[] = { ">CLAIM", "LIMIT",   "OF",   "CLASS",
					       "STATE",  "ENDS IN", "KIND", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);
		_cleanup_free_ char *below = who_and_why(claim);
		const char *target = json_text(claim, "Target");
		char limit[64], state[64], ends[32];

		format_claim_limit(limit, sizeof(limit), claim);
		format_seconds(ends, sizeof(ends), json_number(claim, "ExpiresIn"));
		table_row(t, json_text(claim, "Cookie"), limit,
			  *target ? target : json_text(claim, "Scope"), json_text(claim, "Class"),
			  claim_state(claim, state, sizeof(state)), ends,
			  json_true(claim, "Standing")   ? "standing"
			  : json_true(claim, "Orphaned") ? "orphaned"
							 : "held");
		table_below(t, below ?: "");
	}
	table_print(t, c);
}
