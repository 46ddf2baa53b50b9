/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "signal/holder-private.h"

static int new_call(sd_bus *bus, const char *member, sd_bus_message **ret)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(bus, &m, BUS_NAME, "/org/storpower1",
					       BUS_NAME ".Manager", member);

	/* whoever has stopped the daemon does not want it started by a calendar */
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, false);
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

static int append_limit(sd_bus_message *m, const Wish *w)
{
	return sd_bus_message_append(m, "ds", w->limit, w->unit == LIMIT_WATTS ? "W" : "%");
}

static int append_text(sd_bus_message *m, const char *name, const char *text)
{
	return text ? sd_bus_message_append(m, "{sv}", name, "s", text) : 0;
}

static int append_options(sd_bus_message *m, const Wish *w)
{
	int r = append_text(m, "class", w->class);

	return r < 0 ? r : append_text(m, "reason", w->reason);
}

int message_set_budget(sd_bus *bus, const Wish *w, const char *source, sd_bus_message **ret)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = new_call(bus, "SetBudget", &m);

	if (r >= 0)
		r = append_limit(m, w);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0)
		r = append_options(m, w);
	if (r >= 0)
		r = append_text(m, "source", source);
	if (r >= 0)
		r = append_text(m, "device", w->target.device);
	if (r >= 0)
		r = append_text(m, "group", w->target.group);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

int message_update(sd_bus *bus, const Wish *w, uint64_t cookie, sd_bus_message **ret)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = new_call(bus, "Update", &m);

	if (r >= 0)
		r = sd_bus_message_append(m, "t", cookie);
	if (r >= 0)
		r = append_limit(m, w);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "{sv}");
	if (r >= 0)
		r = append_options(m, w);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

int message_release(sd_bus *bus, uint64_t cookie, sd_bus_message **ret)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = new_call(bus, "Release", &m);

	if (r >= 0)
		r = sd_bus_message_append(m, "t", cookie);
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

static bool is_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (streq(name, list[i]))
			return true;
	return false;
}

Answer answer_of(sd_bus_message *reply)
{
	static const char *const no_daemon[] = {
		SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER, SD_BUS_ERROR_NO_REPLY,
		SD_BUS_ERROR_TIMEOUT,         SD_BUS_ERROR_DISCONNECTED,
	};
	const sd_bus_error *e = sd_bus_message_get_error(reply);

	if (!e)
		return ANSWER_DONE;
	if (streq(e->name, BUS_NAME ".Error.UnknownClaim"))
		return ANSWER_NO_CLAIM;
	return is_of(e->name, no_daemon, ELEMENTSOF(no_daemon)) ? ANSWER_NO_DAEMON : ANSWER_REFUSED;
}
